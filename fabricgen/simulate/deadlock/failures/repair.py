"""Local repair: the time between a failure and the withdrawal of routes, if switches have fast reroute.

A switch that has lost every next hop to a destination sends the packets to a neighbor that still has a next hop other
than the switch itself. The neighbor forwards them, never straight back. All other switches forward as before. The
dependencies of the previous state stay if their links are alive, because the buffers are still full.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from fabricgen.routing import bits
from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.network import Network
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph, carried, union
from fabricgen.simulate.deadlock.core.state import BufferDependencies, State
from fabricgen.simulate.deadlock.failures.shortest_paths import links_of, lost_hops


def repaired_hops(network: Network, hops: Words, dead: Indices) -> Words:
    """The next hops of packets with detours around the directed links `dead`, which have no bits themselves."""
    found = hops.copy()
    found[dead] = 0
    live = found.copy()  # detours lead to switches that need no detour
    for switch in np.unique(network.source[dead]).tolist():
        struck = lost_hops(network, hops, switch, dead)
        if struck.any():
            usable = np.setdiff1d(np.arange(network.offsets[switch], network.offsets[switch + 1]), dead)
            found[usable] |= struck & _onward(network, live, usable)
    return found


def _onward(network: Network, live: Words, links: Indices) -> Words:
    """For each link (u, x), the destinations to which x has a next hop other than u."""
    after, starts = links_of(network, network.target[links].astype(np.int64))
    size = np.diff(np.append(starts, len(after)))
    back = network.target[after] == np.repeat(network.source[links], size)
    rows = live[after]
    rows[back] = 0
    return bits.any_of(rows, starts)


def repaired_witnesses(before: State, dead: Indices, links: Sequence[int]) -> tuple[str, ...]:
    """For each link of a cycle under local repair, a prefix whose packets arrive over it and leave over the next link:
    after the failure, else before it. Only destinations that some switch has lost are computed again."""
    network = before.ground.network
    lost = np.zeros(before.hops.shape[1], np.uint64)
    for switch in np.unique(network.source[dead]).tolist():
        lost |= lost_hops(network, before.hops, switch, dead)
    words = np.flatnonzero(lost)
    hops = repaired_hops(network, np.ascontiguousarray(before.hops[:, words]), dead)
    flow = carried(network, hops, before.ground.sources)
    place, found = network.place, []
    for link, after in pairwise([*links, links[0]]):
        row = np.zeros_like(lost)
        row[words] = flow[place[link]] & hops[after]
        shared = row if row.any() else before.shared(int(place[link]), after)
        found.append(before.witness_of(link, after, shared))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Repaired:
    """Local repair after the directed links `dead` of the state `before` have failed. `now` has the detours."""

    before: State
    now: State
    dead: Indices

    @classmethod
    def of(cls, before: State, dead: Indices) -> "Repaired":
        """The same ground with detours."""
        hops = repaired_hops(before.ground.network, before.hops, dead)
        return cls(before, replace(before, hops=hops), dead)

    @cached_property
    def buffers(self) -> BufferDependencies:
        """The dependencies of `now`, without those straight back, and those of `before` whose links are alive."""
        network = self.now.ground.network
        both = union(_forward(network, self.now.buffers.links), self.before.buffers.links)
        alive = np.ones(network.links, bool)
        alive[self.dead] = False
        here = alive[network.incoming]
        return BufferDependencies(self.now.ground, both.keep(here[both.tails()] & here[both.successors]))


def _forward(network: Network, graph: ChannelGraph) -> ChannelGraph:
    """The graph without dependencies straight back to the sender of the packet."""
    come, go = network.incoming[graph.tails()], network.incoming[graph.successors]
    return graph.keep(network.source[come] != network.target[go])
