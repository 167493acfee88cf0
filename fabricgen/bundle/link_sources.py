"""The links of a fabric without fabric.json, from all that its files say about them.

The sources, the strongest first: DEVICE_NEIGHBOR; sessions of BGP and next hops of static routes, of CONFIG_DB and of
frr.conf, over the addresses of ports; subnets that two ports share; descriptions of ports. A port has the far end that
the strongest source gives. Where a weaker one gives another, that is a `Contradiction`.
"""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabricgen.bundle.infer import TableReader, kind_of, link_of, rows_of
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.sonic.addresses import WIDTH_BITS, Address, parse_address
from fabricgen.sonic.frr_conf import DEFAULT_VRF, FrrConfig, FrrPeer
from fabricgen.sonic.tables import split_key

_log = logging.getLogger(__name__)

NEIGHBORS, BGP, FRR, ROUTES = "DEVICE_NEIGHBOR", "BGP", "frr.conf", "static routes"
SUBNETS, DESCRIPTIONS = "common subnets", "descriptions"
_POINT_TO_POINT_BITS = 2  # host bits of a subnet for two ports
_LINK_LOCAL = parse_address("fe80::/10")
_ROUTED = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_SUB_INTERFACE")
_SEPARATOR = re.compile(r"[\s:_,;()\[\]{}|<>=-]+")
_WORDS = re.compile(r"\d+|[A-Za-z]+|[^A-Za-z0-9]+")
_LEAST_REPEATED = 2  # switches of a plane
_PORT_WORD = re.compile(r"(?:ethernet|eth|et|e|etp|swp|port)(\d+(?:[/.]\d+)*)", re.IGNORECASE)

Pair = tuple[Endpoint, Endpoint]


@dataclass(frozen=True)
class Contradiction:
    """A source that gives a port (`near`) another far end than the link `kept` of a stronger source has."""

    source: str
    near: Endpoint
    far: Endpoint
    kept_source: str
    kept: Pair


@dataclass(frozen=True)
class FoundLinks:
    """The links, the names of their sources, and what contradicts."""

    links: tuple[WiredLink, ...]
    sources: str
    contradictions: tuple[Contradiction, ...]


def find_links(devices: Mapping[str, TableReader], frr: Mapping[str, FrrConfig]) -> FoundLinks:
    """The links of switches, by their tables and what FRR's files beside them say. One line of the log counts them by
    source."""
    links: dict[frozenset[Endpoint], WiredLink] = {}
    taken: dict[Endpoint, tuple[str, Pair]] = {}
    counts: Counter[str] = Counter()
    contradictions: dict[frozenset[Endpoint], Contradiction] = {}
    for link in _from_neighbors(devices):
        links[frozenset((link.a, link.b))] = link
        counts[NEIGHBORS] += 1
        for end in (link.a, link.b):
            taken.setdefault(end, (NEIGHBORS, (link.a, link.b)))
    routed = _Routed(devices, frr)
    sources: dict[str, Callable[[], Iterator[Pair]]] = {
        BGP: lambda: routed.single(_bgp_peers(devices, routed)),
        FRR: lambda: routed.single(_frr_peers(frr, routed)),
        ROUTES: lambda: routed.single(_next_hops(devices, frr, routed)),
        SUBNETS: routed.shared_subnets,
        DESCRIPTIONS: lambda: _described(devices),
    }
    for source, pairs in sources.items():
        for near, far in pairs():
            both = frozenset((near, far))
            if both in links:
                continue
            if held := next((taken[end] for end in (near, far) if end in taken), None):
                contradictions.setdefault(both, Contradiction(source, near, far, *held))
                continue
            links[both] = link_of(near, far)
            counts[source] += 1
            taken[near] = taken[far] = source, (near, far)
    if counts:
        level = logging.INFO if counts.keys() <= {NEIGHBORS} else logging.WARNING
        _log.log(level, "links: %s", ", ".join(f"{count} from {source}" for source, count in counts.items()))
    return FoundLinks(tuple(links.values()), ", ".join(counts) or BGP, tuple(contradictions.values()))


def _from_neighbors(devices: Mapping[str, TableReader]) -> Iterator[WiredLink]:
    seen: set[frozenset[Endpoint]] = set()
    for name, table in devices.items():
        for port, row in rows_of(table, "DEVICE_NEIGHBOR"):
            far = (row.get("name"), row.get("port"))
            if not (isinstance(far[0], str) and isinstance(far[1], str)):
                continue
            if far[0] in devices:
                pair = frozenset({(name, port), (far[0], far[1])})
                if pair not in seen:
                    seen.add(pair)
                    yield link_of((name, port), (far[0], far[1]))
            else:  # a server, or a switch whose file is not given
                yield link_of((far[0], far[1]), (name, port), kind_of(table, far[0]))


class _Routed:
    """The addresses of routed ports. A subinterface is its port, a port channel its only member. Planes that repeat
    their addresses are separate networks."""

    def __init__(self, devices: Mapping[str, TableReader], frr: Mapping[str, FrrConfig]) -> None:
        self._of: dict[tuple[str, str], list[tuple[Endpoint, Address]]] = defaultdict(list)  # by device and VRF
        self._owners: dict[tuple[str, Address], set[Endpoint]] = defaultdict(set)  # by plane
        self._in: dict[tuple[str, str, Address], set[Endpoint]] = defaultdict(set)  # by plane, VRF and subnet
        held = {
            name: [one for one in _addresses(table, frr.get(name)) if not (_LINK_LOCAL and _LINK_LOCAL.covers(one[2]))]
            for name, table in devices.items()
        }
        self._planes = repeated_planes(held)
        for name, addresses in held.items():
            plane = self._planes.get(name, "")
            for port, vrf, address in addresses:
                end = name, port
                self._of[name, vrf].append((end, address))
                self._owners[plane, address.host].add(end)
                self._in[plane, vrf, address.network].add(end)

    def pair(self, device: str, vrf: str, far: str, near: str = "") -> Iterator[Pair]:
        """The port of a device in the subnet of a far address (or with the address or name `near`), and the only port
        of another device with it."""
        address = parse_address(far.partition("%")[0])
        if address is None:
            return
        owners = {end for end in self._owners.get((self._planes.get(device, ""), address), ()) if end[0] != device}
        wanted = parse_address(near) if near else None
        ports = {
            end
            for end, own in self._of.get((device, vrf), ())
            if (own.host == wanted if wanted else own.network.covers(address) and near in ("", end[1]))
        }
        if len(owners) == len(ports) == 1:
            yield ports.pop(), owners.pop()

    def single(self, pairs: Iterator[Pair]) -> Iterator[Pair]:
        """The pairs without those of ports with several far ends: a switch or a VLAN is between them."""
        found = {frozenset(pair): pair for pair in pairs}
        count = Counter(end for pair in found for end in pair)
        return (pair for ends, pair in found.items() if all(count[end] == 1 for end in ends))

    def shared_subnets(self) -> Iterator[Pair]:
        """The two ports of each subnet for two, where they are of two switches."""
        for (*_, network), ends in self._in.items():
            if len(ends) == 2 and WIDTH_BITS[network.version] - network.length <= _POINT_TO_POINT_BITS:
                near, far = sorted(ends)
                if near[0] != far[0]:
                    yield near, far


def repeated_planes(held: Mapping[str, Sequence[tuple[str, str, Address]]]) -> dict[str, str]:
    """Switch -> its plane, for planes that have the same switches with the same addresses on the same ports: p0-leaf1,
    p0-spine1, p1-leaf1, p1-spine1. Empty if they do not, for example if one file is a copy of another.

    `held` is switch -> (port, VRF, address). Ports to hosts may have other addresses. The names of equal switches
    differ in one word, which is the same one for all of them, and each plane has all of them.
    """
    count = Counter(one for addresses in held.values() for one in dict.fromkeys(addresses))
    alike: dict[frozenset[tuple[str, str, Address]], list[str]] = defaultdict(list)
    for name, addresses in held.items():
        if repeated := frozenset(one for one in addresses if count[one] > 1):
            alike[repeated].append(name)
    groups = [names for names in alike.values() if len(names) > 1]
    planes = [_places_of(names) for names in groups]
    if len(groups) < _LEAST_REPEATED or None in planes or len({tuple(one or ()) for one in planes}) > 1:
        return {}
    _log.warning("planes with the same addresses are separate networks: %s", ", ".join(planes[0] or ()))
    return {name: plane for names in groups for name, plane in zip(names, planes[0] or (), strict=True)}


def _places_of(names: Sequence[str]) -> list[str] | None:
    """The word of each name by which it differs from the others, with the letters before a number; None if the names
    differ in more than one, or in a number without letters."""
    split = [_WORDS.findall(name) for name in names]
    if len({len(words) for words in split}) > 1:
        return None
    differ = [place for place, words in enumerate(zip(*split, strict=True)) if len(set(words)) > 1]
    if len(differ) != 1:
        return None
    [place] = differ
    start = place - 1 if place and split[0][place].isdigit() and split[0][place - 1].isalpha() else place
    found = ["".join(words[start : place + 1]) for words in split]
    return found if all(word[0].isalpha() for word in found) else None


def _addresses(table: TableReader, frr: FrrConfig | None) -> Iterator[tuple[str, str, Address]]:
    """(port, VRF, address) of the routed ports of a switch."""
    members: dict[str, list[str]] = defaultdict(list)
    for key in table("PORTCHANNEL_MEMBER"):
        channel, *member = split_key(key)
        members[channel] += member

    def port_of(interface: str) -> str:
        parent = interface.partition(".")[0]
        parent = f"Ethernet{parent[3:]}" if re.fullmatch(r"Eth\d+", parent) else parent  # Eth4.10 of Ethernet4
        if parent.startswith("PortChannel"):
            return members[parent][0] if len(members[parent]) == 1 else ""
        return parent if parent.startswith("Ethernet") else ""

    for name in _ROUTED:
        rows = table(name)
        for key in rows:
            interface, *prefix = split_key(key)
            row = rows.get(interface)
            vrf = row.get("vrf_name") if isinstance(row, dict) else ""
            if prefix and (address := parse_address(prefix[0])) and (port := port_of(interface)):
                yield port, vrf if isinstance(vrf, str) and vrf else DEFAULT_VRF, address
    for interface, vrf, address in frr.addresses if frr else ():
        if port := port_of(interface):
            yield port, vrf, address


def _bgp_peers(devices: Mapping[str, TableReader], routed: _Routed) -> Iterator[Pair]:
    for name, table in devices.items():
        for key, row in rows_of(table, "BGP_NEIGHBOR"):
            *vrf, far = split_key(key)
            yield from routed.pair(name, vrf[0] if vrf else DEFAULT_VRF, far, str(row.get("local_addr") or ""))


def _frr_peers(frr: Mapping[str, FrrConfig], routed: _Routed) -> Iterator[Pair]:
    for name, config in frr.items():
        for peer in config.peers:
            yield from routed.pair(name, peer.vrf, peer.name, _source(peer))


def _source(peer: FrrPeer) -> str:
    """The address or the port from which a session starts; "" for a loopback, whose sessions lead anywhere."""
    return peer.source if peer.source.startswith("Ethernet") or parse_address(peer.source) else ""


def _next_hops(devices: Mapping[str, TableReader], frr: Mapping[str, FrrConfig], routed: _Routed) -> Iterator[Pair]:
    for name, table in devices.items():
        for key, row in rows_of(table, "STATIC_ROUTE"):
            *vrf, _ = split_key(key)
            hops = row.get("nexthop", "")
            for hop in hops.split(",") if isinstance(hops, str) else ():
                yield from routed.pair(name, vrf[0] if vrf else DEFAULT_VRF, hop)
    for name, config in frr.items():
        for route in config.routes:
            yield from routed.pair(name, route.vrf, route.next_hop)


def _described(devices: Mapping[str, TableReader]) -> Iterator[Pair]:
    """The links that descriptions of ports name: `leaf1:Ethernet0`, `to_leaf1_Eth1/1`, `[Leaf01] Ethernet4`.

    A description without a port is a link if one port of each of the two switches names the other so.
    """
    if len(devices) < 2:
        return
    by_name = {name.lower(): name for name in devices}
    longest_first = "|".join(re.escape(name) for name in sorted(by_name, key=lambda name: (-len(name), name)))
    names = re.compile(rf"(?<![a-z0-9])(?:{longest_first})(?![a-z0-9])")
    ports = {name: _port_names(table) for name, table in devices.items()}
    without_port: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, table in devices.items():
        for port, row in rows_of(table, "PORT"):
            text = row.get("description")
            if not isinstance(text, str) or not text:
                continue
            found = [match for match in names.finditer(text.lower()) if by_name[match[0]] != name]
            far = {by_name[match[0]] for match in found}
            if len(far) != 1:
                continue
            device = far.pop()
            is_both = any(by_name[match[0]] == name for match in names.finditer(text.lower()))
            after, before = text[found[-1].end() :], "" if is_both else text[: found[0].start()]
            if far_port := _first_port(after, ports[device]) or _first_port(before, ports[device]):
                yield (name, port), (device, far_port)
            elif not _SEPARATOR.sub("", after):
                without_port[name, device].append(port)
    for (name, device), own in without_port.items():
        others = without_port.get((device, name), [])
        if name < device and len(own) == len(others) == 1:
            yield (name, own[0]), (device, others[0])


def _port_names(table: TableReader) -> dict[str, str]:
    """Name or alias in small letters -> port."""
    found: dict[str, str] = {}
    for port, row in rows_of(table, "PORT"):
        alias = row.get("alias")
        if isinstance(alias, str) and alias:
            found.setdefault(alias.lower(), port)
            if number := _PORT_WORD.fullmatch(alias):
                found.setdefault(number[1], port)
    return found | {port.lower(): port for port, _ in rows_of(table, "PORT")}


def _first_port(text: str, ports: Mapping[str, str]) -> str:
    """The first word of a text, or the first two together, that is a port; "" without one."""
    words = [word for word in _SEPARATOR.split(text.lower()) if word]
    for word in (*words, *_joined(words)):
        number = _PORT_WORD.fullmatch(word)
        for name in (word, f"ethernet{number[1]}" if number else "", number[1] if number and "/" in word else ""):
            if name in ports and not name.isdigit():
                return ports[name]
    return ""


def _joined(words: Sequence[str]) -> Iterator[str]:
    return (one + other for one, other in pairwise(words))
