"""The rule on cabling.csv, from which people plug the cables."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

from fabricgen.bundle.wiring import WiredDevice, WiredHost, Wiring, link_state
from fabricgen.engine.derived import derived
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

_NO_RACK = ("", "")
_length, _speed = cache(format_length), cache(format_speed)  # a fabric has a few of each

Arm = tuple[str, int]  # (cable, number of the leg, 0 without legs)


@dataclass(frozen=True)
class _Table:
    """The file. In the place of a finding, the cable is the key, and the column is the field."""

    file: Path
    name: str = ""

    @derived
    def lines(self) -> list[str]:
        return read_bytes(self.file).decode("utf-8", "replace").splitlines()

    def place(self, cable: str = "", column: str = "") -> Place:
        return Place(self, NAME, cable, column)

    def locate(self, *path: str) -> Location:
        """The first line of a cable."""
        wanted = ",".join((*path[1:2], ""))  # the names of cables need no quotes
        numbers = (number for number, line in enumerate(self.lines, 1) if wanted and line.startswith(wanted))
        return Location(str(self.file), next(numbers, 1), 1)


@rule("FG258", Severity.ERROR, "cabling.csv differs from fabric.json")
def cabling(fabric: Fabric) -> Iterator[Defect]:
    """What: Each cable of fabric.json has a row in cabling.csv with its plane, kind, ports, racks, length, medium and
    speed, and its state while a link is cordoned. A breakout cable has a row for each leg.
    cabling.csv has no other rows.

    Why: People plug the cables by this file. A wrong row is a wrong cable, and a missing row is a link that stays down.

    Example: The file ends in the middle of a row, and the cables of two leaves are missing.

    Fix: Render again. To change a cable, change the inventory.

    Source: fabric.json, whose links and cables the file lists.
    """
    file, wiring = fabric.bundle.file(NAME), fabric.bundle.wiring
    if file is None or wiring is None:
        return
    table = _Table(file)
    columns = (*_COLUMNS, _STATE) if wiring.cordoned else _COLUMNS
    try:
        if _is_as_planned(table, columns, wiring):
            return
        header, *rows = csv.reader(table.lines) if table.lines else [[]]
    except csv.Error as error:
        yield Defect(table.place(), f"the file is not CSV: {error}", _RENDER)
        return
    if tuple(header) != columns:
        yield Defect(table.place(), f"the first row is not {','.join(columns)}", _RENDER)
        return
    yield from _differences(table, columns, rows, wiring)


def _differences(
    table: _Table, columns: Sequence[str], rows: Iterable[Sequence[str]], wiring: Wiring
) -> Iterator[Defect]:
    """Rows that are wrong, too many or missing."""
    expected: dict[str, dict[Arm, dict[str, str]]] = {}
    for arm, planned in _planned(wiring):
        expected.setdefault(arm[0], {})[arm] = dict(zip(columns, planned, strict=True))
    found = set[Arm]()
    for row in rows:
        cells = {column: cell_text(cell) for column, cell in zip(columns, row, strict=False)}
        cable, far = cells.get("cable", ""), cells.get("b_device", "")
        legs = expected.get(cable, {})
        same_far = {arm: leg for arm, leg in legs.items() if leg["b_device"] == far}
        if len(row) != len(columns):
            yield Defect(table.place(cable), f"the row has {len(row)} cells, expected {len(columns)}", _RENDER)
            found.update(list(same_far)[:1])
        elif not same_far:
            known = ", ".join(dict.fromkeys(leg["b_device"] for leg in legs.values()))
            message = f"the cable leads to {known}, not to {far}" if legs else "fabric.json has no such cable"
            yield Defect(table.place(cable, "b_device" if legs else ""), message, _RENDER)
        elif (arm := _nearest(cells, same_far)) in found:
            yield Defect(table.place(cable), f"a second row for the end at {far}", _RENDER)
        else:
            found.add(arm)
            for column, wanted in legs[arm].items():
                if cells[column] != wanted:
                    message = f"{column} is {cells[column] or 'empty'}, expected {wanted or 'nothing'}"
                    yield Defect(table.place(cable, column), message, _RENDER)
    for cable, legs in expected.items():
        for arm in (one for one in legs if one not in found):
            message = f"the row of the cable to {legs[arm]['b_device']} is missing"
            yield Defect(table.place(cable), message, _RENDER)


def _nearest(cells: Mapping[str, str], legs: Mapping[Arm, Mapping[str, str]]) -> Arm:
    """The leg that a row means: the one with the most equal cells."""
    return max(legs, key=lambda arm: sum(cells[column] == wanted for column, wanted in legs[arm].items()))


def _is_as_planned(table: _Table, columns: Sequence[str], wiring: Wiring) -> bool:
    """Whether the file has exactly the planned rows in their order, so that they need not all be in memory."""
    if len({cable.id for cable in wiring.cables}) < len(wiring.cables):
        return False
    expected = chain([columns], (cells for _, cells in _planned(wiring)))
    rows = csv.reader(table.lines)
    is_plain = not any("'" in line for line in table.lines)  # then each cell is its text
    return all(
        tuple(row) == cells and (is_plain or cells == tuple(map(cell_text, row)))
        for row, cells in zip_longest(rows, expected, fillvalue=())
    )


def _planned(wiring: Wiring) -> Iterator[tuple[Arm, tuple[str, ...]]]:
    """The cells of each row; where several links are in a cable, their ports are in the order of the links."""
    links = {link.id: link for link in wiring.links}
    devices: tuple[WiredDevice | WiredHost, ...] = (*wiring.devices, *wiring.hosts)
    racks = {device.name: (str(device.rack), str(device.unit)) for device in devices}
    for cable in wiring.cables:
        length, medium = _length(cable.length_m), str(cable.medium)
        for number, arm in enumerate(cable.arms):
            those = [links[name] for name in arm if name in links]
            if not those:
                continue
            first, device, far = those[0], those[0].a[0], those[0].b[0]
            speed = _speed(first.speed_mbps)
            cells: tuple[str, ...] = (
                cable.id, first.plane, str(first.kind),
                device, " ".join([link.a[1] for link in those]), *racks.get(device, _NO_RACK),
                far, " ".join([link.b[1] for link in those]), *racks.get(far, _NO_RACK),
                length, medium, speed if len(those) == 1 else f"{len(those)}x{speed}",
            )  # fmt: skip
            if wiring.cordoned:
                cells = (*cells, str(link_state(those, wiring.cordoned)))
            yield (cable.id, number), cells
