"""Pairs of ports as links: those of a links file, and of any other source."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.sonic.device_types import OUTSIDE_TYPE, ROLES, SERVER_TYPE
from fabricgen.sonic.tables import Row
from fabricgen.vocabulary import LinkKind

_log = logging.getLogger(__name__)

TableReader = Callable[[str], Mapping[str, Row]]


def from_links_file(
    file: Path, text: bytes, devices: Mapping[str, TableReader], planned: Sequence[WiredLink] = ()
) -> tuple[WiredLink, ...]:
    """The links of a file with [["leaf1|Ethernet0", "spine1|Ethernet4"], …].

    Raises UnreadableInputError if the file has another form, if none of its links has an end at one of `devices`, or
    if it has no link in place of `planned` ones.
    """
    try:
        pairs = _pairs(orjson.loads(text))
    except ValueError as error:
        problem = f'not a links file ([["leaf1|Ethernet0", "spine1|Ethernet4"], …]): {getattr(error, "msg", error)}'
        place = (error.lineno, error.colno) if isinstance(error, orjson.JSONDecodeError) else (1, 1)
        raise UnreadableInputError(problem, Location(str(file), *place)) from error
    if planned and not pairs:
        raise UnreadableInputError("the file has no links, and it replaces those of fabric.json", Location(str(file)))
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
        found[pair] = known.get(pair) or link_of(a, b, kind_of(devices[b[0]], a[0]) if outside else LinkKind.PEER)
    return tuple(found.values())


def kind_of(table: TableReader, neighbor: str) -> LinkKind:
    """The kind of the link to a neighbor without a file."""
    metadata = dict(rows_of(table, "DEVICE_NEIGHBOR_METADATA")).get(neighbor, {})
    if metadata.get("type") == OUTSIDE_TYPE:
        return LinkKind.EXTERNAL
    if metadata.get("type") == SERVER_TYPE:  # a host may speak BGP
        return LinkKind.HOST_LEAF
    is_switch = metadata.get("type") in ROLES or _is_bgp_peer(table, neighbor)
    return LinkKind.PEER if is_switch else LinkKind.HOST_LEAF


def rows_of(table: TableReader, name: str) -> Iterable[tuple[str, Row]]:
    """The members of a table that are rows. The schema rules report the others."""
    return ((key, row) for key, row in table(name).items() if isinstance(row, dict))


def _is_bgp_peer(table: TableReader, neighbor: str) -> bool:
    return any(row.get("name") == neighbor for _, row in rows_of(table, "BGP_NEIGHBOR"))


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


def link_of(a: Endpoint, b: Endpoint, kind: LinkKind = LinkKind.PEER) -> WiredLink:
    """A link that no plan names."""
    name = "--".join(":".join(end) for end in (a, b))
    return WiredLink(id=name, plane="", kind=kind, a=a, b=b, speed_mbps=0, cable="")
