"""Address tables of switches: at which port a host answers, for hosts that do not run LLDP.

A table is the text of one switch: `show arp`, `show ndp`, `ip neigh` (or `ip -j neigh`), `show mac`, or NEIGH_TABLE of
APPL_DB or FDB_TABLE of STATE_DB as JSON. No table has the name of its switch, so the file has it: DEVICE.txt,
DEVICE.arp.txt or DEVICE/arp.txt. A switch can have several.

Forms are those of sonic-utilities scripts/nbrshow and scripts/fdbshow, iproute2 ip/ipneigh.c, and sonic-swss-common
schema.h.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import orjson

from fabricgen.bundle.cables import Pair
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.units import counted

_FILES = ("*.json", "*.txt", "*/*.json", "*/*.txt")
_KIND = r"(?:arp|ndp|neigh|neighbors|mac|fdb|(?:neigh|fdb)[_-]table)"
_TABLE_NAME = re.compile(rf"(?:^|[._-])(?:show[._-])?(?:ip[._-])?{_KIND}\Z", re.I)
_FORMS = "show arp, show ndp, ip neigh, show mac, NEIGH_TABLE of APPL_DB, FDB_TABLE of STATE_DB"
_MAC = re.compile(r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}")
_RULE = re.compile(r"^-{3,}(?: +-{3,})+\s*$")
_LOST = frozenset({"FAILED", "INCOMPLETE"})  # states of an address that does not answer


@dataclass
class _Tables:
    """The tables of one switch: address -> (interface, MAC), and (VLAN, MAC) -> port."""

    addresses: dict[str, tuple[str, str]] = field(default_factory=dict)
    ports: dict[str, str] = field(default_factory=dict)  # MAC -> port


@dataclass(frozen=True)
class Answered:
    """What the tables show: (port of a switch, NIC) for each planned address at a port, the ports of hosts that no
    entry judges, and the entries whose address no host has."""

    pairs: tuple[Pair, ...]
    silent: tuple[Endpoint, ...]
    strangers: int

    @property
    def words(self) -> str:
        """'126 of 128 ports of hosts are judged by addresses; 2 have no entry'."""
        judged = len({near for near, _ in self.pairs})
        ports = counted(judged + len(self.silent), "port")
        left = f"; {len(self.silent)} {'has' if len(self.silent) == 1 else 'have'} no entry" if self.silent else ""
        unknown = f"; {counted(self.strangers, 'entry', 'entries')} of other addresses" if self.strangers else ""
        return f"{judged} of {ports} of hosts {'is' if judged == 1 else 'are'} judged by addresses{left}{unknown}"


def read_neighbors(bundle: Bundle, path: Path) -> Answered:
    """The ports at which the planned addresses of hosts answer, from one table or a folder of them.

    Raises UnreadableInputError for a file of an unknown form, for a bundle without planned addresses of hosts, and if
    no table has a planned address: a cable that nothing shows is not a correct one.
    """
    planned = _planned(bundle)
    if not planned:
        raise UnreadableInputError("the bundle has no fabric.json with addresses of hosts to look for", _at(path))
    tables = _read(path)
    if bundle.devices.keys().isdisjoint(tables):
        raise UnreadableInputError(
            "no table belongs to a judged switch; name each DEVICE.txt or DEVICE.json", _at(path)
        )
    macs = {
        mac: address for one in tables.values() for address, (_, mac) in one.addresses.items() if address in planned
    }
    pairs: dict[Endpoint, Pair] = {}
    strangers = 0
    for device in sorted(tables.keys() & bundle.devices.keys()):
        for address, port in _entries(tables[device], macs):
            nic = planned.get(address)
            near = _port(bundle, device, port, nic[1] if nic else None)
            if near is None:
                continue
            if nic is None:
                strangers += not ip_address(address).is_link_local
            elif near not in pairs or nic[1] == near:
                pairs[near] = (near, nic[0])
    ends = {near: end for end, near in planned.values()}
    silent = tuple(near for near in ends if near not in pairs)
    if not pairs:
        raise UnreadableInputError("no table has a planned address of a host, so no cable is judged", _at(path))
    return Answered(tuple(pairs.values()), silent, strangers)


def _planned(bundle: Bundle) -> dict[str, tuple[Endpoint, Endpoint]]:
    """Address -> (NIC, port of its switch), of NICs whose link leads to a judged switch."""
    if bundle.wiring is None:
        return {}
    nics = {(host.name, nic.name): nic.addresses for host in bundle.wiring.hosts for nic in host.nics}
    return {
        str(ip_address(text.partition("/")[0])): (link.a, link.b)
        for link in bundle.links
        if link.b[0] in bundle.devices
        for text in nics.get(link.a, ())
    }


def _entries(tables: _Tables, macs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(address, port or interface): those of the address table, and those whose MAC is known from any switch."""
    for address, (interface, mac) in tables.addresses.items():
        yield address, tables.ports.get(mac, interface)
    for mac, port in tables.ports.items():
        if mac in macs and macs[mac] not in tables.addresses:
            yield macs[mac], port


def _port(bundle: Bundle, device: str, interface: str, planned: Endpoint | None) -> Endpoint | None:
    """The port of an entry: of a port channel the planned member, else its first one. None for other interfaces."""
    tables = bundle.devices[device].table
    if interface in tables("PORT"):
        return device, interface
    members = [key.partition("|")[2] for key in tables("PORTCHANNEL_MEMBER") if key.startswith(f"{interface}|")]
    if planned and planned[0] == device and planned[1] in members:
        return planned
    return (device, members[0]) if members else None


def _read(path: Path) -> dict[str, _Tables]:
    if not path.exists():
        raise UnreadableInputError("no such file or folder", _at(path))
    files = sorted({file for form in _FILES for file in path.glob(form)}) if path.is_dir() else [path]
    if not files:
        raise UnreadableInputError(
            "no address table in the folder: DEVICE.txt, DEVICE.json or DEVICE/arp.txt", _at(path)
        )
    found: dict[str, _Tables] = {}
    for file in files:
        name = _TABLE_NAME.sub("", file.stem) or file.absolute().parent.name
        tables = found.setdefault(name, _Tables())
        for address, interface, mac in _rows(read_bytes(file), file):
            if address:
                tables.addresses[address] = (interface, _plain(mac))
            elif interface:
                tables.ports[_plain(mac)] = interface
    return found


def _rows(content: bytes, file: Path) -> Iterable[tuple[str, str, str]]:
    """(address, interface, MAC) of each entry; the address is "" in a table of MAC addresses."""
    try:
        is_json = content.lstrip().startswith((b"{", b"["))
        rows = (
            _from_json(orjson.loads(content), file) if is_json else _from_text(content.decode(errors="replace"), file)
        )
        return [(_normal(address), interface, mac) for address, interface, mac in rows]
    except orjson.JSONDecodeError as error:
        raise UnreadableInputError(f"not JSON: {error.msg}", _at(file, error.lineno, error.colno)) from error
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        raise UnreadableInputError(
            f"an address table of an unknown form; known forms: {_FORMS}", _at(file, 1, 1)
        ) from error


def _from_json(content: Any, file: Path) -> Iterator[tuple[str, str, str]]:
    if isinstance(content, list):  # ip -j neigh
        for row in content:
            if row.get("lladdr") and _LOST.isdisjoint(row.get("state", ())):
                yield row["dst"], row["dev"], row["lladdr"]
        return
    tables = [key for key in content if re.match(r"(NEIGH|FDB)_TABLE", key)]
    if not tables:
        raise UnreadableInputError(f"not an address table; known forms: {_FORMS}", _at(file, 1, 1))
    for key in tables:
        name, separator = key[: key.index("_TABLE") + 6], key[key.index("_TABLE") + 6 :][:1]
        rows = {key[len(name) + 1 :]: content[key]} if separator else content[key]
        for place, row in rows.items():
            row = row.get("value", row)
            first, _, rest = place.partition(":")
            if name == "NEIGH_TABLE":
                yield rest, first, str(row.get("neigh", ""))
            else:
                yield "", str(row.get("port", "")), rest


def _from_text(text: str, file: Path) -> Iterator[tuple[str, str, str]]:
    lines = text.splitlines()
    index = next((index for index, line in enumerate(lines) if _RULE.match(line)), 0)
    titles = lines[index - 1].lower().split() if index else []
    if titles[:3] == ["address", "macaddress", "iface"]:
        for words in _below(lines, index):
            yield words[0], words[2], words[1]
    elif titles[:5] == ["no.", "vlan", "macaddress", "port", "type"]:
        for words in _below(lines, index):
            yield "", words[3], words[2]
    elif any(" dev " in line for line in lines):
        for line in lines:
            yield from _from_ip_neigh(line.split())
    else:
        raise UnreadableInputError(f"not an address table; known forms: {_FORMS}", _at(file, 1, 1))


def _below(lines: list[str], index: int) -> Iterator[list[str]]:
    """The words of the rows below the titles; the line with the total ends them."""
    for line in lines[index + 1 :]:
        words = line.split()
        if len(words) >= 4 and any(map(_MAC.fullmatch, words)):
            yield words


def _from_ip_neigh(words: list[str]) -> Iterator[tuple[str, str, str]]:
    """'10.64.0.1 dev Ethernet0 lladdr aa:bb:cc:dd:ee:ff REACHABLE'."""
    if "dev" in words and "lladdr" in words and _LOST.isdisjoint(words):
        yield words[0], words[words.index("dev") + 1], words[words.index("lladdr") + 1]


def _normal(address: str) -> str:
    return str(ip_address(address.partition("%")[0])) if address else ""


def _plain(mac: str) -> str:
    return mac.lower().replace("-", ":")


def _at(path: Path, line: int = 0, column: int = 0) -> Location:
    return Location(str(path), line, column) if line else Location(str(path))
