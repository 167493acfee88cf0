"""What growth costs: the switches and cables that more hosts add to an inventory, and the cables that they move."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.cable_changes import cable_changes
from fabricgen.bundle.wiring import WiredLink
from fabricgen.design.model import Fabric, PlaneDesign
from fabricgen.findings import Severity
from fabricgen.inventory.read_files import Layers
from fabricgen.render.plans import design_only


@dataclass(frozen=True)
class Growth:
    """The growth of a plane to `gpus` GPUs, with the keys of the inventory as they are.

    `fits` is None if it is not known, and `reason` says why it is not known or does not fit. Cables are new or moved as
    in `check --against`. `new_layout_switches` are those of a layout for so many GPUs, and `room_switches` those of
    today's GPUs in a layout with room for them, which moves no cable.
    """

    gpus: int
    fits: bool | None
    reason: str = ""
    added_switches: int | None = None
    added_cables: int | None = None
    moved_cables: int | None = None
    new_layout_switches: int | None = None
    room_switches: int | None = None


def grow(inventory: Path, plane: str, gpus: int) -> Growth:
    """The growth of an inventory whose plane serves one group of hosts with GPUs."""
    before, _ = design_only(inventory)
    (design,) = [one for one in before.planes if one.plane.name == plane]
    groups = sorted({host.group for host in design.hosts if host.model.gpus})
    if len(groups) != 1:
        return Growth(gpus, None, f"the plane has {len(groups)} groups of hosts with GPUs: which of them grows?")
    model = next(host.model for host in design.hosts if host.group == groups[0])
    count = -(-gpus // model.gpus)
    if count < sum(host.group == groups[0] for host in design.hosts):
        return Growth(gpus, None, "the plane has more GPUs already")
    after, findings = design_only(Layers((inventory,), (f"hosts.{groups[0]}.count={count}",)))
    refused = [one.message for one in findings if one.severity is Severity.ERROR]
    if refused:
        return Growth(gpus, False, refused[0])
    (grown,) = [one for one in after.planes if one.plane.name == plane]
    if sum(host.group == groups[0] for host in grown.hosts) < count:
        return Growth(gpus, None, "the inventory lists the links of the plane: add those of the new hosts")
    return _compared(gpus, (before, design), (after, grown))


def switches_of(inventory: Path, plane: str) -> int:
    """The switches of a plane."""
    fabric, _ = design_only(inventory)
    return sum(len(one.switches) for one in fabric.planes if one.plane.name == plane)


def _compared(gpus: int, old: tuple[Fabric, PlaneDesign], new: tuple[Fabric, PlaneDesign]) -> Growth:
    before, after = (list(_links(*each)) for each in (old, new))
    cables = cable_changes(before, after)
    known = {switch.key for switch in old[1].switches}
    added = sum(switch.key not in known for switch in new[1].switches)
    moved = len(cables.moved) + len(cables.removed)
    return Growth(gpus, True, added_switches=added, added_cables=len(cables.new), moved_cables=moved)


def _links(fabric: Fabric, design: PlaneDesign) -> Iterator[WiredLink]:
    """The links of a plane, with identities for names."""
    cable = {link: one.key for one in fabric.cables for link in one.links}
    for link in design.links:
        a, b = (link.a.key, link.a_port), (link.b.key, link.b_port)
        yield WiredLink(link.key, link.plane, link.kind, a, b, link.speed_mbps, cable[link.key], link.rail)
