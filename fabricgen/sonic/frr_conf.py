"""frr.conf, bgpd.conf, zebra.conf and staticd.conf beside a config_db.json: sessions, addresses and static routes.

With docker_routing_config_mode split or split-unified nothing of BGP is made of CONFIG_DB (sonic-buildimage
dockers/docker-fpm-frr/docker_init.sh): these files have it. A line is a command of the node that the lines before it
entered; indentation says nothing, keywords can be shortened, and a command of the top node leaves a node (FRRouting
lib/command.c, command_config_read_one_line). Lines that say nothing of links are skipped.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from fabricgen.sonic.addresses import Address, parse_address

DEFAULT_VRF = "default"
_LEAST_LETTERS = 3  # of a shortened keyword
_ASN = re.compile(r"\d{1,10}|\d{1,5}\.\d{1,5}")


@dataclass(frozen=True)
class FrrPeer:
    """A neighbor of BGP. `name` is an address, or an interface with an unnumbered session.

    `asn` is a number, `external`, `internal`, or "" without remote-as, as `source` is without update-source.
    """

    name: str
    vrf: str
    asn: str = ""
    group: str = ""
    source: str = ""
    is_interface: bool = False
    is_shut: bool = False


@dataclass(frozen=True)
class FrrRoute:
    """A static route: to an address, an interface, or both; both are "" for a route that drops."""

    vrf: str
    prefix: str
    next_hop: str = ""
    interface: str = ""


@dataclass
class FrrConfig:
    """What the files of a switch say. `asns` is by VRF, `addresses` has (interface, VRF, address)."""

    asns: dict[str, str] = field(default_factory=dict)
    peers: list[FrrPeer] = field(default_factory=list)
    addresses: list[tuple[str, str, Address]] = field(default_factory=list)
    routes: list[FrrRoute] = field(default_factory=list)


def read_frr(text: str) -> FrrConfig:
    """The content of the files of one switch, one after the other."""
    reader = _Reader()
    for line in text.splitlines():
        words = line.split()
        if words and words[0][0] not in "!#":
            reader.read(words)
    return reader.result()


class _Reader:
    """`_node` is what the last lines entered: router bgp, interface, vrf, any other, or "" for the top."""

    def __init__(self) -> None:
        self._config = FrrConfig()
        self._node, self._vrf, self._interface = "", DEFAULT_VRF, ""
        self._peers: dict[tuple[str, str], FrrPeer] = {}
        self._groups: dict[tuple[str, str], FrrPeer] = {}

    def result(self) -> FrrConfig:
        """The configuration, in which neighbors have what their peer groups have."""
        for peer in self._peers.values():
            group = self._groups.get((peer.vrf, peer.group))
            if group:
                peer = replace(
                    peer,
                    asn=peer.asn or group.asn,
                    source=peer.source or group.source,
                    is_shut=peer.is_shut or group.is_shut,
                )
            self._config.peers.append(peer)
        return self._config

    def read(self, words: Sequence[str]) -> None:
        """One line."""
        is_no = words[0] == "no"
        words = words[1:] if is_no else words
        match words:
            case ["exit" | "end" | "quit", *_]:
                self._enter("")
            case ["exit-vrf", *_]:
                self._enter("")
            case [first, second, *rest] if _is(first, "router"):
                self._router(second, rest, is_no)
            case [first, name, *rest] if _is(first, "interface"):
                vrf = rest[1] if len(rest) > 1 and rest[0] == "vrf" else DEFAULT_VRF
                self._enter("interface", vrf, name)
            case ["vrf", name]:
                self._enter("vrf", name)
            case [first, name, *rest] if _is(first, "neighbor") and self._node == "router bgp" and (rest or is_no):
                self._neighbor(name, rest, is_no)
            case ["ip" | "ipv6", "address", text, *_] if self._node == "interface" and not is_no:
                if address := parse_address(text):
                    self._config.addresses.append((self._interface, self._vrf, address))
            case ["ip" | "ipv6", "route", *rest] if rest and not is_no:
                self._route(rest)

    def _enter(self, node: str, vrf: str = DEFAULT_VRF, interface: str = "") -> None:
        self._node, self._vrf, self._interface = node, vrf, interface

    def _router(self, protocol: str, rest: Sequence[str], is_no: bool) -> None:
        vrf = _after(rest, "vrf") or DEFAULT_VRF
        if protocol != "bgp" or is_no:
            self._enter("other" if not is_no else "")
            return
        self._enter("router bgp", vrf)
        if rest and _ASN.fullmatch(rest[0]):
            self._config.asns[vrf] = rest[0]

    def _neighbor(self, name: str, rest: Sequence[str], is_no: bool) -> None:
        key = self._vrf, name
        if not rest:
            self._peers.pop(key, None)
            return
        if len(rest) == 1 and _is(rest[0], "peer-group"):
            if is_no:
                self._groups.pop(key, None)
            else:
                self._groups.setdefault(key, FrrPeer(name, self._vrf))
            return
        of = self._groups if key in self._groups else self._peers
        known = of.get(key, FrrPeer(name, self._vrf))
        word, *values = rest
        if is_no and (_is(word, "remote-as") or _is(word, "interface")):
            of.pop(key, None)
            return
        if _is(word, "interface"):
            values = [value for value in values if value != "v6only"]
            known = replace(known, is_interface=True)
            word, *values = values or ["interface"]
        value = values[0] if values and not is_no else ""
        if _is(word, "remote-as", 5):
            known = replace(known, asn=value)
        elif _is(word, "peer-group"):
            known = replace(known, group=value)
        elif _is(word, "update-source"):
            known = replace(known, source=value)
        elif _is(word, "shutdown"):
            known = replace(known, is_shut=not is_no)
        elif not _is(word, "interface") and key not in of:
            return  # FRR refuses other settings of a neighbor that does not exist
        of[key] = known

    def _route(self, rest: Sequence[str]) -> None:
        vrf = _after(rest, "vrf") or (self._vrf if self._node == "vrf" else DEFAULT_VRF)
        prefix, *hops = rest
        if hops and re.fullmatch(r"[\d.]+", hops[0]) and "/" not in prefix and "." in prefix:
            hops = hops[1:]  # the mask of the older form
        if not hops or parse_address(prefix) is None:
            return
        next_hop = hops[0] if "/" not in hops[0] and parse_address(hops[0]) else ""
        interface = hops[0] if not next_hop else hops[1] if len(hops) > 1 and _is_port(hops[1]) else ""
        if interface in ("Null0", "blackhole", "reject"):
            interface = ""
        self._config.routes.append(FrrRoute(vrf, prefix, next_hop, interface))


def _is(word: str, keyword: str, least: int = _LEAST_LETTERS) -> bool:
    """Whether a word is a keyword or the start of it."""
    return word == keyword or (len(word) >= least and keyword.startswith(word))


def _after(words: Sequence[str], keyword: str) -> str:
    """The word after a keyword; "" without it."""
    return next((value for word, value in pairwise(words) if word == keyword), "")


def _is_port(word: str) -> bool:
    return not word.isdigit() and word not in ("tag", "vrf", "nexthop-vrf", "label", "table", "onlink", "bfd", "color")
