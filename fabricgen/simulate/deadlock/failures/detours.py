"""Local repair around one failure: the dependencies that it adds, and the pairs of failures that interact."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import ALL, Indices, Words
from fabricgen.simulate.deadlock.core.state import State
from fabricgen.simulate.deadlock.failures.failure_sets import Failure
from fabricgen.simulate.deadlock.failures.shortest_paths import links_of, lost_hops

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Detours:
    """The dependencies that one failure adds; links are given by their place in the graph. Packets that arrive over
    `come[i]` are sent over `via[come_way[i]]`, and from there over `onward[j]` with the same `onward_way[j]`. `struck`
    are the destinations to which switches have lost the last next hop. A detour depends on the links `needs` (by
    number)."""

    dead: Indices
    via: Indices
    come: Indices
    come_way: Indices
    onward: Indices
    onward_way: Indices
    struck: dict[int, Words]
    needs: frozenset[int]

    @property
    def tail(self) -> Indices:
        """The waiting link of each added dependency."""
        return np.concatenate((self.come, self.via[self.onward_way]))

    @property
    def head(self) -> Indices:
        """The awaited link of each added dependency."""
        return np.concatenate((self.via[self.come_way], self.onward))


class DetourFinder:
    """Finds the detours around failures of one state."""

    def __init__(self, base: State) -> None:
        self.network, self.hops, self.flow = base.ground.network, base.hops, base.flow
        self.place = self.network.place
        passed = np.zeros((self.network.switches, self.hops.shape[1]), np.uint64)
        passed[base.ground.sources] = ALL
        starts = bits.segment_starts(self.network.target[self.network.incoming])
        passed[self.network.target[self.network.incoming[starts]]] |= bits.any_of(self.flow, starts)
        self.passed = passed

    def detours(self, failure: Failure) -> Detours | None:
        """The detours of a failure; None if they reach further than the neighbors' next hops."""
        dead = np.array(failure.links, np.int64)
        switches = sorted(set(self.network.source[dead].tolist()))
        struck = {switch: lost_hops(self.network, self.hops, switch, dead) for switch in switches}
        found: list[list[Indices]] = [[np.empty(0, np.int64)] for _ in range(5)]
        needs: set[int] = set()
        ways = 0
        for switch, lost in struck.items():
            if lost.any():
                added = self._around(switch, lost, dead)
                if added is None:
                    return None
                via, come, come_way, onward, onward_way, needed = added
                for rows, part in zip(found, (via, come, come_way + ways, onward, onward_way + ways), strict=True):
                    rows.append(part)
                needs.update(needed.tolist())
                ways += len(via)
        via, come, come_way, onward, onward_way = map(np.concatenate, found)
        return Detours(dead, via, come, come_way, onward, onward_way, struck, frozenset(needs))

    def _around(self, switch: int, lost: Words, dead: Indices) -> tuple[Indices, ...] | None:
        """The detours of one switch to lost destinations: (via, come, come_way, onward, onward_way, needed)."""
        network = self.network
        words = np.flatnonzero(lost)
        lost = lost[words]
        own = np.arange(network.offsets[switch], network.offsets[switch + 1])
        own = own[~np.isin(own, dead)]
        far = network.target[own].astype(np.int64)
        after, starts = links_of(network, far)
        way = np.repeat(np.arange(len(own)), np.diff(np.append(starts, len(after))))
        rows = self.hops[after[:, None], words] & lost
        rows[(network.target[after] == switch) | np.isin(after, dead)] = 0
        turned = bits.any_of(rows, starts)
        if (turned & ~self.passed[far[:, None], words]).any():
            return None
        goes = np.any(rows, axis=1)
        after, way, rows = after[goes], way[goes], rows[goes]
        number = np.cumsum(np.any(turned, axis=1)) - 1
        taken = np.any(turned, axis=1)
        come = network.incoming[network.incoming_offsets[switch] : network.incoming_offsets[switch + 1]]
        come = come[~np.isin(come, dead)]
        held = self.flow[self.place[come][:, None], words]
        enters = np.any(held[:, None] & turned[taken], axis=2) & (network.source[come][:, None] != far[taken])
        row, come_way = enters.nonzero()
        needed = after[np.any(_sole(rows, bits.segment_starts(way.astype(np.int32))), axis=1)]
        return self.place[own[taken]], self.place[come[row]], come_way, self.place[after], number[way], needed

    def interacting(self, detours: Sequence[Detours]) -> set[tuple[int, int]]:
        """Pairs (lower, higher) with effects that neither failure has alone: a switch loses its last next hop only by
        both, or one failure takes the last link that a detour of the other depends on."""
        at: dict[int, list[int]] = {}
        failing: dict[int, list[int]] = {}
        for number, one in enumerate(detours):
            for switch in one.struck:
                at.setdefault(switch, []).append(number)
            for link in one.dead.tolist():
                failing.setdefault(link, []).append(number)
        found = {pair for switch, members in at.items() for pair in self._losing(switch, members, detours)}
        for number, one in enumerate(detours):
            for link in one.needs:
                found.update((min(number, b), max(number, b)) for b in failing.get(link, ()) if b != number)
        return found

    def _losing(self, switch: int, members: list[int], detours: Sequence[Detours]) -> Iterator[tuple[int, int]]:
        """Pairs of the members after which a switch has no next hop to a destination, but has one after each alone."""
        first, end = self.network.offsets[switch], self.network.offsets[switch + 1]
        dead = [one.dead[(one.dead >= first) & (one.dead < end)] for one in (detours[number] for number in members)]
        own = self.hops[first:end]
        fan = np.unpackbits(own.view(np.uint8), axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        few = (fan > 1) & (fan <= 2 * max(map(len, dead)))  # two members can take all next hops
        if not few.any():
            return
        candidates = bits.row_of(np.flatnonzero(few), len(few))
        near = [number for number, gone in zip(members, dead, strict=True) if (self.hops[gone] & candidates).any()]
        for a, b in combinations(near, 2):
            one, other = detours[a], detours[b]
            both = lost_hops(self.network, self.hops, switch, np.concatenate((one.dead, other.dead)))
            if (both & ~(one.struck[switch] | other.struck[switch])).any():
                yield a, b


def _sole(rows: Words, starts: Indices) -> Words:
    """The bits of each row that no other row of its run has."""
    size = np.diff(np.append(starts, len(rows)))
    once: Words = np.zeros((len(starts), rows.shape[1]), np.uint64)
    twice = once.copy()
    for step in range(size.max(initial=0)):
        runs = np.flatnonzero(size > step)
        row = rows[starts[runs] + step]
        twice[runs] |= once[runs] & row
        once[runs] |= row
    sole: Words = rows & ~np.repeat(twice, size, axis=0)
    return sole
