"""CSV tables of an inventory: devices.csv and guids.csv; switches.csv and links.csv of an explicit design.

The first line names the columns, in any order. An empty cell means that the value is not given. Each value has the
location of its row.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import PurePath

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Severity
from fabricgen.inventory.nodes import Node
from fabricgen.units import whole_number
from fabricgen.visible import cell_text
from fabricgen.vocabulary import Role

DEVICE_COLUMNS = ("name", "identity", "rack", "unit", "serial", "mac", "management", "state", "guid")
GUID_COLUMNS = ("host", "nic", "node_guid", "port_guid")
SWITCH_COLUMNS = ("plane", "role", "name", "platform", "layout", "pod", "su", "rail")
LINK_COLUMNS = ("plane", "a", "a_port", "b", "b_port", "length", "medium", "speed")
_ROLE_LISTS: Mapping[str | None, str] = {Role.LEAF: "leaves", Role.SPINE: "spines", Role.CORE: "cores"}
_NUMBERS = ("pod", "su", "rail")
_CABLE_COLUMNS: tuple[str, ...] = ("length", "medium")

Row = tuple[Location, dict[str, str]]
Report = Callable[..., None]


def read_table(name: str, text: str, planes: list[str], findings: list[Finding]) -> Node:
    """One of TABLES as an inventory tree that contains only the table.

    `name` may have the folder of a layer. `planes` are the planes of the other files: if there is one, rows need no
    column `plane`. Raises UnreadableInputError for a text that is not CSV.
    """
    columns, shape = TABLES[PurePath(name).name]
    rows, report = read_rows(name, text, columns, findings)
    return shape(rows, planes, Location(name, 1, 1), report)


def read_rows(name: str, text: str, columns: tuple[str, ...], findings: list[Finding]) -> tuple[list[Row], Report]:
    """The rows of a CSV file with these columns, and a function that reports errors. Raises UnreadableInputError."""

    def report(code: str, message: str, place: Location, hint: str = "") -> None:
        findings.append(Finding(code, Severity.ERROR, message, location=place, hint=hint))

    reader = csv.DictReader(StringIO(text.removeprefix("\ufeff")), restkey="", skipinitialspace=True)
    try:
        return list(_rows(name, reader, columns, report)), report
    except csv.Error as problem:
        raise UnreadableInputError(f"not CSV: {problem}", Location(name, reader.line_num + 1, 1)) from problem


def _rows(name: str, reader: "csv.DictReader[str]", columns: tuple[str, ...], report: Report) -> Iterator[Row]:
    """(location, cells that are not empty) of each row."""
    header = [column.strip() for column in reader.fieldnames or ()]
    reader.fieldnames = header
    top = Location(name, 1)
    for column in header:
        if column not in columns:
            report("FG101", f"unknown column {column!r}", top, f"known: {', '.join(columns)}")
    for column in dict.fromkeys(column for column in header if header.count(column) > 1):
        report("FG102", f"the column {column!r} is given twice", top, "keep one of the two")
    for row in reader:
        place = Location(name, reader.line_num, 1)
        if surplus := row.pop("", None):
            message = f"the row has {len(surplus)} more values than columns"
            report("FG101", message, place, "put a value that contains a comma in double quotes")
        cells = {key: (value or "").strip() for key, value in row.items() if key in columns}
        yield place, {key: cell_text(value) for key, value in cells.items() if value}


def _devices(rows: list[Row], _planes: list[str], top: Location, report: Report) -> Node:
    devices = []
    for place, cells in rows:
        if "name" in cells:
            devices.append(_mapping({key: Node(value, place) for key, value in cells.items()}, place))
        else:
            report("FG106", "the device has no name", place)
    return _mapping({"devices": Node(devices, top)}, top)


def _guids(rows: list[Row], _planes: list[str], top: Location, report: Report) -> Node:
    guids = []
    for place, cells in rows:
        missing = [column for column in GUID_COLUMNS if column not in cells]
        if missing:
            report(
                "FG106",
                f"the adapter has no {' and no '.join(missing)}",
                place,
                "give both GUIDs, of the node and of the port",
            )
        else:
            guids.append(_mapping({key: Node(value, place) for key, value in cells.items()}, place))
    return _mapping({"guids": Node(guids, top)}, top)


def _switches(rows: list[Row], planes: list[str], top: Location, report: Report) -> Node:
    lists: dict[str, dict[str, list[Node]]] = {}
    for place, cells in rows:
        plane, role = _plane(cells, planes, place, report), cells.pop("role", None)
        if role not in _ROLE_LISTS:
            known = ", ".join(map(str, _ROLE_LISTS))
            message = f"the role {role!r} is not defined for switches" if role else "the switch has no role"
            report("FG105" if role else "FG106", message, place, f"known: {known}")
        elif plane and "name" in cells:
            switch = _mapping({key: Node(_number(key, value), place) for key, value in cells.items()}, place)
            lists.setdefault(plane, {}).setdefault(_ROLE_LISTS[role], []).append(switch)
        elif plane:
            report("FG106", "the switch has no name", place)
    return _of_planes(lists, top)


def _links(rows: list[Row], planes: list[str], top: Location, report: Report) -> Node:
    lists: dict[str, dict[str, list[Node]]] = {}
    for place, cells in rows:
        plane = _plane(cells, planes, place, report)
        missing = [column for column in ("a", "a_port", "b", "b_port") if column not in cells]
        if missing:
            report(
                "FG106",
                f"the link has no {' and no '.join(missing)}",
                place,
                "give device and port of both ends",
            )
        elif plane:
            ends = [Node(f"{cells[end]}:{cells[f'{end}_port']}", place) for end in ("a", "b")]
            link = {"ends": Node(ends, place)}
            cable = {key: Node(cells[key], place) for key in _CABLE_COLUMNS if key in cells}
            if cable:
                link["cable"] = _mapping(cable, place)
            if "speed" in cells:
                link["speed"] = Node(cells["speed"], place)
            lists.setdefault(plane, {}).setdefault("links", []).append(_mapping(link, place))
    return _of_planes(lists, top)


def _plane(cells: dict[str, str], planes: list[str], place: Location, report: Report) -> str | None:
    """The plane of a row, or the only plane of the inventory."""
    plane = cells.pop("plane", None) or (planes[0] if len(planes) == 1 else None)
    if plane is None:
        hint = f"fill the column `plane`; the inventory has {', '.join(planes) or 'no planes'}"
        report("FG106", "the row has no plane", place, hint)
    elif plane not in planes:
        report("FG107", f"the plane {plane!r} is not defined", place, f"known: {', '.join(planes) or 'none'}")
        return None
    return plane


def _number(column: str, text: str) -> object:
    """A number if the column has numbers; the schema check reports other texts."""
    number = whole_number(text) if column in _NUMBERS else None
    return text if number is None else number


def _of_planes(lists: Mapping[str, Mapping[str, list[Node]]], top: Location) -> Node:
    planes = {
        plane: _mapping({key: Node(items, top) for key, items in members.items()}, top)
        for plane, members in lists.items()
    }
    return _mapping({"planes": _mapping(planes, top)}, top)


def _mapping(members: dict[str, Node], place: Location) -> Node:
    return Node(members, place, dict.fromkeys(members, place))


TABLES: Mapping[str, tuple[tuple[str, ...], Callable[[list[Row], list[str], Location, Report], Node]]] = {
    "devices.csv": (DEVICE_COLUMNS, _devices),
    "guids.csv": (GUID_COLUMNS, _guids),
    "switches.csv": (SWITCH_COLUMNS, _switches),
    "links.csv": (LINK_COLUMNS, _links),
}
