"""Whether route maps and prefix lists of the management framework permit a prefix: ROUTE_MAP, PREFIX_SET and PREFIX as
frrcfgd reads them (sonic-buildimage src/sonic-frr-mgmt-framework/templates/bgpd/bgpd.conf.db.{route_map,pref_list}.j2).

Only conditions on the prefix are evaluated. An entry with another condition may match or not. It counts as a match if
it permits, and as no match if it denies, so the result is never "denied" for a prefix that can pass.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from fabricgen.engine.derived import derived
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.tables import ConfigDb, Row
from fabricgen.units import whole_number

TABLES = ("ROUTE_MAP", "PREFIX_SET", "PREFIX")
_MODES = {4: "IPv4", 6: "IPv6"}
_EVERYTHING = (("0.0.0.0/0", "0..32"), ("::/0", "0..128"))


class RouteFilter(NamedTuple):
    """What filters the routes of one family in one direction. All route maps and prefix lists must permit a route."""

    maps: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()


class DeniedPrefix(NamedTuple):
    """Why a filter denies a prefix, and the (table, key) of the row."""

    reason: str
    row: tuple[str, str]


class _Range(NamedTuple):
    """A row of PREFIX: the prefixes inside `network` with a length from `first` to `last`."""

    network: Address
    first: int
    last: int
    permits: bool


class Policies:
    """The route maps and prefix sets of a switch."""

    def __init__(self, config: ConfigDb) -> None:
        self._config = config

    def permits(self, one: RouteFilter, prefix: Address) -> bool:
        """Whether a prefix passes."""
        return self.blocked(one, prefix) is None

    def blocked(self, one: RouteFilter, prefix: Address) -> DeniedPrefix | None:
        """Why a prefix does not pass; None if it passes. A map or list ends with deny, also one without entries."""
        for name in one.maps:
            reason = self._denied_by_map(name, prefix)
            if reason is not None:
                return reason
        for name in one.lists:
            if name not in self._sets:
                return DeniedPrefix(f"prefix list {name} is not defined", ("PREFIX_SET", name))
            if not self._contains(name, prefix):
                return DeniedPrefix(f"prefix list {name} denies it", ("PREFIX_SET", name))
        return None

    def is_open(self, one: RouteFilter) -> bool:
        """Whether every map has an entry that permits all prefixes, no entry before it can deny, and no list filters.

        False means only that prefixes must be evaluated one by one.
        """
        return bool(one.maps) and not one.lists and all(self._is_open(name) for name in one.maps)

    def has_open_entry(self, maps: Sequence[str]) -> bool:
        """Whether every map has an entry that permits all prefixes."""
        return bool(maps) and all(any(self._permits_all(row) for _, row in self._entries(name)) for name in maps)

    def _is_open(self, name: str) -> bool:
        for _, row in self._entries(name):
            if row.get("route_operation") != "permit":
                return False
            if self._permits_all(row):
                return True
        return False

    def _permits_all(self, row: Row) -> bool:
        if row.get("route_operation") != "permit":
            return False
        if not any(field.startswith("match_") for field in row):
            return True
        ranges = (key[-2:] for key, _ in _rows(self._config, "PREFIX") if key[0] == row.get("match_prefix_set"))
        return any(one in _EVERYTHING for one in ranges)

    def _denied_by_map(self, name: str, prefix: Address) -> DeniedPrefix | None:
        last = ("ROUTE_MAP_SET", name)
        for number, row in self._entries(name):
            last = ("ROUTE_MAP", f"{name}|{number}")
            permits = row.get("route_operation") == "permit"
            conditions = [field for field in row if field.startswith("match_")]
            known = conditions == ["match_prefix_set"]
            matches = self._matches(str(row.get("match_prefix_set", "")), prefix) if known else permits
            if not conditions or matches:
                return None if permits else DeniedPrefix(f"route map {name} denies it", last)
        if last[0] == "ROUTE_MAP_SET":
            return DeniedPrefix(f"route map {name} has no entry, so it denies every route", last)
        return DeniedPrefix(f"no entry of route map {name} permits it", last)

    def _entries(self, name: str) -> list[tuple[int, Row]]:
        """(number, row) of the entries of a route map, in their order."""
        return self._maps.get(name, [])

    @derived
    def _maps(self) -> dict[str, list[tuple[int, Row]]]:
        found: dict[str, list[tuple[int, Row]]] = defaultdict(list)
        for key, row in _rows(self._config, "ROUTE_MAP"):
            number = whole_number(key[1]) if len(key) == 2 else None
            if number is not None:
                found[key[0]].append((number, row))
        return {name: sorted(entries, key=lambda entry: entry[0]) for name, entries in found.items()}

    @derived
    def _sets(self) -> dict[str, Row]:
        return {key[0]: row for key, row in _rows(self._config, "PREFIX_SET") if len(key) == 1}

    @derived
    def _ranges(self) -> dict[str, list[_Range]]:
        """The rows of each prefix set; FRR keeps the order of the file."""
        found: dict[str, list[_Range]] = defaultdict(list)
        for key, row in _rows(self._config, "PREFIX"):
            network = parse_address(key[-2]) if len(key) >= 3 else None
            lengths = _lengths(key[-1], network) if network else None
            if network and lengths:
                found[key[0]].append(_Range(network, *lengths, row.get("action", "permit") == "permit"))
        return dict(found)

    def _matches(self, name: str, prefix: Address) -> bool:
        """Whether a condition on a prefix set holds; frrcfgd does not write a condition on a set that is missing."""
        return name not in self._sets or self._contains(name, prefix)

    def _contains(self, name: str, prefix: Address) -> bool:
        """Whether a prefix set contains the prefix. The first match decides."""
        if self._sets[name].get("mode", _MODES[4]) != _MODES[prefix.version]:
            return False
        for one in self._ranges.get(name, ()):
            if one.first <= prefix.length <= one.last and one.network.covers(prefix):
                return one.permits
        return False


def passes(config: ConfigDb, maps: Sequence[str], prefix: Address) -> bool:
    """Whether all route maps permit the prefix. Each map ends with deny, also a map without entries."""
    return Policies(config).permits(RouteFilter(tuple(maps)), prefix)


def longest_wider(config: ConfigDb, maps: Sequence[str], prefix: Address) -> int | None:
    """The length of the longest permitted prefix that is wider than this one and contains it; None if none is."""
    ends = {prefix.length - 1}  # the result changes only where an entry begins or ends
    for key, _ in _rows(config, "PREFIX"):
        network = parse_address(key[-2]) if len(key) >= 3 else None
        if network and network.covers(prefix):
            least, most = map(whole_number, key[-1].partition("..")[::2])
            ends |= {network.length, network.length - 1}
            ends |= {least - 1, most} if least is not None and most is not None else set()
    lengths = sorted((one for one in ends if 0 <= one < prefix.length), reverse=True)
    policies, chosen = Policies(config), RouteFilter(tuple(maps))
    return next((one for one in lengths if policies.permits(chosen, prefix.widened(one))), None)


def is_open(config: ConfigDb, maps: Sequence[str]) -> bool:
    """Whether every map has an entry that permits all prefixes."""
    return Policies(config).has_open_entry(maps)


def _lengths(text: str, network: Address) -> tuple[int, int] | None:
    if text == "exact":
        return network.length, network.length
    first, last = map(whole_number, text.partition("..")[::2])
    return None if first is None or last is None else (first, last)


def _rows(config: ConfigDb, table: str) -> list[tuple[tuple[str, ...], Row]]:
    found = config.get(table)
    rows = found.items() if isinstance(found, dict) else ()
    return [(tuple(key.split("|")), row) for key, row in rows if isinstance(row, dict)]
