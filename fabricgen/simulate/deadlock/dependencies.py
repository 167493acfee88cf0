"""Next hops to the channel dependency graph: which link a packet that holds one link may wait for.

A destination makes link b wait-for of link a = (u, v) when some host's packets to it take a, and b = (v, w) is a next
hop of v. A hash binds a packet to one next hop when it is enqueued and queues mix destinations, so the union over
next hops and destinations is exact (Dally and Seitz 1987 apply to it as they do to fixed routes).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import ALL, Words
from fabricgen.routing.network import Network

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
_WORDS_PER_PASS = 4
_PAIRS_PER_BLOCK = 1 << 15  # 256 KiB of words: stays in a core's cache


@dataclass(frozen=True)
class ChannelGraph:
    """Channels and dependencies in compressed rows: those that channel c waits for are
    `successors[offsets[c]:offsets[c + 1]]`."""

    offsets: Offsets
    successors: Ints

    @property
    def channels(self) -> int:
        """Number of channels."""
        return len(self.offsets) - 1

    def tails(self) -> Ints:
        """The waiting channel of every dependency."""
        return np.repeat(np.arange(self.channels, dtype=np.int32), np.diff(self.offsets))

    def keep(self, wanted: NDArray[np.bool_]) -> "ChannelGraph":
        """The same channels with only the wanted dependencies."""
        before = np.concatenate(([0], np.cumsum(wanted)))
        return ChannelGraph(before[self.offsets].astype(np.int64), self.successors[wanted])


def carried(network: Network, nexthops: Words, sources: NDArray[np.bool_]) -> Words:
    """What each link carries, when every source sends to every destination: nexthops that some packet really takes.

    Rows are links in the order of `network.incoming` (by receiving switch); words as in `nexthops`.
    """
    incoming = network.incoming
    source, target = network.source[incoming], network.target[incoming]
    flow = nexthops[incoming]
    for first in range(0, flow.shape[1], _WORDS_PER_PASS):
        part = np.s_[:, first : first + _WORDS_PER_PASS]
        hops = np.ascontiguousarray(flow[part])
        active: Words = np.zeros((network.switches, hops.shape[1]), np.uint64)
        active[sources] = ALL
        grown = sources
        while grown.any():
            links = grown[source].nonzero()[0]
            arriving = hops[links] & active[source[links]]
            starts = bits.segment_starts(target[links])
            rows = target[links[starts]]
            before = active[rows]
            active[rows] = before | bits.any_of(arriving, starts)
            grown = np.zeros_like(sources)
            grown[rows] = np.any(active[rows] != before, axis=1)
        flow[part] = hops & active[source]
    return flow


def link_dependencies(network: Network, nexthops: Words, carried_words: Words) -> ChannelGraph:
    """The graph over links, numbered in the order of `network.incoming`."""
    place = np.empty(network.links, np.int32)
    place[network.incoming] = np.arange(network.links, dtype=np.int32)
    degree = np.zeros(network.links, np.int64)
    found = [np.empty(0, np.int32)]
    for first, last, width_in, width_out in _blocks(network):
        row, link = network.incoming_offsets[first], network.offsets[first]
        size = last - first
        held = carried_words[row : row + size * width_in].reshape(size, width_in, 1, -1)
        wanted = nexthops[link : link + size * width_out].reshape(size, 1, width_out, -1)
        shared = np.zeros((size, width_in, width_out), np.uint64)
        both = np.empty_like(shared)
        for word in np.flatnonzero(np.any(held, axis=(0, 1, 2))):
            here, there = np.ascontiguousarray(held[..., word]), np.ascontiguousarray(wanted[..., word])
            np.bitwise_and(here, there, out=both)
            np.bitwise_or(shared, both, out=shared)
        waits = shared != 0
        degree[row : row + size * width_in] = waits.sum(axis=2).ravel()
        switch, _, port = waits.nonzero()
        found.append(place[link + switch * width_out + port])
    return ChannelGraph(np.concatenate(([0], np.cumsum(degree))), np.concatenate(found))


def _blocks(network: Network) -> Iterator[tuple[int, int, int, int]]:
    """Runs of neighboring switches with equal numbers of links in and out: (first, last, in, out)."""
    width_in, width_out = np.diff(network.incoming_offsets), np.diff(network.offsets)
    change = (width_in[1:] != width_in[:-1]) | (width_out[1:] != width_out[:-1])
    edges = [0, *(np.flatnonzero(change) + 1).tolist(), network.switches]
    for first, last in pairwise(edges):
        pairs = int(width_in[first] * width_out[first]) if last > first else 0
        step = max(1, _PAIRS_PER_BLOCK // pairs) if pairs else last - first
        for start in range(first, last, step) if pairs else ():
            yield start, min(start + step, last), int(width_in[first]), int(width_out[first])
