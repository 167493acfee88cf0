"""Whether the hosts' NICs can keep as many classes lossless as their plane has."""

from collections.abc import Iterator

from fabricgen.design.model import Fabric
from fabricgen.findings import Finding, Severity
from fabricgen.inventory.profiles import NONE
from fabricgen.platforms.catalog import nic_model


def nic_problems(fabric: Fabric) -> Iterator[Finding]:
    """A warning for each NIC model of a plane that keeps fewer priorities lossless; unknown models keep all."""
    for design in fabric.planes:
        plane, classes = design.plane, len(design.plane.lossless.classes)
        for name in dict.fromkeys(link.nic.model for link in design.links if link.nic is not None):
            card = nic_model(name)
            kept = card.lossless_priorities if card else None
            if kept is not None and kept < classes:
                message = f"plane {plane.name} has {classes} lossless classes, the hosts' {name} keeps {kept} lossless"
                hint = f"`lossless: roce-lossless` has one class; `lossless: {NONE}` has none"
                path, place = plane.path_of("lossless"), plane.at("lossless")
                yield Finding("FG586", Severity.WARNING, message, path=path, location=place, hint=hint)
