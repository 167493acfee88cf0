"""Whether the hosts' NICs support as many lossless classes as their plane has."""

from collections.abc import Iterator

from fabricgen.design.model import Fabric
from fabricgen.findings import Finding, Severity
from fabricgen.inventory.profiles import NONE
from fabricgen.platforms.catalog import nic_model


def nic_problems(fabric: Fabric) -> Iterator[Finding]:
    """A warning for each plane and NIC model with fewer lossless priorities; unknown models are not checked."""
    for design in fabric.planes:
        plane, classes = design.plane, len(design.plane.lossless.classes)
        for name in dict.fromkeys(link.nic.model for link in design.links if link.nic is not None):
            card = nic_model(name)
            supported = card.lossless_priorities if card else None
            if supported is not None and supported < classes:
                message = f"plane {plane.name} has {classes} lossless classes, the hosts' {name} supports {supported}"
                hint = f"set `lossless: roce-lossless` for one class, or `lossless: {NONE}`"
                path, place = plane.path_of("lossless"), plane.at("lossless")
                yield Finding("FG586", Severity.WARNING, message, path=path, location=place, hint=hint)
