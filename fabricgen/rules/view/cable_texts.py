"""CABLE_LENGTH of all ports, and the links on passive copper."""

from collections.abc import Mapping

from fabricgen.engine.derived import derived
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.vocabulary import Medium


@derived
def cable_texts(fabric: Fabric) -> Mapping[Switch, Mapping[str, str]]:
    """Switch -> port -> `Switch.cable_text`, for rules that go through all ports."""
    return {switch: switch.cable_texts for switch in fabric.switches.values()}


@derived
def copper_links(fabric: Fabric) -> frozenset[str]:
    """The links on passive copper, whose modules have no data path that xcvrd sets up."""
    cables = fabric.bundle.wiring.cables if fabric.bundle.wiring else ()
    return frozenset(link for cable in cables if cable.medium == Medium.DAC for link in cable.links)
