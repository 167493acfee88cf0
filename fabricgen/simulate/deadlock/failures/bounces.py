"""All single and double failures under local repair at once: 64 to a word.

A failure adds dependencies over the detours around it. Without them the graph has no cycle, so that each cycle leads
over some of them; and which links lead to which is one sweep over the graph in reverse order. Two failures together
add what each adds alone and lose the links of both, but for pairs that touch each other's detours (`surprising`):
these are for others to judge one by one.

Pairs whose detours do not lead to each other are free. Most of the others are cyclic, and proved so together: of the
ways around a failure take some, and of what comes only what may go around over each of them. Then anything that comes
leads over all of these ways, so that where those of f lead to what comes at g, and those of g back, there is a circle.
No packet goes back to where it came from; therefore each round draws half of the ways anew. The few pairs that no
round has proved get sweeps of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import ALL, Indices, Words
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.core.peel import shortest_through, successors_of
from fabricgen.simulate.deadlock.core.state import State
from fabricgen.simulate.deadlock.failures.detour_table import Ways
from fabricgen.simulate.deadlock.failures.detours import Around, Detours
from fabricgen.simulate.deadlock.failures.failure_sets import Failure
from fabricgen.simulate.deadlock.failures.reachability import Reach

Flags = NDArray[np.bool_]
_MOST_FAILURES = 1 << 15  # their pairs are bits of tables of 128 MiB
_MOST_WORK = 1 << 33  # dependencies times words in sweeps for single pairs: a minute or two
_ROUNDS = 8
_SWEPT_AT_ONCE = 1 << 22  # dependencies times words


@dataclass(frozen=True)
class PairVerdicts:
    """Pairs of failures (row < column): `cyclic` has the bits of those that close a circle; `unsure` are those that
    have to be judged one by one, as (pairs x 2)."""

    cyclic: Words
    unsure: Indices


class Bounces:
    """The detours of all failures over one state."""

    def __init__(self, base: State, around: Around, detours: Sequence[Detours]) -> None:
        self.around, self.detours = around, detours
        self.reach = Reach(base.buffers.links)
        self.channels, self.dependencies = base.buffers.links.channels, len(base.buffers.links.successors)
        self.ways = Ways(detours, self.channels)
        self.dead = np.concatenate([one.dead for one in detours])
        self.dies = np.repeat(np.arange(len(detours)), [len(one.dead) for one in detours])
        every = np.ones(len(self.ways.turn), bool)
        tails = np.concatenate((self.ways.entry, self.ways.via[self.ways.turn]))
        owners = np.concatenate((self.ways.entry_failure, self.ways.failure))
        self.leads = self._leads(tails, owners, every, whole=True)  # at least

    def singles(self) -> Flags:
        """Which failures close a circle alone."""
        alone = self._leads_to_itself()
        for number in np.flatnonzero(alone).tolist():
            alone[number] = self._closes(number, [number])[0]
        return alone

    def pairs(self) -> PairVerdicts | None:
        """The verdicts on all pairs; None where proving them takes too long."""
        failures = len(self.detours)
        unsure = np.array(sorted(self.around.surprising(self.detours)), np.int64).reshape(-1, 2)
        alone = np.flatnonzero(self._leads_to_itself())
        likely = self.leads & bits.transposed(self.leads, failures) | bits.row_of(alone, failures)
        likely[alone] = ALL
        likely &= _above(failures) & ~bits.set_bits(failures, failures, unsure[:, 0], unsure[:, 1])
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
        return PairVerdicts(cyclic, unsure)

    def circle(self, number: int) -> tuple[int, ...]:
        """A shortest circle that a failure closes alone, by link; empty where there is none."""
        one, graph = self.detours[number], self.reach.graph
        alive = np.ones(self.channels, bool)
        alive[self.around.place[one.dead]] = False
        marks = np.zeros((self.channels, 1), np.uint64)
        marks[one.tail] = ALL
        leads = self.reach.run(marks, np.where(alive, ALL, np.uint64(0))[:, None])[:, 0] != 0
        on = np.zeros(self.channels, bool)  # what detours lead to and what leads to them
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
        found = shortest_through(part, np.unique(place[one.tail[on[one.tail]]]))  # each leads over a detour
        return tuple(self.around.network.incoming[members[found]].tolist())

    def _leads_to_itself(self) -> Flags:
        number = np.arange(len(self.detours))
        itself: Flags = (self.leads[number, number >> 6] >> (number & 63).astype(np.uint64) & np.uint64(1)) != 0
        return itself

    def _drawn(self, safe: Flags, chance: np.random.Generator) -> Words:
        """Which failures lead to which over half of the ways, entered only by what may take any way of that half."""
        ways = self.ways
        taken = safe & (chance.random(len(safe)) < 0.5)
        entry, way = ways.enters
        may = np.bincount(entry[taken[way]], minlength=len(ways.entry))
        wanted = np.bincount(ways.failure[taken], minlength=len(self.detours))[ways.entry_failure]
        enters = (may == wanted) & (wanted > 0)
        return self._leads(ways.entry[enters], ways.entry_failure[enters], taken, whole=False)

    def _leads(self, tails: Indices, owners: Indices, taken: Flags, whole: bool) -> Words:
        """Per failure the others, as bits, to whose tails (`owners`) its ways lead that are `taken`, over no link that
        the others have lost. With `whole` what follows the first link of a way as configured is looked at as well."""
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
        """The ways from which nothing leads to what their own failure has lost."""
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
        """(words, what is alive, what reaches the marks at `place`) for some words of failures after another."""
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
        """For each other failure whether it closes a circle together with this one; itself for it alone.

        A detour stays while it leads to a detour that stays; what is left in the end lies on or before a circle.
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
    """What can be said of these links or cables under local repair; None where detours lead to switches that packets
    did not pass before or where not all links are lossless alike, for there they change more than their neighborhood;
    and where there are too many failures."""
    if (
        not 0 < len(failures) <= _MOST_FAILURES
        or any(one.switch >= 0 for one in failures)
        or base.buffers.is_cyclic
        or len(base.buffers.graphs) != 1
        or base.buffers.graphs[0].graph is not base.buffers.links
    ):
        return None
    around = Around(base)
    found = [one for one in map(around.detours, failures) if one is not None]
    return Bounces(base, around, found) if len(found) == len(failures) else None


def _above(size: int) -> Words:
    """The bits above the diagonal."""
    number = np.arange(size)[:, None]
    word = np.arange(bits.word_count(size))[None, :]
    upper: Words = np.where(word > number >> 6, ALL, np.uint64(0))
    upper |= np.where(word == number >> 6, ~(ALL >> (63 - (number & 63)).astype(np.uint64)), np.uint64(0))
    return upper & bits.ones(size)
