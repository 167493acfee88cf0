"""From inventory to fabric: each plane by the module of its design."""

from collections.abc import Callable, Mapping
from pathlib import Path

from fabricgen.design.explicit import design_explicit
from fabricgen.design.model import Fabric, PlaneDesign
from fabricgen.design.parts import PartsList
from fabricgen.design.rail_optimized import design_rail_optimized
from fabricgen.findings import Finding
from fabricgen.inventory.model import Inventory, Plane

DESIGNS: Mapping[str, Callable[[Plane, PartsList], PlaneDesign | None]] = {
    "rail-optimized": design_rail_optimized,
    "explicit": design_explicit,
}


def expand(inventory: Inventory, root: Path) -> tuple[Fabric, list[Finding]]:
    """The fabric of an inventory; `root` is where its own platform files lie. Planes that cannot be are left out."""
    findings: list[Finding] = []
    parts = PartsList(inventory, root, findings)
    planes = [DESIGNS[plane.design](plane, parts) for plane in inventory.planes.values()]
    return Fabric(inventory, tuple(plane for plane in planes if plane)), list(dict.fromkeys(findings))
