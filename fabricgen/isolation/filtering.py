"""What ACLs do with the packets between two addresses: whether any of them passes, and which rule decides.

Source: sonic-swss orchagent/aclorch.cpp: the rule with the highest PRIORITY that matches decides; a packet that no rule
matches passes. Which of two rules with one priority decides is not defined, so a packet passes here if it passes in any
order of them, and RoCE is dropped if it is dropped in any. Each table that is bound to a port decides for itself.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from fabricgen.sonic.acl import AclTable, Packet, is_drop, priority_of
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import text
from fabricgen.sonic.tables import Row

_UDP, _ROCE_PORT = 17, 4791
_SOURCES, _TARGETS = ("SRC_IP", "SRC_IPV6"), ("DST_IP", "DST_IPV6")
_TELLS_NOTHING = frozenset({"PRIORITY", "PACKET_ACTION", "RULE_DESCRIPTION", *_SOURCES, *_TARGETS})
_PROTOCOLS, _PORTS, _DSCPS = range(256), range(1 << 16), range(64)

Prefixes = tuple[Address | None, ...]  # None: not a prefix, so no address matches


class PacketRule(NamedTuple):
    """What a rule does: the prefixes of its addresses, whether it drops, and its conditions on other fields."""

    priority: int
    sources: Prefixes
    targets: Prefixes
    drops: bool
    others: tuple[tuple[str, str], ...]


class Decision(NamedTuple):
    """Whether packets pass a table, and the index of the rule that decides; None if no rule does. `depends`: it is not
    the same for all packets between the two addresses."""

    passes: bool
    rule: int | None
    depends: bool = False


class PacketFilter:
    """The effect of a table, and of all tables with equal rules."""

    def __init__(self, table: AclTable) -> None:
        self.version = table.version
        self._keys = {key: index for index, (key, _) in enumerate(table.rules)}
        self.rules = [_rule(row) for _, row in table.rules]
        self._lenient, self._strict = (_ordered(table, drops_first=drops_first) for drops_first in (False, True))
        self._by_target = _Lookup([rule.targets for rule in self.rules])

    @property
    def sources(self) -> set[Address]:
        """The prefixes of its rules that a packet may come from."""
        return {one for rule in self.rules for one in rule.sources if one is not None}

    def as_targets(self, addresses: "SortedAddresses") -> list[int]:
        """For each address a number of what the rules may do with packets to it, which is all that the table
        distinguishes."""
        if self.version not in (None, addresses.version):
            return [0] * len(addresses.numbers)
        numbers: dict[Hashable, int] = {}
        of_rules: dict[tuple[int, ...], int] = {}
        covering = addresses.covered((index, rule.targets) for index, rule in enumerate(self.rules))
        for found in covering:
            if found not in of_rules:
                effect = self._effect([self.rules[index] for index in found])
                of_rules[found] = numbers.setdefault(effect, len(numbers))
        return [of_rules[found] for found in covering]

    def _effect(self, found: Sequence[PacketRule]) -> Hashable:
        """What these rules do, apart from the addresses that packets go to."""
        final = next((one.priority for one in found if not one.sources and not one.others), None)
        seen = dict.fromkeys(one._replace(targets=()) for one in found if final is None or one.priority >= final)
        ranks = sorted({one.priority for one in seen})
        return tuple(one._replace(priority=ranks.index(one.priority)) for one in seen)

    def applies(self, address: Address) -> bool:
        """Whether its type has the IP version of an address."""
        return self.version in (None, address.version)

    def matching(self, source: Address, target: Address) -> list[int]:
        """The indices of the rules that packets between two addresses can match."""
        if not self.applies(target):
            return []
        return [
            index
            for index in self._by_target.covering(target)
            if all(one is not None and one.covers(source) for one in self.rules[index].sources)
        ]

    def decides(self, matching: Sequence[int]) -> Decision:
        """Whether packets pass that these rules can match. It depends on the packet if a rule with a condition on other
        fields comes first."""
        for place, index in enumerate(matching):
            rule = self.rules[index]
            if rule.others:
                return Decision(True, index, depends=True)
            ties = [each for each in matching[place:] if self.rules[each].priority == rule.priority]
            if any(self.rules[each].others for each in ties):
                return Decision(True, index, depends=True)
            passing = next((each for each in ties if not self.rules[each].drops), None)
            return Decision(passing is not None, index if passing is None else passing)
        return Decision(True, None)

    def drops(self, packet: Packet) -> bool:
        """Whether it drops a packet in every order of rules with one priority."""
        return self.version in (None, packet.version) and self._lenient.dropping(packet) is not None

    def drops_roce(self, source: Address, target: Address, dscps: Iterable[int | None]) -> int | None:
        """The index of the rule that drops RoCE packets of one of these DSCP values; None if all pass."""
        for dscp in dscps if self.applies(target) else ():
            packet = Packet(source.version, _UDP, None, _ROCE_PORT, source, target, dscp)
            key = self._strict.dropping(packet)
            if key is not None:
                return self._keys[key]
        return None


def any_passes(filters: Sequence[PacketFilter], source: Address, target: Address) -> list[Decision] | None:
    """What each filter decides if a packet between two addresses passes all of them; None if none does."""
    matching = [each.matching(source, target) for each in filters]
    decisions = [each.decides(found) for each, found in zip(filters, matching, strict=True)]
    if not all(one.passes for one in decisions):
        return None
    if any(one.depends for one in decisions):
        rules = [each.rules[index] for each, found in zip(filters, matching, strict=True) for index in found]
        packets = _packets(rules, source, target)
        if not any(all(not each.drops(packet) for each in filters) for packet in packets):
            return None
    return decisions


def content_of(table: AclTable) -> Hashable:
    """What tables with the same effect have in common: all but their names and ports."""
    start = len(table.name) + 1
    rules: tuple[Hashable, ...] = tuple([(key[start:], *row.items()) for key, row in table.rules])
    try:
        hash(rules)
    except TypeError:  # a value that is a list
        rules = tuple([(key[start:], str(row)) for key, row in table.rules])
    return table.version, rules


class SortedAddresses:
    """Addresses of one IP version by their numbers, so that those in a prefix are neighbors."""

    def __init__(self, version: int, numbers: Sequence[int]) -> None:
        self.version, self.numbers = version, numbers

    def covered(self, prefixes: Iterable[tuple[int, Prefixes]]) -> list[tuple[int, ...]]:
        """For each address, the indices of the rules whose prefixes all cover it; `prefixes` are (index, those of the
        rule). Prefixes are nested or disjoint: by increasing length, one always finds its addresses alike."""
        by_prefix: dict[Address, list[int]] = {}
        always: list[int] = []
        for index, own in prefixes:
            if not own:
                always.append(index)
            elif len(own) == 1 and own[0] is not None and own[0].version == self.version:
                by_prefix.setdefault(own[0].network, []).append(index)
        found: list[tuple[int, ...]] = [tuple(always)] * len(self.numbers)
        for prefix in sorted(by_prefix, key=lambda one: one.length):
            start, end = bisect_left(self.numbers, prefix.number), bisect_right(self.numbers, prefix.last)
            if start < end:
                found[start:end] = [tuple(sorted((*found[start], *by_prefix[prefix])))] * (end - start)
        return found


class _Lookup:
    """The rules whose prefixes cover an address, by tables of prefixes of each length."""

    def __init__(self, of_rules: Sequence[Prefixes]) -> None:
        self._always: list[int] = []
        self._by_prefix: dict[Address, list[int]] = {}
        for index, prefixes in enumerate(of_rules):
            if not prefixes:
                self._always.append(index)
            elif len(prefixes) == 1 and (prefix := prefixes[0]):  # no address has two versions
                self._by_prefix.setdefault(prefix.network, []).append(index)
        self._lengths = sorted({(prefix.version, prefix.length) for prefix in self._by_prefix})

    def covering(self, address: Address) -> list[int]:
        """Their indices, in order."""
        found = list(self._always)
        for version, length in self._lengths:
            if version == address.version:
                found += self._by_prefix.get(address.widened(length), ())
        return sorted(found)


def _packets(rules: Sequence[PacketRule], source: Address, target: Address) -> Iterator[Packet]:
    """A packet for each way in which the conditions of rules can hold together."""
    given: dict[str, list[str]] = {}
    for name, content in (condition for rule in rules for condition in rule.others):
        given.setdefault(name, []).append(content)

    def values(allowed: range, *names: str, of: Callable[[str], Iterable[int]]) -> list[int]:
        """Values at which the result of a condition changes, and the first one that no condition names."""
        found = {value for name in names for content in given.get(name, ()) for value in of(content)}
        return sorted(
            {value for value in found if value in allowed} | {next(one for one in allowed if one not in found)}
        )

    protocols = values(_PROTOCOLS, "IP_PROTOCOL", "NEXT_HEADER", of=_numbers)
    ends = [values(_PORTS, f"L4_{end}_PORT", f"L4_{end}_PORT_RANGE", of=_bounds) for end in ("SRC", "DST")]
    dscps = list(_DSCPS) if "DSCP" in given else [0]
    for protocol, source_port, target_port, dscp in product(protocols, *ends, dscps):
        yield Packet(source.version, protocol, source_port, target_port, source, target, dscp)


def _numbers(content: str) -> Iterator[int]:
    for part in content.split("-"):
        try:
            yield int(part, 0)
        except ValueError:
            continue


def _bounds(content: str) -> Iterator[int]:
    """The values where a range begins, and where it has ended."""
    numbers = list(_numbers(content))
    yield from numbers[:1]
    yield from (number + 1 for number in numbers[-1:])


def _ordered(table: AclTable, *, drops_first: bool) -> AclTable:
    """The table with rules of one priority in this order."""
    return table._replace(
        rules=tuple(sorted(table.rules, key=lambda rule: (-priority_of(rule[1]), is_drop(rule[1]) != drops_first)))
    )


def _rule(row: Row) -> PacketRule:
    sources, targets = (tuple(_prefixes(row, names)) for names in (_SOURCES, _TARGETS))
    others = tuple(sorted((name, text(row, name)) for name in row if name not in _TELLS_NOTHING))
    return PacketRule(priority_of(row), sources, targets, is_drop(row), others)


def _prefixes(row: Row, names: Sequence[str]) -> Iterator[Address | None]:
    for name in names:
        if name in row:
            yield parse_address(text(row, name))
