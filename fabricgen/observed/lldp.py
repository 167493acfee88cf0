"""LLDP dumps of switches, read as pairs of ports.

A dump is the text of one switch: `lldpctl -f json` or `json0`, `show lldp table`, `show lldp neighbors` (the text of
lldpctl), or LLDP_ENTRY_TABLE of its APPL_DB as JSON. No dump has the name of the switch itself, so the file has it:
DEVICE.json, DEVICE.txt or DEVICE/lldp.json. One JSON object can have the dumps of several switches by name.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from fabricgen.bundle import infer
from fabricgen.bundle.cables import Cabling, Pair, miscablings, pair_of, plugged
from fabricgen.bundle.link_sources import NEIGHBORS
from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.observed.neighbors import read_neighbors
from fabricgen.units import counted

_log = logging.getLogger(__name__)

Neighbor = tuple[str, str, str]  # own port, far device, far port as announced

_ENTRY_TABLE = "LLDP_ENTRY_TABLE"
_FORMS = "lldpctl -f json or json0, show lldp table, show lldp neighbors, LLDP_ENTRY_TABLE of APPL_DB"
_FILES = ("*.json", "*.txt", "*/*.json", "*/*.txt")
# Names of dumps in a folder with the switch's name, and suffixes of file names that begin with the switch's name.
_DUMP_NAME = re.compile(r"(?:^|[._-])(?:lldp|lldpctl|show)?[._-]?(?:lldp|lldpctl|lldp[_-](?:entry[_-])?table)\Z", re.I)
_MAC = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")
# lldpd 14ce0998, src/client/text_writer.c: a title, a colon, and the value from the fourteenth column on.
_NEIGHBORS = re.compile(r"^LLDP neighbors:\s*$", re.MULTILINE)
_INTERFACE = re.compile(r"^Interface:\s+([^,\s]+), via: ")
_MEMBER = re.compile(r"^ {4}(ChassisID|SysName|PortID):\s+(.*?)\s*$")
_RULE = re.compile(r"^-{3,}(?: +-{3,})+\s*$")


def read_lldp(path: Path) -> tuple[Pair, ...]:
    """((device, port), (far device, far port as announced)) of every neighbour, from one dump or a folder of them.

    A SONiC neighbour announces the alias of its port; `with_cables` finds the port. Management ports are left out.
    Raises UnreadableInputError for a file of an unknown format, or a folder without files.
    """
    if not path.exists():
        raise UnreadableInputError("no such file or folder", Location(str(path)))
    files = sorted({file for form in _FILES for file in path.glob(form)}) if path.is_dir() else [path]
    if not files:
        raise UnreadableInputError("no LLDP dump in the folder: DEVICE.json, DEVICE.txt or DEVICE/lldp.json", _at(path))
    return tuple(
        ((device, port), (far, far_port))
        for file in files
        for device, neighbors in _dumps(file)
        for port, far, far_port in neighbors
        if far and not port.startswith("eth")
    )


def with_cables(bundle: Bundle, lldp: Path | None, neighbors: Path | None = None) -> Bundle:
    """The bundle with the links in LLDP dumps, and those that address tables of switches show, instead of the links of
    its files, and the cables that differ from the plan. A port that LLDP shows is not judged by addresses.

    The plan is fabric.json. Without it, the plan is each link on which the files of both ends agree. A planned link
    between two switches that both have a dump, and do not see each other, is down. Other planned links that LLDP does
    not show are kept: many hosts do not run LLDP, and a dump can be missing. Raises UnreadableInputError if the dumps
    have no switch of the bundle.
    """
    if not bundle.links and lldp:
        return _without_plan(bundle, lldp)
    planned = [link for link in bundle.links if _is_agreed(bundle, link)]
    far_ends = {link.a: link.b for link in planned} | {link.b: link.a for link in planned}
    nics: dict[str, list[Endpoint]] = {}
    for link in planned:
        if link.a[0] not in bundle.devices:
            nics.setdefault(link.a[0], []).append(link.a)
    readings = read_lldp(lldp) if lldp else ()
    seen = [(near, plugged(near, resolved(far, bundle.devices), far_ends, nics)) for near, far in readings]
    if lldp:
        _refuse_strangers(bundle, seen, lldp)
    with_dump = {near[0] for near, _ in seen}
    answered = read_neighbors(bundle, neighbors) if neighbors else None
    by_lldp = {end for pair in seen for end in pair}
    by_address = [pair for pair in (answered.pairs if answered else ()) if by_lldp.isdisjoint(pair)]
    seen += by_address
    if answered:
        _log.warning("neighbors: %s", answered.words)
    pairs: dict[frozenset[Endpoint], Pair] = {}
    partner: dict[Endpoint, Endpoint] = {}
    for near, far in seen:
        pairs.setdefault(frozenset((near, far)), (near, far))
        for end, other in ((near, far), (far, near)):
            if partner.setdefault(end, other) != other:
                _log.warning("%s:%s has two neighbours, %s:%s and %s:%s", *end, *partner[end], *other)
    dark = {
        link.id
        for link in bundle.switch_links
        if {link.a[0], link.b[0]} <= with_dump and partner.keys().isdisjoint((link.a, link.b))
    }
    if dark:
        verb = "is not seen and counts" if len(dark) == 1 else "are not seen and count"
        _log.warning("LLDP: %s %s as down", counted(len(dark), "planned cable"), verb)
    kept = [
        (link.a, link.b)
        for link in bundle.links
        if link.id not in dark
        and partner.keys().isdisjoint((link.a, link.b))
        and (link.a in far_ends or link not in bundle.switch_links or with_dump.isdisjoint((link.a[0], link.b[0])))
    ]
    tables = {name: device.table for name, device in bundle.devices.items()}
    links = infer.from_pairs([*pairs.values(), *kept], tables, bundle.links)
    expected = [
        pair_of(link.a, link.b)
        for link in planned
        if link.a[0] in bundle.devices
        and link.b[0] in bundle.devices
        and not with_dump.isdisjoint((link.a[0], link.b[0]))
        and not any(is_shut(bundle, end) for end in (link.a, link.b))
    ]
    found, _ = miscablings({pair_of(*pair) for pair in seen}, far_ends, expected)
    if found:
        verb = "differs" if len(found) == 1 else "differ"
        cables = counted(len(found), "cable")
        _log.warning("%s %s from the plan; `fabricgen validate` with the same options reports them", cables, verb)
    unplanned = [link for link in links if far_ends.keys().isdisjoint((link.a, link.b))]
    source = ", ".join(str(path) for path in (lldp, neighbors) if path)
    silent = tuple(end for end in (answered.silent if answered else ()) if end not in by_lldp)
    addresses = frozenset(pair_of(*pair) for pair in by_address)
    cabling = Cabling(found, (*planned, *unplanned), source, len(dark), addresses, silent)
    return replace(bundle, links=links, links_from=source, cabling=cabling)


def _without_plan(bundle: Bundle, path: Path) -> Bundle:
    """The bundle with the links that LLDP shows: nothing is planned from which they could differ."""
    seen = {pair_of(near, resolved(far, bundle.devices)): None for near, far in read_lldp(path)}
    _refuse_strangers(bundle, seen, path)
    tables = {name: device.table for name, device in bundle.devices.items()}
    links = infer.from_pairs(seen, tables)
    _log.warning("LLDP: %s; the files have no links with which to compare them", counted(len(links), "link"))
    return replace(bundle, links=links, links_from=str(path))


def _refuse_strangers(bundle: Bundle, seen: Iterable[Pair], path: Path) -> None:
    """Raises UnreadableInputError if no end of the pairs is at a switch of the bundle."""
    if bundle.devices.keys().isdisjoint(end[0] for pair in seen for end in pair):
        raise UnreadableInputError("the LLDP dumps have no judged switch; name each dump DEVICE.json", _at(path))


def _is_agreed(bundle: Bundle, link: WiredLink) -> bool:
    """Whether a link is planned: by fabric.json, by addresses, or by DEVICE_NEIGHBOR at each end that has a file."""
    if NEIGHBORS not in bundle.links_from.split(", "):
        return True
    for (name, port), far in ((link.a, link.b), (link.b, link.a)):
        row = bundle.devices[name].row("DEVICE_NEIGHBOR", port) if name in bundle.devices else None
        if row is not None and (row.get("name"), row.get("port")) != far:
            return False
    return True


def is_shut(bundle: Bundle, end: Endpoint) -> bool:
    """Whether the configuration shuts the port down, so that LLDP cannot show its cable."""
    return bundle.devices[end[0]].text_of("PORT", end[1], "admin_status") == "down"


def resolved(end: Endpoint, devices: Mapping[str, ObservedDevice]) -> Endpoint:
    """The port of an announced end: SONiC announces the alias of a port, or its name if it has no alias.

    A neighbour without a name is found by its chassis ID, if a file has this MAC address.
    """
    name = end[0] if end[0] in devices else end[0].partition(".")[0]
    if name not in devices and _MAC.fullmatch(end[0]):
        macs = {str(device.metadata.get("mac", "")).lower(): found for found, device in devices.items()}
        name = macs.get(end[0].lower(), name)
    if name not in devices:
        return end
    ports = devices[name].table("PORT")
    by_alias = {row.get("alias"): port for port, row in ports.items() if isinstance(row, dict)}
    return name, by_alias.get(end[1]) or end[1]


def _dumps(file: Path) -> Iterator[tuple[str, list[Neighbor]]]:
    text = read_bytes(file)
    if not text.lstrip().startswith((b"{", b"[")):
        yield _device(file), list(_from_text(text.decode(errors="replace"), file))
        return
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UnreadableInputError(f"not JSON: {error.msg}", _at(file, error.lineno, error.colno)) from error
    if (found := _from_json(content, file)) is not None:
        yield _device(file), found
        return
    parts = {name: _from_json(part, file) for name, part in content.items()} if isinstance(content, dict) else {}
    if not parts or None in parts.values():
        raise UnreadableInputError(f"not an LLDP dump; known formats are {_FORMS}", _at(file, 1, 1))
    yield from ((name, found or []) for name, found in parts.items())


def _device(file: Path) -> str:
    """The switch of a dump: leaf1.json, leaf1.lldp.json, leaf1_lldpctl.json and leaf1/lldp.json are dumps of leaf1."""
    return _DUMP_NAME.sub("", file.stem) or file.absolute().parent.name


def _from_json(content: Any, file: Path) -> list[Neighbor] | None:
    """The neighbours of one switch; None if the content is not a dump."""
    if not isinstance(content, dict):
        return None
    try:
        if "lldp" in content:
            return list(_from_lldpctl(content["lldp"]))
        if any(key.startswith(_ENTRY_TABLE) for key in content):
            return list(_from_entries(content))
    except (AttributeError, TypeError, KeyError, IndexError) as error:
        raise UnreadableInputError(
            f"an LLDP dump of an unknown format; known formats are {_FORMS}", _at(file, 1, 1)
        ) from error
    return None


def _from_lldpctl(content: Any) -> Iterator[Neighbor]:
    """json0 has a list for everything and the interface's name as a member; json has the name as the key, and a list
    only where there is more than one."""
    for top in _listed(content):
        for item in _listed(top.get("interface", [])):
            named = [(item["name"], item)] if isinstance(item.get("name"), str) else item.items()
            for port, seen in named:
                for chassis in _listed(seen.get("chassis", {})):
                    far_port = _value(_first(seen.get("port", {})).get("id"))
                    yield port, _chassis_name(chassis), far_port


def _chassis_name(chassis: Mapping[str, Any]) -> str:
    """json0: the member `name`; json: the only key, which is "id" if the neighbour has no name."""
    if "name" in chassis:
        return _value(chassis["name"])
    name = next(iter(chassis), "")
    return name if isinstance(chassis.get(name), dict) and name != "id" else _value(chassis.get("id"))


def _from_entries(content: Mapping[str, Any]) -> Iterator[Neighbor]:
    """LLDP_ENTRY_TABLE as rows of one table, or as Redis keys TABLE:port with the row under `value`."""
    rows = dict(content.get(_ENTRY_TABLE, {}))
    rows |= {key.partition(":")[2]: row for key, row in content.items() if key.startswith(f"{_ENTRY_TABLE}:")}
    for port, row in rows.items():
        row = row.get("value", row)
        yield port, str(row.get("lldp_rem_sys_name", "")), str(row.get("lldp_rem_port_id", ""))


def _from_text(text: str, file: Path) -> Iterator[Neighbor]:
    """`show lldp table`: columns as wide as the dashes below their titles."""
    lines = text.splitlines()
    if _NEIGHBORS.search(text):
        yield from _from_neighbors(lines)
        return
    index = next((index for index, line in enumerate(lines) if _RULE.match(line)), 0)
    titles = lines[index - 1].lower().split() if index else []
    if titles[:3] != ["localport", "remotedevice", "remoteportid"]:
        why = "not an LLDP dump: neither JSON nor `show lldp table` or `show lldp neighbors`"
        raise UnreadableInputError(why, _at(file, 1, 1))
    columns = [(match.start(), match.end()) for match in re.finditer("-+", lines[index])]
    for line in lines[index + 1 :]:
        if line.startswith("---") or not line.strip():
            return
        port, far, far_port = (line[start:end].strip() for start, end in columns[:3])
        yield port, far, far_port


def _from_neighbors(lines: Iterable[str]) -> Iterator[Neighbor]:
    """The text of lldpctl: the type of an identifier is in front of it, and a neighbour without a name has only that of
    its chassis."""
    port, seen = "", dict[str, str]()
    for line in [*lines, "Interface:"]:
        if line.startswith("Interface:"):
            if port:
                far = seen.get("SysName") or seen.get("ChassisID", "").partition(" ")[2]
                yield port, far, seen.get("PortID", "").partition(" ")[2]
            found = _INTERFACE.match(line)
            port, seen = found[1] if found else "", {}
        elif member := _MEMBER.match(line):
            seen.setdefault(member[1], member[2])


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value


def _value(member: Any) -> str:
    return str(_first(member).get("value", "")) if member else ""


def _at(path: Path, line: int = 0, column: int = 0) -> Location:
    return Location(str(path), line, column) if line else Location(str(path))
