"""Whether a route map of the management framework permits a prefix: ROUTE_MAP, PREFIX_SET and PREFIX as frrcfgd reads
them (sonic-buildimage src/sonic-frr-mgmt-framework/templates/bgpd/bgpd.conf.db.{route_map,pref_list}.j2).

Only conditions on the prefix are evaluated. An entry with another condition may match or not. It counts as a match if
it permits, and as no match if it denies, so the result is never "denied" for a prefix that can pass.
"""

from collections.abc import Sequence

from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.tables import ConfigDb, Row

_MODES = {4: "IPv4", 6: "IPv6"}


def passes(config: ConfigDb, maps: Sequence[str], prefix: Address) -> bool:
    """Whether all route maps permit the prefix. Each map ends with deny, also a map without entries."""
    return all(_passes(config, name, prefix) for name in maps)


def longest_wider(config: ConfigDb, maps: Sequence[str], prefix: Address) -> int | None:
    """The length of the longest permitted prefix that is wider than this one and contains it; None if none is."""
    ends = {prefix.length - 1}  # the result changes only where an entry begins or ends
    for key, _ in _rows(config, "PREFIX"):
        network = parse_address(key[-2]) if len(key) >= 3 else None
        if network and network.covers(prefix):
            first, _, last = key[-1].partition("..")
            ends |= {network.length, network.length - 1}
            ends |= {int(first) - 1, int(last)} if first.isdecimal() and last.isdecimal() else set()
    lengths = sorted((one for one in ends if 0 <= one < prefix.length), reverse=True)
    return next((one for one in lengths if passes(config, maps, prefix.widened(one))), None)


def is_open(config: ConfigDb, maps: Sequence[str]) -> bool:
    """Whether every map has an entry that permits all prefixes."""
    return bool(maps) and all(any(_permits_all(config, row) for row in _entries(config, name)) for name in maps)


def _permits_all(config: ConfigDb, row: Row) -> bool:
    if row.get("route_operation") != "permit":
        return False
    if not any(field.startswith("match_") for field in row):
        return True
    ranges = (key[-2:] for key, _ in _rows(config, "PREFIX") if key[0] == row.get("match_prefix_set"))
    return any(one in (("0.0.0.0/0", "0..32"), ("::/0", "0..128")) for one in ranges)


def _passes(config: ConfigDb, name: str, prefix: Address) -> bool:
    for row in _entries(config, name):
        permits = row.get("route_operation") == "permit"
        conditions = [field for field in row if field.startswith("match_")]
        known = conditions == ["match_prefix_set"]
        matches = _matches(config, str(row.get("match_prefix_set", "")), prefix) if known else permits
        if not conditions or matches:
            return permits
    return False


def _entries(config: ConfigDb, name: str) -> list[Row]:
    """The entries of a route map in the order of their numbers."""
    found = _rows(config, "ROUTE_MAP")
    entries = {int(key[1]): row for key, row in found if len(key) == 2 and key[0] == name and key[1].isdecimal()}
    return [entries[number] for number in sorted(entries)]


def _matches(config: ConfigDb, name: str, prefix: Address) -> bool:
    """Whether a prefix set contains the prefix. The first match decides; FRR keeps the order of the file."""
    prefix_set = dict(_rows(config, "PREFIX_SET")).get((name,))
    if prefix_set is None:
        return True  # frrcfgd does not write the condition
    if prefix_set.get("mode", _MODES[4]) != _MODES[prefix.version]:
        return False
    for key, row in _rows(config, "PREFIX"):
        if key[0] == name and len(key) >= 3 and _covers(key[-2], key[-1], prefix):
            return row.get("action", "permit") == "permit"
    return False


def _covers(text: str, lengths: str, prefix: Address) -> bool:
    network = parse_address(text)
    if network is None or not network.covers(prefix):
        return False
    if lengths == "exact":
        return network.length == prefix.length
    first, _, last = lengths.partition("..")
    return first.isdecimal() and last.isdecimal() and int(first) <= prefix.length <= int(last)


def _rows(config: ConfigDb, table: str) -> list[tuple[tuple[str, ...], Row]]:
    found = config.get(table)
    rows = found.items() if isinstance(found, dict) else ()
    return [(tuple(key.split("|")), row) for key, row in rows if isinstance(row, dict)]
