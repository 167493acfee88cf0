"""All single and double failures under local repair at once, 64 in a word.

A failure adds dependencies over the detours around it. The graph without them has no cycle, so each cycle has some of
them. One sweep over the graph in reverse order shows which links lead to which. Two failures together add the
dependencies of each and lose the links of both, except for pairs that change each other's detours (`interacting`).
Those pairs are judged one by one.

Pairs whose detours do not lead to each other are free. Most of the other pairs are cyclic, and are proved together. A
round selects some detours of each failure, and only the entries that can use every selected detour. Then each entry
leads over all selected detours. If those of f lead to an entry of g, and those of g to an entry of f, there is a cycle.
A packet never goes back to its sender, so each round draws a new half of the detours. The few pairs that no round
proves are swept one by one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import ALL, Indices, Words, any_of
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.core.peel import shortest_through, successors_of
from fabricgen.simulate.deadlock.core.state import State
from fabricgen.simulate.deadlock.failures.detours import DetourFinder, Detours
from fabricgen.simulate.deadlock.failures.failure_sets import Failure

Flags = NDArray[np.bool_]
_MOST_FAILURES = 1 << 15  # their pairs are bits of tables of 128 MiB
_MOST_WORK = 1 << 33  # dependencies times words in sweeps for single pairs: a minute or two
_ROUNDS = 8
_SWEPT_AT_ONCE = 1 << 22  # dependencies times words


@dataclass(frozen=True, slots=True)
class PairVerdicts:
    """Pairs of failures (row < column). `cyclic` has the bits of pairs that close a cycle. `undecided` (pairs x 2) must
    be judged one by one."""

    cyclic: Words
    undecided: Indices


class Bounces:
    """The detours of all failures over one state."""

    def __init__(self, base: State, around: DetourFinder, detours: Sequence[Detours]) -> None:
        self.around, self.detours = around, detours
        self.reach = AcyclicReach(base.buffers.links)
        self.channels, self.dependencies = base.buffers.links.channels, len(base.buffers.links.successors)
        self.ways = DetourTable(detours, self.channels)
        self.dead = np.concatenate([one.dead for one in detours])
        self.dies = np.repeat(np.arange(len(detours)), [len(one.dead) for one in detours])
        every = np.ones(len(self.ways.turn), bool)
        tails = np.concatenate((self.ways.entry, self.ways.via[self.ways.turn]))
        owners = np.concatenate((self.ways.entry_failure, self.ways.failure))
        self.leads = self._leads(tails, owners, every, whole=True)  # at least

    def singles(self) -> Flags:
        """The failures that close a cycle alone."""
        alone = self._leads_to_itself()
        for number in np.flatnonzero(alone).tolist():
            alone[number] = self._closes(number, [number])[0]
        return alone

    def pairs(self) -> PairVerdicts | None:
        """The verdicts on all pairs; None if the proofs take too long."""
        failures = len(self.detours)
        undecided = np.array(sorted(self.around.interacting(self.detours)), np.int64).reshape(-1, 2)
        alone = np.flatnonzero(self._leads_to_itself())
        likely = self.leads & bits.transposed(self.leads, failures) | bits.row_of(alone, failures)
        likely[alone] = ALL
        likely &= _above(failures) & ~bits.set_bits(failures, failures, undecided[:, 0], undecided[:, 1])
        cyclic = np.zeros_like(likely)
        safe = self._never_back()
        for chance in range(_ROUNDS):
            if not (likely & ~cyclic).any():
                break
            leads = self._drawn(safe, np.random.default_rng(chance))
            cyclic |= likely & leads & bits.transposed(leads, failures)
        left = likely & ~cyclic
        if int(np.count_nonzero(left)) * self.dependencies > _MOST_WORK:
            return None
        for number in np.flatnonzero(left.any(axis=1)).tolist():
            others = bits.columns_of(left[number])
            closing = np.array(others)[self._closes(number, others)]
            cyclic[number] |= bits.row_of(closing, failures)
        return PairVerdicts(cyclic, undecided)

    def shortest_cycle(self, number: int) -> tuple[int, ...]:
        """The links of a shortest cycle that a failure closes alone; empty if no cycle exists."""
        one, graph = self.detours[number], self.reach.graph
        alive = np.ones(self.channels, bool)
        alive[self.around.place[one.dead]] = False
        marks = np.zeros((self.channels, 1), np.uint64)
        marks[one.tail] = ALL
        leads = self.reach.run(marks, np.where(alive, ALL, np.uint64(0))[:, None])[:, 0] != 0
        on = np.zeros(self.channels, bool)  # on a path from a detour to a detour
        front = np.unique(one.head[leads[one.head]])
        while len(front):
            on[front] = True
            after = np.unique(successors_of(graph, front))
            front = after[leads[after] & ~on[after]]
        members = np.flatnonzero(on)
        place = np.cumsum(on) - 1
        fan = graph.offsets[members + 1] - graph.offsets[members]
        tail = np.concatenate((np.repeat(members, fan), one.tail), dtype=np.int32)  # half the memory of int64
        head = np.concatenate((successors_of(graph, members), one.head), dtype=np.int32)
        inside = on[tail] & on[head]
        edges = np.unique(place[tail[inside]] * len(members) + place[head[inside]])
        tails, heads = np.divmod(edges, max(1, len(members)))
        counts = np.bincount(tails, minlength=len(members))
        part = ChannelGraph(np.concatenate(([0], np.cumsum(counts))), heads.astype(np.int32))
        found = shortest_through(part, np.unique(place[one.tail[on[one.tail]]]))  # each cycle has a detour
        return tuple(self.around.network.incoming[members[found]].tolist())

    def _leads_to_itself(self) -> Flags:
        number = np.arange(len(self.detours))
        itself: Flags = (self.leads[number, number >> 6] >> (number & 63).astype(np.uint64) & np.uint64(1)) != 0
        return itself

    def _drawn(self, safe: Flags, chance: "np.random.Generator") -> Words:
        """The failures that lead to each other over half of the detours, from entries that can use each of that
        half."""
        ways = self.ways
        taken = safe & (chance.random(len(safe)) < 0.5)
        entry, way = ways.enters
        may = np.bincount(entry[taken[way]], minlength=len(ways.entry))
        needed = np.bincount(ways.failure[taken], minlength=len(self.detours))[ways.entry_failure]
        enters = (may == needed) & (needed > 0)
        return self._leads(ways.entry[enters], ways.entry_failure[enters], taken, whole=False)

    def _leads(self, tails: Indices, owners: Indices, taken: Flags, whole: bool) -> Words:
        """For each failure, the other failures (as bits) to whose tails (`owners`) its `taken` detours lead, without
        links that the others lose. With `whole`, the links after the first link of a detour as configured count too."""
        ways, failures = self.ways, len(self.detours)
        leads = np.zeros((failures, bits.word_count(failures)), np.uint64)
        starts = bits.segment_starts(ways.failure[taken].astype(np.int32))
        rows, turns = ways.failure[taken][starts], ways.turn[taken]
        for part, alive, reach in self._sweeps(tails, owners, without_dead=True):
            turned = bits.any_of(reach[ways.onward], ways.onward_starts) & alive[ways.via]
            if whole:
                turned |= self.reach.beyond(reach, ways.via) & alive[ways.via]
            leads[rows, part] = bits.any_of(turned[turns], starts)
        return leads

    def _never_back(self) -> Flags:
        """The detours that do not lead to links that their own failure loses."""
        ways = self.ways
        safe = np.ones(len(ways.turn), bool)
        for part, _, reach in self._sweeps(self.around.place[self.dead], self.dies, without_dead=False):
            turned = bits.any_of(reach[ways.onward], ways.onward_starts)
            own = np.flatnonzero((ways.failure >> 6 >= part.start) & (ways.failure >> 6 < part.stop))
            number = ways.failure[own]
            word = turned[ways.turn[own], (number >> 6) - part.start]
            safe[own] = (word >> (number & 63).astype(np.uint64) & np.uint64(1)) == 0
        return safe

    def _sweeps(self, place: Indices, owner: Indices, without_dead: bool) -> Iterator[tuple[slice, Words, Words]]:
        """(words, alive links, links that reach the marks at `place`) for one block of words of failures after
        another."""
        failures = len(self.detours)
        width = max(1, _SWEPT_AT_ONCE // max(1, self.dependencies, len(self.ways.onward)))
        for first in range(0, bits.word_count(failures), width):
            part = slice(first, min(first + width, bits.word_count(failures)))
            size = 64 * (part.stop - part.start)
            marks = self._bits(place, owner, 64 * first, size)
            dead = self._bits(self.around.place[self.dead], self.dies, 64 * first, size)
            alive = ~dead if without_dead else np.full_like(dead, ALL)
            yield part, alive, self.reach.run(marks, alive)

    def _bits(self, place: Indices, owner: Indices, first: int, size: int) -> Words:
        here = (owner >= first) & (owner < first + size)
        return bits.set_bits(self.channels, size, place[here], owner[here] - first)

    def _closes(self, number: int, others: Sequence[int]) -> Flags:
        """For each other failure, whether it closes a cycle together with this one; for itself, whether it does alone.

        A detour stays while it leads to a detour that stays. Those left at the end are on a cycle or lead to one.
        """
        one, near = self.detours[number], [self.detours[other] for other in others]
        tails, heads, place = [each.tail for each in near], [each.head for each in near], self.around.place
        width, tail, head = len(near), np.concatenate(tails), np.concatenate(heads)
        owner = np.repeat(np.arange(width), list(map(len, tails)))
        dies = np.repeat(np.arange(width), [len(each.dead) for each in near])
        alive = ~bits.set_bits(self.channels, width, place[np.concatenate([each.dead for each in near])], dies)
        alive[place[one.dead]] = 0
        word, bit = owner >> 6, (owner & 63).astype(np.uint64)
        stays = np.ones(len(tail), bool)
        own = np.full((len(one.tail), alive.shape[1]), ALL)
        while True:
            marks = bits.set_bits(self.channels, width, tail[stays], owner[stays])
            np.bitwise_or.at(marks, one.tail, own)
            reach = self.reach.run(marks, alive)
            on = stays & ((reach[head, word] >> bit & np.uint64(1)) != 0)
            on &= (alive[tail, word] >> bit & np.uint64(1)) != 0
            mine = own & reach[one.head] & alive[one.tail]
            if (on == stays).all() and (mine == own).all():
                break
            stays, own = on, mine
        closed = np.zeros(width, bool)
        closed[owner[stays]] = True
        left = np.bitwise_or.reduce(own, axis=0) if len(own) else np.zeros(alive.shape[1], np.uint64)
        both: Flags = closed | np.unpackbits(left.view(np.uint8), bitorder="little")[:width].astype(bool)
        return both


def bounces(base: State, failures: Sequence[Failure]) -> Bounces | None:
    """The detours of these links or cables under local repair. None if detours lead to switches that packets did not
    pass before, or if links differ in their lossless priorities, because detours then have effects further away. None
    also for too many failures."""
    if (
        not 0 < len(failures) <= _MOST_FAILURES
        or any(one.switch >= 0 for one in failures)
        or base.buffers.is_cyclic
        or len(base.buffers.graphs) != 1
        or base.buffers.graphs[0].graph is not base.buffers.links
    ):
        return None
    around = DetourFinder(base)
    found = [one for one in map(around.detours, failures) if one is not None]
    return Bounces(base, around, found) if len(found) == len(failures) else None


def _above(size: int) -> Words:
    """The bits above the diagonal of a square table."""
    number = np.arange(size)[:, None]
    word = np.arange(bits.word_count(size))[None, :]
    upper: Words = np.where(word > number >> 6, ALL, np.uint64(0))
    upper |= np.where(word == number >> 6, ~(ALL >> (63 - (number & 63)).astype(np.uint64)), np.uint64(0))
    return upper & bits.ones(size)


# The detours of many failures as tables: the entries of each detour, and the links that it leads to.

Ints = NDArray[np.int32]


class DetourTable:
    """Detours around failures, sorted by failure. Links are given by their place in the graph.

    Detour w belongs to `failure[w]` and uses turn `turn[w]`: over link `via`, then over any of its `onward` links (runs
    that begin at `onward_starts`). Many failures share turns. Entry e is a link `entry[e]` over which packets of
    failure `entry_failure[e]` arrive. `enters` are the pairs (entry, detour) that a packet can use."""

    def __init__(self, detours: Sequence[Detours], channels: int) -> None:
        count = [len(one.via) for one in detours]
        self.failure = np.repeat(np.arange(len(detours)), count)
        turns: dict[tuple[int, bytes], int] = {}
        onward: list[Indices] = [np.empty(0, np.int64)]
        numbers: list[int] = []
        for one in detours:
            ends = np.searchsorted(one.onward_way, np.arange(len(one.via) + 1)).tolist()
            for way, via in enumerate(one.via.tolist()):
                run = one.onward[ends[way] : ends[way + 1]]
                number = turns.setdefault((via, run.tobytes()), len(turns))
                if number == len(onward) - 1:
                    onward.append(run)
                numbers.append(number)
        self.turn = np.array(numbers, np.int64)
        self.via = np.array([via for via, _ in turns], np.int64)
        size = np.array([len(run) for run in onward[1:]], np.int64)
        self.onward, self.onward_starts = np.concatenate(onward), np.cumsum(size) - size
        come = np.concatenate([np.empty(0, np.int64), *(one.come for one in detours)])
        owner = np.repeat(np.arange(len(detours)), [len(one.come) for one in detours])
        entries, entered = np.unique(owner * channels + come, return_inverse=True)
        self.entry_failure, self.entry = np.divmod(entries, channels)
        first = np.repeat(np.cumsum(count) - count, [len(one.come) for one in detours])
        taken = np.concatenate([np.empty(0, np.int64), *(one.come_way for one in detours)]) + first
        self.enters: tuple[Ints, Ints] = entered.astype(np.int32), taken.astype(np.int32)


# Reachability in a dependency graph without cycles, for many marks at once.


class AcyclicReach:
    """A graph without cycles, prepared for sweeps from its last to its first links."""

    def __init__(self, graph: ChannelGraph) -> None:
        self.graph = graph
        height = np.zeros(graph.channels, np.int32)
        waiting = np.flatnonzero(np.diff(graph.offsets))
        while len(waiting):
            higher = np.maximum.reduceat(height[graph.successors], graph.offsets[waiting]) + 1
            if (higher == height[waiting]).all():
                break
            height[waiting] = higher
        self.layers: list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]] = []
        for level in range(1, int(height.max(initial=0)) + 1):
            links = np.flatnonzero(height == level)
            self.layers.append((links, *self._after(links)))

    def run(self, marks: Words, alive: Words) -> Words:
        """The marks that each link reaches, including its own, over alive links (links x words)."""
        reach = marks & alive
        for links, after, starts in self.layers:
            reach[links] |= np.bitwise_or.reduceat(reach[after], starts) & alive[links]
        return reach

    def beyond(self, reach: Words, links: NDArray[np.int64]) -> Words:
        """The marks that the successors of each link reach."""
        found: Words = np.zeros((len(links), reach.shape[1]), np.uint64)
        on = np.flatnonzero(self.graph.offsets[links + 1] > self.graph.offsets[links])
        after, starts = self._after(links[on])
        found[on] = any_of(reach[after], starts)
        return found

    def _after(self, links: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The successors of the links, and where those of each link begin."""
        size = self.graph.offsets[links + 1] - self.graph.offsets[links]
        return successors_of(self.graph, links), np.cumsum(size) - size
