"""Expected and observed cables: missing, extra, misplaced and swapped ones."""

import enum
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.sonic.canonical import natural_key

Pair = tuple[Endpoint, Endpoint]


class CableFault(enum.StrEnum):
    """How a cable differs from the plan."""

    MISSING = "missing"  # expected, and neither end has a neighbour
    EXTRA = "extra"  # observed, and no cable is expected at either end
    MISPLACED = "misplaced"  # observed, and an end is expected to have another far end
    SWAPPED = "swapped"  # two observed cables with exchanged far ends


class Detail(enum.StrEnum):
    """More about a misplaced or swapped cable."""

    OTHER_PORT = "other-port"  # misplaced, between the expected devices
    OTHER_DEVICE = "other-device"
    ONE_DEVICE = "one-device"  # swapped at one device, such as a host with two NICs
    NONE = ""


@dataclass(frozen=True, slots=True)
class Miscabling:
    """Cables that differ from the plan: the observed and the expected pairs of ends, in natural order."""

    kind: CableFault
    seen: tuple[Pair, ...]
    expected: tuple[Pair, ...]

    @property
    def device(self) -> str:
        """The device at which two cables are swapped; "" for a swap between devices and for other faults."""
        near, far = (
            ({name for name, _ in pair} for pair in self.seen) if self.kind is CableFault.SWAPPED else (set(), set())
        )
        return next(iter(near & far)) if len(near & far) == 1 else ""

    @property
    def detail(self) -> Detail:
        """Which kind of a misplaced or swapped cable it is."""
        if self.kind is CableFault.MISPLACED:
            devices = [{name for name, _ in pair} for pair in self.expected]
            return Detail.OTHER_PORT if {name for name, _ in self.seen[0]} in devices else Detail.OTHER_DEVICE
        return Detail.ONE_DEVICE if self.device else Detail.NONE


@dataclass(frozen=True)
class Cabling:
    """Where observed cables differ from the plan. `links` are the planned links, and observed ones at other ports;
    `dark` planned cables between switches are not seen at either end, and count as down. `by_address` are the pairs
    that address tables show, `silent` the planned ports of hosts that neither they nor LLDP show."""

    miscablings: tuple[Miscabling, ...]
    links: tuple[WiredLink, ...]
    source: str  # the file or folder of the observation
    dark: int = 0
    by_address: frozenset[Pair] = frozenset()
    silent: tuple[Endpoint, ...] = ()

    def is_by_address(self, one: Miscabling) -> bool:
        """Whether only address tables show the cables of a fault."""
        return bool(one.seen) and self.by_address.issuperset(one.seen)


def miscablings(
    seen: set[Pair], far_ends: Mapping[Endpoint, Endpoint], expected: Iterable[Pair]
) -> tuple[tuple[Miscabling, ...], int]:
    """The faults in natural order, and the number of correct cables.

    `far_ends` maps each planned end to its far end; `expected` are the planned cables that the observer can report.
    """
    correct = {pair for pair in seen if far_ends.get(pair[0]) == pair[1]}
    busy = {end for pair in seen for end in pair}
    missing = [pair for pair in expected if busy.isdisjoint(pair)]
    found = [*_wrong(seen - correct, far_ends), *(Miscabling(CableFault.MISSING, (), (pair,)) for pair in missing)]
    found.sort(key=lambda item: [[_order(end) for end in pair] for pair in (*item.seen, *item.expected)])
    return tuple(found), len(correct)


@dataclass(frozen=True, slots=True)
class Move:
    """One end of a cable to plug: `fixed` stays in its port, the other end moves from `now` to `planned`. `now` is None
    for a cable that is not seen, `planned` for one that is not planned."""

    fixed: Endpoint
    now: Endpoint | None
    planned: Endpoint | None


def moves(one: Miscabling, links: Mapping[Endpoint, WiredLink]) -> tuple[Move, ...]:
    """What to plug to make the cables as planned, with as few ends as possible. `links` are the planned links by both
    ends.

    Two swapped cables a - b and c - d, of which a - c and b - d are planned, have two ends that change places: those at
    b and c, or those at a and d. Those of one device are preferred, else the upper ends of the planned links. Of a
    misplaced cable the end moves whose other end is the lower one of a planned link, or is planned at all.
    """
    if one.kind is CableFault.MISSING:
        fixed, far = one.expected[0]
        return (Move(fixed, None, far),)
    a, b = one.seen[0]
    if one.kind is CableFault.EXTRA:
        return (Move(a, b, None),)
    if one.kind is CableFault.SWAPPED:
        c, d = one.seen[1]
        if frozenset((a, c)) not in {frozenset(pair) for pair in one.expected}:
            c, d = d, c
        is_upper = a in links and links[a].b == a
        at_a = a[0] == d[0] or (is_upper and b[0] != c[0])
        return (Move(b, a, d), Move(c, d, a)) if at_a else (Move(a, b, c), Move(d, c, b))
    planned = {end: links[end] for end in (a, b) if end in links}
    fixed = min(planned, key=lambda end: (planned[end].a != end, end == b))
    link = planned[fixed]
    return (Move(fixed, b if fixed == a else a, link.b if link.a == fixed else link.a),)


def plugged(
    near: Endpoint, far: Endpoint, far_ends: Mapping[Endpoint, Endpoint], nics: Mapping[str, Collection[Endpoint]]
) -> Endpoint:
    """The far end by its name in the plan.

    A host announces its own NIC names. The NIC is the one that the plan has at this port of the switch, or the only one
    of the host at this switch.
    """
    name = far[0] if far[0] in nics else far[0].partition(".")[0]
    if name not in nics or (name, far[1]) in far_ends:
        return (name, far[1]) if name in nics else far
    here = [nic for nic in nics[name] if far_ends[nic][0] == near[0]]
    if far_ends.get(near) in here:
        return far_ends[near]
    return here[0] if len(here) == 1 else (name, far[1])


def _wrong(seen: Iterable[Pair], far_ends: Mapping[Endpoint, Endpoint]) -> Iterator[Miscabling]:
    left = dict.fromkeys(sorted(seen, key=lambda pair: [_order(end) for end in pair]))
    for pair in list(left):
        if pair not in left:
            continue
        del left[pair]
        expected = tuple(pair_of(end, far_ends[end]) for end in pair if end in far_ends)
        partners = pair_of(far_ends[pair[0]], far_ends[pair[1]]) if len(expected) == 2 else None
        if partners in left:
            del left[partners]
            yield Miscabling(CableFault.SWAPPED, (pair, partners), expected)
        else:
            yield Miscabling(CableFault.MISPLACED if expected else CableFault.EXTRA, (pair,), expected)


def pair_of(one: Endpoint, other: Endpoint) -> Pair:
    """Both ends in natural order."""
    first, second = sorted((one, other), key=_order)
    return first, second


def _order(end: Endpoint) -> tuple[object, object]:
    return natural_key(end[0]), natural_key(end[1])
