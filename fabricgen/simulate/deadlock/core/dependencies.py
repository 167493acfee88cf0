"""Next hops to the channel dependency graph: the links that a packet on one link can wait for.

Link a = (u, v) depends on link b = (v, w) if the packets of some host to a destination use a, and b is a next hop of v
to this destination. A hash binds a packet to one next hop when it is enqueued, and queues mix destinations. Therefore
the union over next hops and destinations is exact (Dally and Seitz 1987 applies as to fixed routes).
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import ALL, Words
from fabricgen.routing.network import Network

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
_WORDS_PER_PASS = 8


@dataclass(frozen=True, slots=True)
class ChannelGraph:
    """Channels and dependencies in compressed rows: channel c waits for `successors[offsets[c]:offsets[c + 1]]`."""

    offsets: Offsets
    successors: Ints

    @property
    def channels(self) -> int:
        """Number of channels."""
        return len(self.offsets) - 1

    def tails(self) -> Ints:
        """The waiting channel of every dependency."""
        return np.repeat(np.arange(self.channels, dtype=np.int32), np.diff(self.offsets))

    def keep(self, kept: NDArray[np.bool_]) -> "ChannelGraph":
        """The same channels with the dependencies in `kept` only."""
        before = np.concatenate(([0], np.cumsum(kept)))
        return ChannelGraph(before[self.offsets].astype(np.int64), self.successors[kept])


def carried(network: Network, nexthops: Words, sources: NDArray[np.bool_]) -> Words:
    """The destinations of the packets on each link, if every source sends to every destination.

    Rows are links in the order of `network.incoming` (by receiving switch); words as in `nexthops`.
    """
    incoming = network.incoming
    source, target = network.source[incoming], network.target[incoming]
    flow = np.empty_like(nexthops)
    for first in range(0, flow.shape[1], _WORDS_PER_PASS):
        part = np.s_[:, first : first + _WORDS_PER_PASS]
        hops = nexthops[part][incoming]
        active: Words = np.zeros((network.switches, hops.shape[1]), np.uint64)
        active[sources] = ALL
        grown = sources
        while grown.any():
            links = grown[source].nonzero()[0]
            arriving = hops[links]
            arriving &= active[source[links]]
            starts = bits.segment_starts(target[links])
            rows = target[links[starts]]
            before = active[rows]
            active[rows] = before | bits.any_of(arriving, starts)
            grown = np.zeros_like(sources)
            grown[rows] = np.any(active[rows] != before, axis=1)
        np.bitwise_and(hops, active[source], out=flow[part])
    return flow


def link_dependencies(network: Network, nexthops: Words, carried_words: Words) -> ChannelGraph:
    """The graph over links, numbered in the order of `network.incoming`.

    Switches with the same forwarding at each port are computed once: of thousands of switches a few hundred differ.
    """
    place = network.place.astype(np.int32)
    degree = np.zeros(network.links, np.int64)
    found = []
    known: dict[tuple[bytes, int], tuple[Offsets, Offsets]] = {}
    for switch in range(network.switches):
        come = slice(network.incoming_offsets[switch], network.incoming_offsets[switch + 1])
        go = slice(network.offsets[switch], network.offsets[switch + 1])
        held, awaited = carried_words[come], nexthops[go]
        rows = hashlib.sha256(held.data)
        rows.update(awaited.data)
        key = rows.digest(), len(held)
        if key not in known:
            waits = _share(held, awaited)
            known[key] = waits.sum(axis=1), waits.nonzero()[1]
        degree[come], ports = known[key]
        found.append(ports)
    offsets = np.concatenate(([0], np.cumsum(degree)))
    successors = np.empty(offsets[-1], np.int32)
    for switch, ports in enumerate(found):
        first, end = offsets[network.incoming_offsets[switch : switch + 2]]
        go = slice(network.offsets[switch], network.offsets[switch + 1])
        np.take(place[go], ports, out=successors[first:end], mode="clip")
    return ChannelGraph(offsets, successors)


def from_pairs(tails: NDArray[np.int64], heads: NDArray[np.int64], channels: int) -> ChannelGraph:
    """The graph of these dependencies, each of which counts once."""
    pairs = np.unique(tails * channels + heads)
    tails, heads = np.divmod(pairs, max(1, channels))
    counts = np.bincount(tails, minlength=channels)
    return ChannelGraph(np.concatenate(([0], np.cumsum(counts))), heads.astype(np.int32))


def union(one: ChannelGraph, other: ChannelGraph) -> ChannelGraph:
    """The dependencies of both graphs over the same channels."""
    tails = np.concatenate([graph.tails().astype(np.int64) for graph in (one, other)])
    heads = np.concatenate([graph.successors.astype(np.int64) for graph in (one, other)])
    return from_pairs(tails, heads, one.channels)


def _share(held: Words, awaited: Words) -> NDArray[np.bool_]:
    """Whether rows i of `held` and j of `awaited` have a bit in common (i x j)."""
    shared = np.zeros((len(held), len(awaited)), np.uint64)
    for word in np.flatnonzero(np.any(held, axis=0)):
        shared |= held[:, word, None] & awaited[None, :, word]
    waits: NDArray[np.bool_] = shared != 0
    return waits
