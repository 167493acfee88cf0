"""The links of a fabric without fabric.json: from a links file, the names of neighbors, or the addresses of BGP."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import ip_interface
from pathlib import Path

import orjson

from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.sonic.device_types import OUTSIDE_TYPE, ROLES, SERVER_TYPE
from fabricgen.sonic.tables import Row, split_key
from fabricgen.vocabulary import LinkKind

_log = logging.getLogger(__name__)

TableReader = Callable[[str], Mapping[str, Row]]


def from_links_file(
    file: Path, text: bytes, devices: Mapping[str, TableReader], planned: Sequence[WiredLink] = ()
) -> tuple[WiredLink, ...]:
    """The links of a file with [["leaf1|Ethernet0", "spine1|Ethernet4"], …].

    Raises UnreadableInputError if the file has another form, or if none of its links has an end at one of `devices`.
    """
    try:
        pairs = _pairs(orjson.loads(text))
    except ValueError as error:
        problem = f'not a links file ([["leaf1|Ethernet0", "spine1|Ethernet4"], …]): {error}'
        raise UnreadableInputError(problem, Location(str(file))) from error
    unknown = sum(a[0] not in devices and b[0] not in devices for a, b in pairs)
    if unknown and unknown == len(pairs):
        raise UnreadableInputError("none of its links has an end at one of the given switches", Location(str(file)))
    if unknown:
        _log.warning("%s: %d of %d links do not have an end at one of the given switches", file, unknown, len(pairs))
    return from_pairs(pairs, devices, planned)


def from_pairs(
    pairs: Iterable[tuple[Endpoint, Endpoint]],
    devices: Mapping[str, TableReader],
    planned: Sequence[WiredLink] = (),
) -> tuple[WiredLink, ...]:
    """The links of pairs of ports. A pair that `planned` has is the planned link, with its length and its rail."""
    known = {frozenset((link.a, link.b)): link for link in planned}
    found: dict[frozenset[Endpoint], WiredLink] = {}
    for a, b in pairs:
        if a[0] in devices and b[0] not in devices:
            a, b = b, a
        outside = a[0] not in devices and b[0] in devices
        pair = frozenset((a, b))
        found[pair] = known.get(pair) or _link(a, b, _kind(devices[b[0]], a[0]) if outside else LinkKind.PEER)
    return tuple(found.values())


def from_tables(devices: Mapping[str, TableReader]) -> tuple[tuple[WiredLink, ...], str]:
    """The links that the files define, and the table that defines them: DEVICE_NEIGHBOR, else BGP."""
    links = tuple(_from_neighbors(devices))
    return (links, "DEVICE_NEIGHBOR") if links else (tuple(_from_bgp(devices)), "BGP")


def _from_neighbors(devices: Mapping[str, TableReader]) -> Iterable[WiredLink]:
    seen: set[frozenset[Endpoint]] = set()
    for name, table in devices.items():
        for port, row in _rows(table, "DEVICE_NEIGHBOR"):
            far = (row.get("name"), row.get("port"))
            if not (isinstance(far[0], str) and isinstance(far[1], str)):
                continue
            if far[0] in devices:
                pair = frozenset({(name, port), (far[0], far[1])})
                if pair not in seen:
                    seen.add(pair)
                    yield _link((name, port), (far[0], far[1]))
            else:  # a server, or a switch whose file is not given
                kind = _kind(table, far[0])
                yield _link((far[0], far[1]), (name, port), kind)


def _kind(table: TableReader, neighbor: str) -> LinkKind:
    """The kind of the link to a neighbor without a file."""
    metadata = dict(_rows(table, "DEVICE_NEIGHBOR_METADATA")).get(neighbor, {})
    if metadata.get("type") == OUTSIDE_TYPE:
        return LinkKind.EXTERNAL
    if metadata.get("type") == SERVER_TYPE:  # a host may speak BGP
        return LinkKind.HOST_LEAF
    is_switch = metadata.get("type") in ROLES or _is_bgp_peer(table, neighbor)
    return LinkKind.PEER if is_switch else LinkKind.HOST_LEAF


def _rows(table: TableReader, name: str) -> Iterable[tuple[str, Row]]:
    """The members of a table that are rows. The schema rules report the others."""
    return ((key, row) for key, row in table(name).items() if isinstance(row, dict))


def _is_bgp_peer(table: TableReader, neighbor: str) -> bool:
    return any(row.get("name") == neighbor for _, row in _rows(table, "BGP_NEIGHBOR"))


def _from_bgp(devices: Mapping[str, TableReader]) -> Iterable[WiredLink]:
    """The links between routed ports whose addresses are each other's BGP peers."""
    owner: dict[str, Endpoint] = {}
    for name, table in devices.items():
        for key in table("INTERFACE"):
            port, *prefix = split_key(key)
            if prefix:
                owner[_address(prefix[0])] = (name, port)
    seen: set[frozenset[Endpoint]] = set()
    for name, table in devices.items():
        for key, row in _rows(table, "BGP_NEIGHBOR"):
            far, near = owner.get(split_key(key)[-1]), owner.get(str(row.get("local_addr", "")))
            if far and near and near[0] == name and frozenset({near, far}) not in seen:
                seen.add(frozenset({near, far}))
                yield _link(near, far)


def _address(prefix: str) -> str:
    try:
        return str(ip_interface(prefix).ip)
    except ValueError:
        return prefix


def _pairs(rows: object) -> list[tuple[Endpoint, Endpoint]]:
    if not isinstance(rows, list):
        raise ValueError("it is not a list")
    for row in rows:
        if not (isinstance(row, list) and len(row) == 2 and all(isinstance(end, str) for end in row)):
            raise ValueError(f"{orjson.dumps(row).decode()} is not a pair of ends")
    return [(_endpoint(a), _endpoint(b)) for a, b in rows]


def _endpoint(text: str) -> Endpoint:
    device, separator, port = text.partition("|")
    if not separator or not device or not port:
        raise ValueError(f"{text!r} is not DEVICE|PORT")
    return device, port


def _link(a: Endpoint, b: Endpoint, kind: LinkKind = LinkKind.PEER) -> WiredLink:
    name = "--".join(":".join(end) for end in (a, b))
    return WiredLink(id=name, plane="", kind=kind, a=a, b=b, speed_mbps=0, cable="")
