"""The ports of a SKU: rows of port_config.ini, completed from platform.json and hwsku.json.

Where a SKU has no port_config.ini, its ports are what hwsku.json's breakout modes make of platform.json's cages, as
sonic-buildimage src/sonic-config-engine/portconfig.py does it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabricgen.findings import Location, Related, Severity
from fabricgen.platforms.breakout import PORT_NAME, fec_of, split
from fabricgen.platforms.model import Cage as PlatformCage
from fabricgen.platforms.model import PlatformPort
from fabricgen.platforms.sonic_device.breakout import (
    UnsplitCage,
    is_plain,
    modes_that_fit,
    platform_cages,
    read_cages,
    unsplit_modes,
)
from fabricgen.platforms.sonic_device.tree import DeviceTree
from fabricgen.units import whole_number

FILE = "port_config.ini"
_DEFAULT_COLUMNS = ("name", "lanes", "alias", "index")  # portconfig.py parse_port_config_file
_USED = {"name", "lanes", "alias", "index", "speed", "fec", "subport", "role"}
_FRONT_PANEL_ROLES = ("", "Ext")  # the others lead to a chip inside the box
_MAX_SERVICE_PORTS = 4
_MIN_SERVICE_RATIO = 4  # a service port is at least so much slower than the fastest

Row = dict[str, str]


def read_ports(tree: DeviceTree, sku: Path, platform: Path) -> tuple[PlatformPort, ...]:
    """All front-panel ports in the file's order; empty, with findings, if the ports are unknown."""
    hwsku_json = tree.json(sku / "hwsku.json")
    cages = _cages(tree, platform, hwsku_json)
    text = tree.text(sku / FILE)
    file = sku / (FILE if text else "hwsku.json")
    rows = _rows(tree, file, text) if text else list(_rows_of_modes(tree, file, cages))
    return _Completion(tree, file, cages, unsplit_modes(hwsku_json)).ports(rows)


def read_platform_cages(tree: DeviceTree, platform: Path) -> tuple[PlatformCage, ...]:
    """The cages of platform.json with all their breakout modes; () where it lists none."""
    return platform_cages(_cages(DeviceTree(tree.root), platform, {}))  # the SKUs have reported what is wrong


def _cages(tree: DeviceTree, platform: Path, hwsku_json: Mapping[str, Any]) -> Mapping[int, UnsplitCage]:
    try:
        return read_cages(tree.json(platform / "platform.json"), hwsku_json)
    except ValueError as problem:
        tree.report("FG121", Severity.WARNING, f"platform.json has lanes that are not numbers: {problem}", platform)
        return {}


def _rows(tree: DeviceTree, file: Path, text: str) -> list[tuple[int, Row]]:
    """(line, row) of each usable line of port_config.ini."""
    columns: tuple[str, ...] = _DEFAULT_COLUMNS
    found: list[tuple[int, Row]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            words = tuple(line.strip("# \t").split())
            if "name" in words and "lanes" in words:
                columns = words
                if ignored := [word for word in words if word not in _USED]:
                    tree.note("FG122", f"columns that are not imported: {', '.join(ignored)}", file, number)
            continue
        cells = line.split()
        if not cells:
            continue
        if len(cells) > len(columns):
            message = f"{cells[0]} has {len(cells)} values for {len(columns)} columns, so the port is left out"
            tree.report("FG121", Severity.WARNING, message, file, number)
            continue
        row = dict(zip(columns, cells, strict=False))
        found.append((number, {"name": "?"} | row))
    return found


def _rows_of_modes(tree: DeviceTree, file: Path, cages: Mapping[int, UnsplitCage]) -> Iterator[tuple[int, Row]]:
    """The same from breakout modes; the line is 0."""
    for cage in {cage.parent: cage for cage in cages.values()}.values():
        if not cage.mode:
            continue
        made, first = split(cage.mode, cage.lanes), PORT_NAME.fullmatch(cage.parent)
        aliases = cage.aliases_of(cage.mode)
        if not made or not first or len(aliases) < len(made):
            message = f"{cage.parent} has no breakout mode {cage.mode!r} that fits its lanes, so its ports are left out"
            tree.report("FG121", Severity.WARNING, message, file)
            continue
        for part, alias in zip(made, aliases, strict=False):
            row = {"name": f"Ethernet{int(first[1]) + part.offset}", "lanes": ",".join(map(str, part.lanes))}
            yield 0, row | {"alias": "".join(str(alias).split()), "speed": str(part.speed_mbps)}


class _Completion:
    """Rows to ports: what a row leaves open is looked up in its cage."""

    def __init__(
        self, tree: DeviceTree, file: Path, cages: Mapping[int, UnsplitCage], unsplit: Mapping[str, str]
    ) -> None:
        self.tree, self.file, self.cages, self.unsplit = tree, file, cages, unsplit
        self.seen: set[str | int] = set()  # names and lanes of the ports so far
        self.left_out: dict[str, list[tuple[int, str]]] = {}  # problem -> (line, port)

    def ports(self, rows: list[tuple[int, Row]]) -> tuple[PlatformPort, ...]:
        numbered_rows = [(line, row, lanes) for line, row in rows if (lanes := self._lanes(line, row))]
        if self._disagrees(numbered_rows):
            return ()
        usable = [(row, lanes) for _, row, lanes in numbered_rows]
        groups: dict[str, list[tuple[Row, tuple[int, ...]]]] = {}
        for row, lanes in usable:
            cage = self.cages.get(lanes[0])
            groups.setdefault(cage.parent if cage else row["name"], []).append((row, lanes))
        if numbered := [row["name"] for row, lanes in usable if not self._index(row, self.cages.get(lanes[0]))]:
            message = f"{len(numbered)} ports have no index, {numbered[0]} first: cages are counted from 1"
            self.tree.report("FG127", Severity.WARNING, message, self.file, hint="set the indexes in the entry")
        found: dict[str, PlatformPort] = {}
        for place, (parent, members) in enumerate(groups.items(), 1):
            mode = self._mode(members)
            for nth, (row, lanes) in enumerate(members, 1):
                cage = self.cages.get(lanes[0])
                speed = self._speed(row, lanes, mode)
                if speed is None:
                    self._leave_out(0, row["name"], "has neither a speed nor a breakout mode with one")
                    continue
                stated = whole_number(row.get("subport"))
                subport = stated if stated is not None else nth if len(members) > 1 else 0
                found[row["name"]] = PlatformPort(
                    name=row["name"],
                    lanes=lanes,
                    alias=row.get("alias", row["name"]),
                    index=int(self._index(row, cage) or place),
                    subport=subport,
                    parent=parent,
                    speed_mbps=speed,
                    kind="fabric",
                    fec=row.get("fec") or (cage.fec if cage else "") or fec_of(speed, len(lanes)),
                    breakout_mode=mode,
                )
        for problem, members_left in self.left_out.items():
            (line, name), count = members_left[0], len(members_left)
            these = f"{name} and {count - 1} more ports" if count > 1 else name
            self.tree.report("FG121", Severity.WARNING, f"left out: {these}, which {problem}", self.file, line)
        if found and not all(port.breakout_mode for port in found.values()):
            unsplit = sum(not port.breakout_mode for port in found.values())
            self.tree.note("FG126", f"the breakout mode of {unsplit} ports is not stated: no row for them", self.file)
        return _with_service_ports(
            self.tree, self.file, tuple(found[row["name"]] for row, _ in usable if row["name"] in found)
        )

    def _disagrees(self, rows: list[tuple[int, Row, tuple[int, ...]]]) -> bool:
        """Whether port_config.ini has other ports than hwsku.json's modes make; a finding for the first cage."""
        groups: dict[str, list[tuple[int, Row, tuple[int, ...]]]] = {}
        for line, row, lanes in rows:
            if (cage := self.cages.get(lanes[0])) and cage.mode:
                groups.setdefault(cage.parent, []).append((line, row, lanes))
        wrong = [parent for parent, members in groups.items() if not self._agrees(members)]
        if not wrong:
            return False
        line, row, lanes = groups[wrong[0]][0]
        mode, speed = self.cages[lanes[0]].mode, row.get("speed", "no speed")
        message = f"{self.file.name} and hwsku.json disagree on {len(wrong)} cages: {wrong[0]} has {row['name']} with "
        message += f"{len(lanes)} lanes at {speed} here, and the mode {mode} there"
        place = Related(f"default_brkout_mode of {wrong[0]}", self._place_of_mode(wrong[0]))
        hint = "correct one of the two files: SONiC takes PORT from one and BREAKOUT_CFG from the other"
        self.tree.refuse("FG145", message, self.file, line, hint, place)
        return True

    def _agrees(self, members: list[tuple[int, Row, tuple[int, ...]]]) -> bool:
        """Whether the mode makes ports of these lanes. A port may run at another speed than the mode's default."""
        cage = self.cages[members[0][2][0]]
        made = {part.lanes for part in split(cage.mode, cage.lanes) or ()}
        return not made or {lanes for _, _, lanes in members} <= made

    def _place_of_mode(self, parent: str) -> Location:
        """The line of a cage in hwsku.json."""
        file = self.file.with_name("hwsku.json")
        lines = (self.tree.text(file) or "").splitlines()
        return Location(str(file), next((n for n, line in enumerate(lines, 1) if f'"{parent}"' in line), 0))

    def _leave_out(self, line: int, name: str, problem: str) -> None:
        self.left_out.setdefault(problem, []).append((line, name))

    def _lanes(self, line: int, row: Row) -> tuple[int, ...]:
        """The lanes of a row that can be used; none, with a finding, for another."""
        name, text = row["name"], row.get("lanes", "")
        problem = ""
        if not PORT_NAME.fullmatch(name):
            problem = "is not the name of a front-panel port"
        elif row.get("role", "") not in _FRONT_PANEL_ROLES:
            problem = f"leads to a chip inside the switch ({row['role']})"
        elif not text or None in map(whole_number, text.split(",")):
            problem = f"has no lanes ({text or 'nothing'})"
        elif whole_number(row.get("speed", "1")) is None:
            problem = f"has a speed that is not a number ({row['speed']})"
        elif not is_plain(row.get("alias", name)):
            problem = "has an alias that is not plain text"
        if problem:
            self._leave_out(line, name, problem)
            return ()
        lanes = tuple(int(lane) for lane in text.split(","))
        if self.seen & {name, *lanes}:
            self._leave_out(line, name, "has the name or a lane of a port before it")
            return ()
        self.seen |= {name, *lanes}
        return lanes

    def _index(self, row: Row, cage: UnsplitCage | None) -> str:
        if whole_number(row.get("index")) is not None:
            return row["index"]
        return str(cage.index) if cage and cage.index is not None else ""

    def _mode(self, members: list[tuple[Row, tuple[int, ...]]]) -> str:
        """The breakout mode of a cage: hwsku.json's, else the only one that makes just these ports."""
        cage = self.cages.get(members[0][1][0])
        if cage is None:
            return self.unsplit.get(members[0][0]["name"], "")
        if cage.mode:
            return cage.mode
        made = [(lanes, int(row["speed"])) for row, lanes in members if "speed" in row]
        fitting = list(modes_that_fit(cage, made)) if len(made) == len(members) else []
        return fitting[0] if len(fitting) == 1 else ""

    def _speed(self, row: Row, lanes: tuple[int, ...], mode: str) -> int | None:
        if "speed" in row:
            return int(row["speed"])
        cage = self.cages.get(lanes[0])
        made = split(mode, cage.lanes) if cage else None
        return next((part.speed_mbps for part in made or () if part.lanes == lanes), None)


def _with_service_ports(tree: DeviceTree, file: Path, ports: tuple[PlatformPort, ...]) -> tuple[PlatformPort, ...]:
    """A few ports far slower than the rest are for service, and no part of the radix."""
    if not ports:
        return ()
    fastest = max(port.speed_mbps for port in ports)
    slow: list[str] = []
    for speed in sorted({port.speed_mbps for port in ports if port.speed_mbps * _MIN_SERVICE_RATIO <= fastest}):
        at_speed = [port.name for port in ports if port.speed_mbps == speed]
        if len(slow) + len(at_speed) > _MAX_SERVICE_PORTS:
            break
        slow += at_speed
    if not slow or len(slow) * 2 >= len(ports):
        return ports
    tree.note("FG127", f"treated as service ports, outside the radix: {', '.join(slow)}", file)
    return tuple(replace(port, kind="service") if port.name in slow else port for port in ports)
