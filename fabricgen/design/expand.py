"""From inventory to fabric: each plane by the module of its design."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from fabricgen.design.dragonfly import design_dragonfly
from fabricgen.design.dual_tor import design_dual_tor
from fabricgen.design.explicit import design_explicit
from fabricgen.design.fat_tree import design_fat_tree
from fabricgen.design.model import Fabric, Host, PlaneDesign
from fabricgen.design.parts import PartsList
from fabricgen.design.rail_only import design_rail_only
from fabricgen.design.rail_optimized import design_rail_optimized
from fabricgen.design.torus import design_torus
from fabricgen.findings import Finding
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.references import error

DESIGNS: Mapping[str, Callable[[Plane, PartsList], PlaneDesign | None]] = {
    "rail-optimized": design_rail_optimized,
    "rail-only": design_rail_only,
    "fat-tree": design_fat_tree,
    "dual-tor": design_dual_tor,
    "dragonfly": design_dragonfly,
    "dragonfly-plus": design_dragonfly,
    "torus": design_torus,
    "mesh": design_torus,
    "explicit": design_explicit,
}


def expand(
    inventory: Inventory, root: Path, units: Mapping[str, Sequence[int]] | None = None
) -> tuple[Fabric, list[Finding]]:
    """The fabric of an inventory; `root` is where its own platform files lie. Planes that cannot be are left out.

    `units` tells which scalable units a group of hosts (plane/group) has already: it keeps them.
    """
    findings: list[Finding] = []
    parts = PartsList(inventory, root, findings, units or {})
    _ = parts.own_host_models  # those that no group uses are checked, too
    for group in inventory.hosts:
        parts.host_model(group)
    planes = [DESIGNS[plane.design](plane, parts) for plane in inventory.planes.values()]
    fabric = Fabric(inventory, tuple(plane for plane in planes if plane))
    return fabric, list(dict.fromkeys([*findings, *_shared_nics(fabric)]))


def _shared_nics(fabric: Fabric) -> Iterator[Finding]:
    """A NIC that two planes take: one finding for each pair of planes and group of hosts."""
    taken: dict[tuple[str, str], str] = {}
    told: set[tuple[str, str, str]] = set()
    for link in fabric.links:
        if not isinstance(link.a, Host):
            continue
        first = taken.setdefault((link.a.key, link.a_port), link.plane)
        clash = (first, link.plane, link.a.group)
        if first != link.plane and clash not in told:
            told.add(clash)
            message = f"NIC {link.a_port} of hosts {link.a.group} is on plane {first} and on plane {link.plane}"
            hint = "a NIC is plugged in once: give each plane NICs of its own"
            yield error("FG205", message, fabric.inventory.planes[link.plane], "hosts", hint=hint)
