"""A platform entry from the files of switches whose hwsku the catalog does not have: their ports, headroom and pools.

Virtual switches of labs (SONiC VS has the hwsku Force10-S6000 and any ports) and SKUs of vendors are of this kind.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import count, islice

from fabricgen.adopt.source import Tables
from fabricgen.platforms.model import IMPORTED, BufferDefaults, HeadroomRow, Layout, PlatformPort, SwitchPlatform
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import parse_priorities
from fabricgen.units import format_speed, whole_number
from fabricgen.vocabulary import Role

_HEADROOM = re.compile(r"pg_lossless_(\d{1,7})_(\d{1,5})m_profile")
_PORT = re.compile(r"Ethernet\d{1,5}")
_SPEED_OF_LANE_MBPS = 25_000  # of a port without a speed; SONiC VS takes it for each lane
_USUAL_LANES = 4  # of a port without lanes

Row = Mapping[str, str | list[str]]


def own_platform(hwsku: str, switches: Sequence[tuple[Role, Tables]], taken: Set[str]) -> SwitchPlatform:
    """The platform of switches of one hwsku, a layout for each distinct set of ports. `taken` are names of platforms
    that it may not have.

    Files that are completed on the switch have no lanes, or no PORT: the lanes are then numbered, and the ports are
    those that other tables name. The inventory removes again what the files do not have.
    """
    by_ports: dict[tuple[PlatformPort, ...], list[tuple[Role, Tables]]] = {}
    for role, tables in switches:
        by_ports.setdefault(tuple(_ports(tables)), []).append((role, tables))
    layouts: list[Layout] = []
    for ports, members in by_ports.items():
        name = _layout_name(ports, [one.name for one in layouts])
        sources = {"ports": _source_of_ports([tables for _, tables in members])}
        bare = Layout(name=name, hwsku=hwsku, ports=ports, headroom=(), buffers={}, sources=sources)
        layouts.append(with_buffers(bare, members))
    metadata = [tables.get("DEVICE_METADATA", {}).get("localhost", {}) for _, tables in switches]
    return SwitchPlatform(
        name=_name(hwsku, taken),
        vendor=IMPORTED,
        asic=None,
        asic_vendor=None,
        onie_platform=_most(metadata, "platform"),
        buffer_model=_most(metadata, "buffer_model") or "traditional",
        capabilities={},
        layouts=tuple(layouts),
        sources={"all": f"{_SOURCE} of the switches, as they were imported"},
    )


def with_buffers(layout: Layout, switches: Sequence[tuple[Role, Tables]]) -> Layout:
    """A layout without headroom, with the headroom, pools and profiles of the files of its switches."""
    headroom = {(row.speed_mbps, row.cable_m): row for _, tables in switches for row in _headroom(tables)}
    buffers: dict[str, BufferDefaults] = {role: found for role, tables in switches if (found := _buffers(tables))}
    return replace(
        layout,
        headroom=tuple(row for _, row in sorted(headroom.items())),
        buffers=buffers,
        sources={**layout.sources, "headroom": _SOURCE, **{f"buffers.{role}": _SOURCE for role in buffers}},
    )


def own_layout(platform: SwitchPlatform, tables: Tables) -> Layout:
    """The layout with the ports of a file."""
    ports = tuple(_ports(tables))
    return next(layout for layout in platform.layouts if layout.ports == ports)


_SOURCE = "PORT and buffer tables of the config_db.json files"
NUMBERED_LANES = "PORT of the config_db.json files, which has no lanes: they are numbered here"
NAMED_PORTS = "tables of the config_db.json files that name ports: they have no PORT, and lanes are numbered here"


def _source_of_ports(files: Sequence[Tables]) -> str:
    if not all(any(map(_PORT.fullmatch, tables.get("PORT", {}))) for tables in files):
        return NAMED_PORTS
    has_lanes = all(_lanes(row) for tables in files for name, row in tables["PORT"].items() if _PORT.fullmatch(name))
    return _SOURCE if has_lanes else NUMBERED_LANES


def _most(rows: Sequence[Row], field: str) -> str:
    counts = Counter(str(row[field]) for row in rows if row.get(field))
    return min(counts, key=lambda text: (-counts[text], text)) if counts else ""


def _name(hwsku: str, taken: Set[str]) -> str:
    """The hwsku in small letters; a number is added to a name of the catalog."""
    plain = re.sub(r"[^a-z0-9]+", "-", hwsku.lower()).strip("-")[:48] or "imported-switch"
    names = (plain if number == 1 else f"{plain}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _layout_name(ports: Sequence[PlatformPort], taken: Sequence[str]) -> str:
    """'64x400g', or '48x25g+8x100g'; a further one of the same counts has a number."""
    counts = Counter(port.speed_mbps for port in ports)
    plain = "+".join(f"{count}x{format_speed(speed).lower()}" for speed, count in sorted(counts.items()))
    names = (plain if number == 1 else f"{plain}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _ports(tables: Tables) -> Iterator[PlatformPort]:
    """The ports of PORT, or else those that other tables name. Ports that state one index share a cage; the first of
    them names it."""
    rows = tables.get("PORT", {})
    names = sorted(filter(_PORT.fullmatch, rows), key=natural_key) or _named_ports(tables)
    rows = {name: rows.get(name, {}) for name in names}
    free = count(1 + max((lane for row in rows.values() for lane in _lanes(row)), default=0))
    cages: dict[str, list[str]] = {}
    for place, name in enumerate(names):
        cages.setdefault(_text(rows[name], "index") or f"at {place}", []).append(name)
    modes = tables.get("BREAKOUT_CFG", {})
    cage_of = {name: members for members in cages.values() for name in members}
    for place, name in enumerate(names):
        row, members = rows[name], cage_of[name]
        lanes = _lanes(row) or tuple(islice(free, _USUAL_LANES))
        yield PlatformPort(
            name=name,
            lanes=lanes,
            alias=_text(row, "alias") or name,
            index=_number(row, "index", place),
            subport=members.index(name) + 1 if len(members) > 1 else 0,
            parent=members[0],
            speed_mbps=_number(row, "speed", 0) or len(lanes) * _SPEED_OF_LANE_MBPS,
            kind="fabric",
            fec=_text(row, "fec"),
            breakout_mode=_text(modes.get(members[0], {}), "brkout_mode"),
        )


def _named_ports(tables: Tables) -> list[str]:
    """The ports in the keys of other tables; one port without such keys, because a switch has ports."""
    parts = {part.partition(".")[0] for rows in tables.values() for key in rows for part in key.split("|")}
    return sorted(filter(_PORT.fullmatch, parts), key=natural_key) or ["Ethernet0"]


def _lanes(row: Row) -> tuple[int, ...]:
    numbers = [whole_number(part.strip()) for part in _text(row, "lanes").split(",")]
    return tuple(number for number in numbers if number is not None) if None not in numbers else ()


def _text(row: Row, field: str) -> str:
    found = row.get(field, "")
    return found if isinstance(found, str) else ""


def _number(row: Row, field: str, otherwise: int) -> int:
    number = whole_number(_text(row, field))
    return otherwise if number is None else number


def _headroom(tables: Tables) -> Iterator[HeadroomRow]:
    """The rows of pg_profile_lookup.ini from which buffermgrd made the profiles of the file."""
    for name, row in tables.get("BUFFER_PROFILE", {}).items():
        match = _HEADROOM.fullmatch(name)
        values = [whole_number(_text(row, field)) for field in ("size", "xon", "xoff")]
        threshold = _text(row, "dynamic_th")
        if match is None or None in values or not re.fullmatch(r"-?\d{1,2}", threshold):
            continue
        size, xon, xoff = (value or 0 for value in values)
        offset = whole_number(_text(row, "xon_offset"))
        yield HeadroomRow(int(match[1]), int(match[2]), size, xon, xoff, int(threshold), offset)


def _buffers(tables: Tables) -> BufferDefaults | None:
    """Pools and profiles, with the names of those of lossless and lossy queues and groups; None without a pool."""
    pools = {name: _texts(row) for name, row in tables.get("BUFFER_POOL", {}).items()}
    profiles = {
        name: _texts(row) for name, row in tables.get("BUFFER_PROFILE", {}).items() if not _HEADROOM.fullmatch(name)
    }
    lossless = _lossless(tables)
    queues = _profiles_by_kind(tables.get("BUFFER_QUEUE", {}), lossless)
    groups = _profiles_by_kind(tables.get("BUFFER_PG", {}), lossless)
    if not pools or not queues[True] or not queues[False] or not groups[False]:
        return None
    lists = {
        side: _text(row, "profile_list")
        for side, table in (
            ("ingress", "BUFFER_PORT_INGRESS_PROFILE_LIST"),
            ("egress", "BUFFER_PORT_EGRESS_PROFILE_LIST"),
        )
        for row in list(tables.get(table, {}).values())[:1]
    }
    return BufferDefaults(pools, profiles, queues[True], queues[False], groups[False], lists)


def _texts(row: Row) -> dict[str, str]:
    return {field: text for field, text in row.items() if isinstance(text, str)}


def _lossless(tables: Tables) -> set[int]:
    """The PFC priorities of most ports."""
    enabled = _most(list(tables.get("PORT_QOS_MAP", {}).values()), "pfc_enable")
    return set(parse_priorities(enabled))


def _profiles_by_kind(rows: Mapping[str, Row], lossless: set[int]) -> dict[bool, str]:
    """Whether lossless -> the profile of most rows of PORT|RANGE; "" without one."""
    found: dict[bool, list[Row]] = {True: [], False: []}
    for key, row in rows.items():
        first = whole_number(key.rpartition("|")[2].partition("-")[0])
        found[first in lossless].append(row)
    return {kind: _most(members, "profile") for kind, members in found.items()}
