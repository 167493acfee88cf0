"""All pairs of failures under local repair at once: 64 pairs to a word.

A failure adds dependencies over the detours around it. Without them the graph has no cycle, so that each cycle leads
over some of them; and which links lead to which is one sweep over the graph in reverse order. Two failures together
add what each adds alone and lose the links of both, but for pairs that touch each other's detours (`_Detours.meets`):
these are for others to judge one by one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import ALL, Indices, Words
from fabricgen.simulate.deadlock.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.failing import Failure
from fabricgen.simulate.deadlock.peel import successors_of
from fabricgen.simulate.deadlock.state import State

Flags = NDArray[np.bool_]
_MOST_WORK = 1 << 30  # added dependencies times failures: a minute or two


@dataclass(frozen=True)
class PairVerdicts:
    """Pairs of failures (row < column): those that close a circle, and those that have to be judged one by one."""

    cyclic: Flags
    unsure: Flags


@dataclass(frozen=True)
class _Detours:
    """What one failure adds: dependencies from `tail` to `head` (places in the graph). `struck` is what each switch at
    its ends has lost the last next hop to; `needs` are links that a detour cannot do without."""

    dead: Indices
    tail: Indices
    head: Indices
    struck: dict[int, Words]
    needs: frozenset[int]


def judge_pairs(base: State, failures: Sequence[Failure]) -> PairVerdicts | None:
    """The verdicts on all pairs of links or cables; None where detours lead to switches that packets did not pass
    before or where not all links are lossless alike, for there they change more than their neighborhood; and where
    there are too many of them."""
    if (
        any(one.switch >= 0 for one in failures)
        or base.is_cyclic
        or len(base.graphs) != 1
        or base.graphs[0].graph is not base.dependencies
    ):
        return None
    around = _Around(base)
    found = [around.detours(one) for one in failures]
    detours = [one for one in found if one is not None]
    if len(detours) < len(failures) or sum(len(one.tail) for one in detours) * len(detours) > _MOST_WORK:
        return None
    sweep = _Sweep(base.dependencies)
    likely = _likely(sweep, detours)
    unsure = np.zeros((len(detours), len(detours)), bool)
    for first, second in _neighbors(detours):
        unsure[first, second] = around.meet(detours[first], detours[second])
    cyclic = np.zeros_like(unsure)
    for number, one in enumerate(detours):
        others = np.flatnonzero(likely[number] & ~unsure[number])
        others = others[others > number]
        if len(others):
            cyclic[number, others] = sweep.closes(one, [detours[other] for other in others.tolist()], around.place)
    return PairVerdicts(cyclic, np.triu(unsure, 1))


class _Around:
    """The state before, and what detours around a failure add to it."""

    def __init__(self, base: State) -> None:
        self.network, self.hops, self.flow = base.ground.network, base.hops, base.flow
        self.place = np.empty(self.network.links, np.int64)
        self.place[self.network.incoming] = np.arange(self.network.links)
        passed = np.zeros((self.network.switches, self.hops.shape[1]), np.uint64)
        passed[base.ground.sources] = ALL
        starts = bits.segment_starts(self.network.target[self.network.incoming])
        passed[self.network.target[self.network.incoming[starts]]] |= bits.any_of(self.flow, starts)
        self.passed = passed

    def detours(self, failure: Failure) -> _Detours | None:
        """What a failure adds; None when that reaches further than the neighbors' next hops."""
        network, dead = self.network, np.array(failure.links, np.int64)
        tails, heads, struck, needs = [np.empty(0, np.int64)], [np.empty(0, np.int64)], {}, set()
        for switch in np.unique(network.source[dead]).tolist():
            lost = self.lost(switch, dead)
            struck[switch] = lost
            own = np.arange(network.offsets[switch], network.offsets[switch + 1])
            come = network.incoming[network.incoming_offsets[switch] : network.incoming_offsets[switch + 1]]
            come = come[~np.isin(come, dead)].astype(np.int64)
            for link in own[~np.isin(own, dead)].tolist() if lost.any() else ():
                far = int(network.target[link])
                after = np.arange(network.offsets[far], network.offsets[far + 1])
                after = after[(network.target[after] != switch) & ~np.isin(after, dead)]
                rows = self.hops[after] & lost
                turned = np.bitwise_or.reduce(rows, axis=0) if len(after) else np.zeros_like(lost)
                if not turned.any():
                    continue
                if (turned & ~self.passed[far]).any():
                    return None
                several = _in_several(rows)
                needs.update(after[np.any(rows & ~several, axis=1)].tolist())
                before = come[np.any(self.flow[self.place[come]] & turned, axis=1) & (network.source[come] != far)]
                onward = after[np.any(rows, axis=1)]
                tails += [self.place[before], np.full(len(onward), self.place[link])]
                heads += [np.full(len(before), self.place[link]), self.place[onward]]
        return _Detours(dead, np.concatenate(tails), np.concatenate(heads), struck, frozenset(needs))

    def lost(self, switch: int, dead: Indices) -> Words:
        """What a switch has no next hop to any more."""
        own = np.arange(self.network.offsets[switch], self.network.offsets[switch + 1])
        cut = np.isin(own, dead)
        gone: Words = np.bitwise_or.reduce(self.hops[own[cut]], axis=0)
        left: Words = np.bitwise_or.reduce(self.hops[own[~cut]], axis=0)
        lost: Words = gone & ~left
        return lost

    def meet(self, one: _Detours, other: _Detours) -> bool:
        """Whether two failures together do more than each alone: a switch loses with the second link what one of them
        left it, or a detour's last way on is among the links of the other."""
        if not one.needs.isdisjoint(other.dead.tolist()) or not other.needs.isdisjoint(one.dead.tolist()):
            return True
        both = np.concatenate((one.dead, other.dead))
        shared = one.struck.keys() & other.struck.keys()
        return any((self.lost(at, both) & ~(one.struck[at] | other.struck[at])).any() for at in shared)


def _neighbors(detours: Sequence[_Detours]) -> Iterator[tuple[int, int]]:
    """The pairs (lower, higher) that may meet: those with a switch in common, or with a link that the other needs."""
    at: dict[int, list[int]] = {}
    failing: dict[int, list[int]] = {}
    for number, one in enumerate(detours):
        for switch in one.struck:
            at.setdefault(switch, []).append(number)
        for link in one.dead.tolist():
            failing.setdefault(link, []).append(number)
    pairs = {(a, b) for members in at.values() for a in members for b in members if a < b}
    for number, one in enumerate(detours):
        for link in one.needs:
            pairs.update((min(number, b), max(number, b)) for b in failing.get(link, ()) if b != number)
    return iter(sorted(pairs))


def _in_several(rows: Words) -> Words:
    """The bits that more than one row has."""
    once: Words = np.zeros_like(rows[0])
    twice: Words = np.zeros_like(rows[0])
    for row in rows:
        twice |= once & row
        once |= row
    return twice


def _likely(sweep: "_Sweep", detours: Sequence[_Detours]) -> Flags:
    """Pairs whose detours lead to each other in the graph before: all that can close a circle are among them."""
    width = len(detours)
    tails = np.concatenate([one.tail for one in detours])
    number = np.repeat(np.arange(width), [len(one.tail) for one in detours])
    marks = bits.set_bits(sweep.channels, width, tails, number)
    reach = sweep.run(marks, np.full_like(marks, ALL))
    leads = np.zeros((width, marks.shape[1]), np.uint64)
    for index, one in enumerate(detours):
        if len(one.head):
            leads[index] = np.bitwise_or.reduce(reach[one.head], axis=0)
    there: Flags = np.unpackbits(leads.view(np.uint8), axis=1, bitorder="little")[:, :width].astype(bool)
    alone = np.diag(there)
    both: Flags = (there & there.T) | alone[:, None] | alone[None, :]
    return both


class _Sweep:
    """A graph without cycles, prepared for sweeps from its last links to its first."""

    def __init__(self, graph: ChannelGraph) -> None:
        self.channels = graph.channels
        height = np.zeros(graph.channels, np.int64)
        tails = graph.tails()
        while True:
            higher = height.copy()
            np.maximum.at(higher, tails, height[graph.successors] + 1)
            if (higher == height).all():
                break
            height = higher
        self.layers = []
        for level in range(1, int(height.max(initial=0)) + 1):
            links = np.flatnonzero(height == level)
            size = graph.offsets[links + 1] - graph.offsets[links]
            self.layers.append((links, successors_of(graph, links), np.cumsum(size) - size))

    def run(self, marks: Words, alive: Words) -> Words:
        """Which marks each link leads to, itself included, over links that are alive (links x words)."""
        reach = marks & alive
        for links, after, starts in self.layers:
            reach[links] |= np.bitwise_or.reduceat(reach[after], starts) & alive[links]
        return reach

    def closes(self, one: _Detours, others: Sequence[_Detours], place: Indices) -> Flags:
        """For each other failure whether it closes a circle together with `one`.

        A detour stays while it leads to a detour that stays; what is left in the end lies on or before a circle.
        """
        width = len(others)
        tail = np.concatenate([each.tail for each in others])
        head = np.concatenate([each.head for each in others])
        number = np.repeat(np.arange(width), [len(each.tail) for each in others])
        dead = np.concatenate([each.dead for each in others])
        dies = np.repeat(np.arange(width), [len(each.dead) for each in others])
        alive = ~bits.set_bits(self.channels, width, place[dead], dies)
        alive[place[one.dead]] = 0
        word, bit = number >> 6, (number & 63).astype(np.uint64)
        stays = np.ones(len(tail), bool)
        own = np.full((len(one.tail), alive.shape[1]), ALL)
        while True:
            marks = bits.set_bits(self.channels, width, tail[stays], number[stays])
            np.bitwise_or.at(marks, one.tail, own)
            reach = self.run(marks, alive)
            on = stays & ((reach[head, word] >> bit & np.uint64(1)) != 0)
            on &= (alive[tail, word] >> bit & np.uint64(1)) != 0
            mine = own & reach[one.head] & alive[one.tail]
            if (on == stays).all() and (mine == own).all():
                break
            stays, own = on, mine
        closed = np.zeros(width, bool)
        closed[number[stays]] = True
        left = np.bitwise_or.reduce(own, axis=0) if len(own) else np.zeros(alive.shape[1], np.uint64)
        both: Flags = closed | np.unpackbits(left.view(np.uint8), bitorder="little")[:width].astype(bool)
        return both
