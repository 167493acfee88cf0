"""A changed inventory compared with a bundle: devices by their files, cables by their ports."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.comparison import diff
from fabricgen.bundle.cable_changes import CableChanges, cable_changes
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.bundle.wiring import Endpoint, WiredLink, Wiring
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, Severity
from fabricgen.units import counted
from fabricgen.vocabulary import InputForm

if TYPE_CHECKING:
    from fabricgen.diff.difference import Difference
    from fabricgen.inventory.model import Inventory
    from fabricgen.inventory.read_files import InventorySource


@dataclass(frozen=True)
class Changes:
    """`devices` counts the added, removed, changed and alike switches; `moves` the moved cables of each plane.
    `difference` has every row. `other_fabric` is the name of the old fabric if it is another one."""

    bundle: Path
    difference: "Difference"
    devices: Mapping[str, int]
    cables: CableChanges
    moves: Mapping[str, int]
    other_fabric: str = ""


def compare_with(old: Path, folder: Path, new: Bundle) -> Changes:
    """Compare the rendered `folder`, which is open as `new`, with a bundle of the same fabric. Raises UsageError."""
    from fabricgen.diff.counts import count
    from fabricgen.diff.difference import Difference

    before = open_bundle([old])
    if before.wiring is None or new.wiring is None:
        raise UsageError(f"{old} is not a bundle: it has no fabric.json")
    difference = diff(old, folder, form=InputForm.BUNDLE)
    assert isinstance(difference, Difference), "both are bundles"
    found = cable_changes(_with_new_names(before.wiring, new.wiring), new.wiring.links)
    planes = {end: link.plane for link in new.wiring.links for end in (link.a, link.b)}
    moves = Counter(planes[moved.new[0][0]] for moved in found.moved)
    other = before.wiring.fabric if before.wiring.fabric != new.wiring.fabric else ""
    return Changes(old, difference, count(difference).devices, found, moves, other)


def _with_new_names(old: Wiring, new: Wiring) -> list[WiredLink]:
    """The links of the old wiring with the new names of its switches and hosts: a renamed switch keeps its cables."""
    now = {device.identity: device.name for device in new.devices} | _numbered(new)
    names = {device.name: now.get(device.identity, device.name) for device in old.devices}
    names |= {name: now.get(key, name) for key, name in _numbered(old).items()}

    def end(given: Endpoint) -> Endpoint:
        return names.get(given[0], given[0]), given[1]

    return [replace(link, a=end(link.a), b=end(link.b)) for link in old.links]


def _numbered(wiring: Wiring) -> dict[str, str]:
    """group/number -> the name of each host."""
    seen: Counter[str] = Counter()
    found = {}
    for host in wiring.hosts:
        found[f"{host.group}/{seen[host.group]}"] = host.name
        seen[host.group] += 1
    return found


def moves_of(changes: Changes, inventory: "Inventory", source: "InventorySource") -> list[Finding]:
    """FG270 for each plane whose cables move, at its scalable unit."""
    from fabricgen.inventory.load import inventory_root
    from fabricgen.inventory.read_files import opened

    found = []
    for name, number in sorted(changes.moves.items()):
        plane = inventory.planes[name]
        part = plane.unit or plane
        location = opened(inventory_root(source), part.at())
        message = f"{counted(number, 'cable')} of plane {name} {'moves' if number == 1 else 'move'} to another port"
        hint = "keep the layout of the bundle (`scalable_unit`, `planned`, platforms), or plan the recabling"
        found.append(
            Finding("FG270", Severity.WARNING, message, path=part.path, location=location, hint=hint, count=number)
        )
    return found
