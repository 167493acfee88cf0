"""CABLE_LENGTH of all ports."""

from collections.abc import Mapping

from fabricgen.engine.derived import derived
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch


@derived
def cable_texts(fabric: Fabric) -> Mapping[Switch, Mapping[str, str]]:
    """Switch -> port -> `Switch.cable_text`, for rules that go through all ports."""
    return {switch: switch.cable_texts for switch in fabric.switches.values()}
