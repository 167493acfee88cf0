"""The pools of switches of the dynamic model, as the switches compute them."""

from collections.abc import Mapping

from fabricgen.platforms.dynamic_buffers import computed_buffers
from fabricgen.rules.view.derived import derived
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.dynamic_buffers.prediction import TABLES, DynamicBuffers
from fabricgen.sonic.tables import ConfigDb


def _tables(switch: Switch) -> ConfigDb:
    """All that the buffers depend on, read now: they are computed when they are needed, for one rule or another."""
    config = switch.device.config
    return {name: config[name] for name in TABLES if name in config}


@derived
def computed_by_switch(fabric: Fabric) -> Mapping[str, DynamicBuffers]:
    """Switch -> its buffers; without switches that do not compute them, or whose ASIC is unknown."""
    found = {
        name: computed_buffers(_tables(switch), switch.platform, switch.device.mmu_bytes, switch.device.release)
        for name, switch in fabric.switches.items()
        if switch.is_dynamic
    }
    return {name: computed for name, computed in found.items() if computed}
