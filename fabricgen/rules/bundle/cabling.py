"""The rule on cabling.csv, from which people plug the cables."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fabricgen.bundle.wiring import WiredDevice, WiredHost, WiredLink, Wiring, link_state
from fabricgen.findings import Location, Severity
from fabricgen.inputs import read_bytes
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.units import format_length, format_speed
from fabricgen.visible import cell_text

NAME = "cabling.csv"
_COLUMNS = (
    "cable", "plane", "kind", "a_device", "a_ports", "a_rack", "a_unit", "b_device", "b_ports", "b_rack", "b_unit",
    "length", "medium", "speed",
)  # fmt: skip
_STATE = "state"  # a column while a link is cordoned
_RENDER = "run `fabricgen render` again; to change a cable, change the inventory"

Arm = tuple[str, str]  # (cable, device at its end b)


@dataclass(frozen=True)
class _Table:
    """The file. In the place of a finding, the cable is the key, and the column is the field."""

    file: Path
    name: str = ""

    @cached_property
    def lines(self) -> list[str]:
        return read_bytes(self.file).decode("utf-8", "replace").splitlines()

    def place(self, arm: Arm = ("", ""), column: str = "") -> Place:
        return Place(self, NAME, arm[0], column)

    def locate(self, *path: str) -> Location:
        """The first line of a cable."""
        wanted = ",".join((*path[1:2], ""))  # the names of cables need no quotes
        numbers = (number for number, line in enumerate(self.lines, 1) if wanted and line.startswith(wanted))
        return Location(str(self.file), next(numbers, 1), 1)


@rule("FG258", Severity.ERROR, "cabling.csv differs from fabric.json")
def cabling(fabric: Fabric) -> Iterator[Defect]:
    """What: each cable of fabric.json has a row in cabling.csv with its plane, kind, ports, racks, length, medium and
    speed, and its state while a link is cordoned. A breakout cable has a row for each device at its far end.
    cabling.csv has no other rows.

    Why: people plug the cables by this file. A wrong row is a wrong cable, and a missing row is a link that stays down.

    Example: the file ends in the middle of a row, and the cables of two leaves are missing.

    Fix: render again. To change a cable, change the inventory.

    Source: fabric.json, whose links and cables the file lists.
    """
    root, wiring = fabric.bundle.root, fabric.bundle.wiring
    if root is None or wiring is None or not (root / NAME).is_file():
        return
    table = _Table(root / NAME)
    try:
        header, *rows = csv.reader(table.lines) if table.lines else [[]]
    except csv.Error as error:
        yield Defect(table.place(), f"the file is not CSV: {error}", _RENDER)
        return
    columns = (*_COLUMNS, _STATE) if wiring.cordoned else _COLUMNS
    if tuple(header) != columns:
        yield Defect(table.place(), f"the first row is not {','.join(columns)}", _RENDER)
        return
    expected, found = _planned(wiring), set[Arm]()
    for row in rows:
        cells = dict(zip(columns, row, strict=False))
        arm = cell_text(cells.get("cable", "")), cell_text(cells.get("b_device", ""))
        if len(row) != len(columns):
            yield Defect(table.place(arm), f"the row has {len(row)} cells, expected {len(columns)}", _RENDER)
        elif arm not in expected:
            known = [far for cable, far in expected if cable == arm[0]]
            message = (
                f"the cable leads to {', '.join(known)}, not to {arm[1]}" if known else "fabric.json has no such cable"
            )
            yield Defect(table.place(arm, "b_device" if known else ""), message, _RENDER)
        elif arm in found:
            yield Defect(table.place(arm), f"a second row for the end at {arm[1]}", _RENDER)
        else:
            for column, wanted in expected[arm].items():
                if cell_text(cells[column]) != wanted:
                    message = f"{column} is {cells[column] or 'empty'}, expected {wanted or 'nothing'}"
                    yield Defect(table.place(arm, column), message, _RENDER)
        found.add(arm)
    for arm in (one for one in expected if one not in found):
        yield Defect(table.place(arm), f"the row of the cable to {arm[1]} is missing", _RENDER)


def _planned(wiring: Wiring) -> Mapping[Arm, Mapping[str, str]]:
    """The cells of each row; where several links are in a cable, their ports are in the order of the links."""
    links = {link.id: link for link in wiring.links}
    devices: tuple[WiredDevice | WiredHost, ...] = (*wiring.devices, *wiring.hosts)
    racks = {device.name: (device.rack, device.unit) for device in devices}
    found: dict[Arm, Mapping[str, str]] = {}
    for cable in wiring.cables:
        arms: dict[str, list[WiredLink]] = {}
        for link in (links[name] for name in cable.links if name in links):
            arms.setdefault(link.b[0], []).append(link)
        for far, those in arms.items():
            cells = {"plane": those[0].plane, "kind": str(those[0].kind)}
            for end, device, ports in (
                ("a", those[0].a[0], [link.a[1] for link in those]),
                ("b", far, [link.b[1] for link in those]),
            ):
                rack, unit = racks.get(device, ("", ""))
                cells |= {f"{end}_device": device, f"{end}_ports": " ".join(ports)}
                cells |= {f"{end}_rack": str(rack), f"{end}_unit": str(unit)}
            speed = format_speed(those[0].speed_mbps)
            cells |= {"length": format_length(cable.length_m), "medium": str(cable.medium)}
            cells["speed"] = speed if len(those) == 1 else f"{len(those)}x{speed}"
            if wiring.cordoned:
                cells[_STATE] = str(link_state(those, wiring.cordoned))
            found[cable.id, far] = cells
    return found
