"""Find rows that differ from those of their peers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TypeVar

import orjson

from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.secrets import is_secret

NO_FIELDS: frozenset[str] = frozenset()
# Fields that differ from switch to switch, or from port to port, by their nature.
OWN_FIELDS = {
    "DEVICE_METADATA": frozenset({"hostname", "mac", "bgp_asn", "bgp_router_id", "chassis_serial_number"}),
    "SNMP": frozenset({"Location"}),
    "PORT": frozenset({"lanes", "alias", "index", "subport", "description", "speed", "dhcp_rate_limit"}),
    "BGP_GLOBALS": frozenset({"local_asn", "router_id"}),
    "BGP_NEIGHBOR": frozenset({"asn", "name", "local_addr"}),
    "DEVICE_NEIGHBOR_METADATA": frozenset({"lo_addr", "mgmt_addr", "hwsku", "deployment_id"}),
    "STATIC_ROUTE": frozenset({"nexthop", "ifname"}),
}
_ABSENT = None


@dataclass(frozen=True, slots=True)
class Deviation:
    """A value that differs from that of most peers; `usual` is None if they do not have it."""

    key: str
    field: str
    value: object
    usual: object


def _usual(values: Iterable[object], least: int) -> tuple[bool, object]:
    """(True, the value) that more than half of at least `least` peers share; lists count by their content.

    With `least` 2 any difference is a fault, so the most frequent or first value is enough.
    """
    counts = Counter(orjson.dumps(value) for value in values)
    top, count = counts.most_common(1)[0]
    total = counts.total()
    return total >= least and (2 * count > total or least == 2), orjson.loads(top)


def deviating_rows(
    tables: Sequence[Mapping[str, object]], skip: frozenset[str], least: int
) -> Iterator[tuple[int, Deviation]]:
    """(index of the peer, its deviation) over peers that should all have the same rows."""
    for key in dict.fromkeys(key for table in tables for key in table):
        rows = [table.get(key) for table in tables]
        has_majority, usual_row = _usual([isinstance(row, dict) for row in rows], least)
        if not has_majority:
            continue
        for index, row in enumerate(rows):
            if isinstance(row, dict) is not usual_row:
                yield (
                    index,
                    Deviation(
                        key, "", "present" if usual_row is False else _ABSENT, "present" if usual_row else _ABSENT
                    ),
                )
        if usual_row:
            yield from deviating_fields(key, rows, skip, least)


def differing_pair(tables: Sequence[Mapping[str, object]], skip: frozenset[str]) -> Iterator[tuple[int, Deviation]]:
    """The same for two peers: it is unknown which one is right, so each difference is reported for both."""
    for index, (own, other) in enumerate((tables, tables[::-1])):
        for key in dict.fromkeys((*own, *other)):
            mine, theirs = own.get(key), other.get(key)
            if isinstance(mine, dict) is not isinstance(theirs, dict):
                here = isinstance(mine, dict)
                yield index, Deviation(key, "", "present" if here else _ABSENT, _ABSENT if here else "present")
            elif isinstance(mine, dict) and isinstance(theirs, dict):
                for field in dict.fromkeys((*mine, *theirs)):
                    if field and field not in skip and mine.get(field) != theirs.get(field):
                        yield index, Deviation(key, field, mine.get(field), theirs.get(field))


def deviating_fields(
    key: str, rows: Sequence[object], skip: frozenset[str], least: int
) -> Iterator[tuple[int, Deviation]]:
    present = [row for row in rows if isinstance(row, dict)]
    shapes = dict.fromkeys(map(tuple, present))
    for field in dict.fromkeys(field for names in shapes for field in names if field and field not in skip):
        values = [*map(dict.get, present, repeat(field))]
        if len(set(values)) == 1:
            continue
        has_majority, usual = _usual(values, least)
        for index, row in enumerate(rows) if has_majority else ():
            if isinstance(row, dict) and row.get(field) != usual:
                yield index, Deviation(key, field, row.get(field), usual)


@dataclass(frozen=True, slots=True)
class PeerDeviation:
    """A deviation at its place, and the place of the usual value at a peer."""

    switch: Switch
    odd: Deviation
    place: Place
    example: Place

    @property
    def deviation(self) -> tuple[str, str, str, str]:
        """The field and its value: equal on switches that deviate in the same way."""
        return (self.place.table, self.odd.key, self.odd.field, repr(self.odd.value))


def deviation_defects(candidates: Iterable[PeerDeviation], switches: Iterable[Switch], peers: str) -> Iterator[Defect]:
    """Defects for deviations, except where exactly the switches of a rail, SU or pod deviate in the same way: that is
    intended."""
    found = list(candidates)
    deviants: dict[tuple[str, str, str, str], set[Switch]] = defaultdict(set)
    for one in found:
        deviants[one.deviation].add(one.switch)
    variants = _groups_of_peers(switches) if found else set()
    for one in found:
        if frozenset(deviants[one.deviation]) not in variants:
            yield _defect(one, peers)


def _groups_of_peers(switches: Iterable[Switch]) -> set[frozenset[Switch]]:
    """The sets of at least two switches that share a rail, an SU or a pod."""
    members: dict[tuple[str, int], set[Switch]] = defaultdict(set)
    for switch in switches:
        for trait in ("rail", "su", "pod"):
            value = getattr(switch.device.wired, trait, None)
            if value is not None:
                members[trait, value].add(switch)
    return {frozenset(group) for group in members.values() if len(group) > 1}


def _defect(one: PeerDeviation, peers: str) -> Defect:
    odd, related = one.odd, ((f"one of {peers}", one.example),)
    if not odd.field:
        is_missing = odd.value is _ABSENT
        message = f"the row is missing, but {peers} have it" if is_missing else f"{peers} do not have this row"
        return Defect(one.place, message, "add the row" if is_missing else "remove the row", related)
    if is_secret(one.place.table, one.place.field):
        return Defect(
            one.place,
            f"{odd.field} differs from that of {peers} (the values may be secrets)",
            f"compare {odd.field} with the other switches",
            related,
        )
    found, usual = (str("not set" if value is _ABSENT else value) for value in (odd.value, odd.usual))
    hint = f"remove {odd.field}" if odd.usual is _ABSENT else f"set {odd.field} to {usual}"
    return Defect(one.place, f"{odd.field} is {found}, but {peers} have {usual}", hint, related)


def has_usual(table: Mapping[str, object], odd: Deviation) -> bool:
    row = table.get(odd.key)
    if not odd.field:
        return isinstance(row, dict) == (odd.usual is not _ABSENT)
    return isinstance(row, dict) and row.get(odd.field) == odd.usual


def plural(role: str) -> str:
    return {"leaf": "leaves", "": "switches"}.get(role, f"{role}s")


_Key = TypeVar("_Key", bound=tuple[object, ...])


def groups(fabric: Fabric, key: Callable[[Switch], _Key]) -> Iterator[tuple[_Key, list[Switch]]]:
    found: dict[_Key, list[Switch]] = defaultdict(list)
    for switch in fabric.switches.values():
        found[key(switch)].append(switch)
    return ((name, switches) for name, switches in found.items() if len(switches) > 1)
