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
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inventory.part import Part
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


def require_bundle(folder: Path) -> None:
    """Raises UsageError for a folder that is not a bundle, and cannot be compared."""
    if not (folder / "fabric.json").is_file():
        raise UsageError(f"{folder} is not a bundle: it has no fabric.json")


def compare_with(old: Path, folder: Path, new: Bundle) -> Changes:
    """Compare the rendered `folder`, which is open as `new`, with a bundle of the same fabric. Raises UsageError."""
    from fabricgen.diff.counts import count
    from fabricgen.diff.difference import Difference

    require_bundle(old)
    require_bundle(folder)
    before = open_bundle([old])
    assert before.wiring and new.wiring, "both have a fabric.json"
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


def moves_of(changes: Changes, inventory: "Inventory", source: "InventorySource", new: Bundle) -> list[Finding]:
    """FG270 for each plane whose cables move: a warning at its scalable unit, a note at the entry of `devices` or
    `moves` that says so. `new` is the rendered bundle."""
    from fabricgen.inventory.load import inventory_root
    from fabricgen.inventory.read_files import opened

    stated, entries = Counter[tuple[str, str]](), dict[str, Part]()  # (plane, path of the entry), path -> entry
    if changes.moves and new.wiring:
        planes = {end: link.plane for link in new.wiring.links for end in (link.a, link.b)}
        by_device, by_port = _stated(inventory, new.wiring)
        for cable in changes.cables.moved:
            ends = [end for pair in cable.new for end in pair]
            notes = (by_port.get(end) or by_device.get(end[0]) for end in ends)
            if note := next(filter(None, notes), None):
                entries[note.path] = note
                stated[planes[ends[0]], note.path] += 1
    found = [
        _move(plane, number, entries[path], opened(inventory_root(source), entries[path].at()), Severity.NOTE)
        for (plane, path), number in stated.items()
    ]
    for name, number in sorted(changes.moves.items()):
        if left := number - sum(count for (plane, _), count in stated.items() if plane == name):
            part = inventory.planes[name].unit or inventory.planes[name]
            found.append(_move(name, left, part, opened(inventory_root(source), part.at()), Severity.WARNING))
    return found


def _stated(inventory: "Inventory", wiring: Wiring) -> tuple[Mapping[str, Part], Mapping[Endpoint, Part]]:
    """The entries of `devices` with another platform, by name of the switch, and of `moves`, by the new port."""
    names = {device.identity: device.name for device in wiring.devices}
    devices = {names.get(note.identity or "", note.name): note for note in inventory.devices if note.platform}
    ports: dict[Endpoint, Part] = {}
    for note in inventory.moves:
        switch, _, port = note.port.rpartition(":")
        ports[names.get(switch, switch), port] = note
    return devices, ports


def _move(plane: str, number: int, part: Part, location: Location, severity: Severity) -> Finding:
    message = f"{counted(number, 'cable')} of plane {plane} {'moves' if number == 1 else 'move'} to another port"
    hint = "keep the layout of the bundle (`scalable_unit`, `planned`, platforms), or plan the recabling"
    if severity is Severity.NOTE:
        message, hint = f"{message}, as this entry says", "plug the cables with the change"
    return Finding("FG270", severity, message, path=part.path, location=location, hint=hint, count=number)
