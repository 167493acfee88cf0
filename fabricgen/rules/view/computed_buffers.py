"""The pools of switches of the dynamic model, as the switches compute them."""

from collections.abc import Mapping

from fabricgen.engine.derived import derived
from fabricgen.platforms.dynamic_buffers import computed_buffers
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.dynamic_buffers.headroom import FIRST_RELEASE
from fabricgen.sonic.dynamic_buffers.prediction import TABLES, DynamicBuffers
from fabricgen.sonic.tables import ConfigDb


def _tables(switch: Switch) -> ConfigDb:
    """All that the buffers depend on, read now: they are computed when they are needed, for one rule or another."""
    config = switch.device.config
    return {name: config[name] for name in TABLES if name in config}


def _computed(switch: Switch, release: int) -> DynamicBuffers | None:
    return computed_buffers(_tables(switch), switch.platform, switch.device.mmu_bytes, release)


@derived
def estimated_by_switch(fabric: Fabric) -> Mapping[str, DynamicBuffers]:
    """As `computed_by_switch`; the buffers of a release with an unknown script are those of the first known one."""
    found = {
        name: _computed(switch, FIRST_RELEASE)
        for name, switch in fabric.switches.items()
        if switch.is_dynamic and switch.device.release < FIRST_RELEASE
    }
    return {**computed_by_switch(fabric), **{name: computed for name, computed in found.items() if computed}}


@derived
def computed_by_switch(fabric: Fabric) -> Mapping[str, DynamicBuffers]:
    """Switch -> its buffers; without switches that do not compute them, or whose ASIC is unknown."""
    found = {
        name: _computed(switch, switch.device.release) for name, switch in fabric.switches.items() if switch.is_dynamic
    }
    return {name: computed for name, computed in found.items() if computed}
