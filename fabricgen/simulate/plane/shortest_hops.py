"""Next hops on shortest paths of a tree: all of them, or one for each destination."""

import numpy as np

from fabricgen.routing.bits import Words
from fabricgen.routing.network import Network
from fabricgen.simulate.plane.ports import Ints

_WORD = 64


def shortest_hops(network: Network, leaf: Ints) -> Words | None:
    """[link, word]: the links on shortest paths to each adapter, of `leaf[a]`; None if a cable does not join switches
    of neighboring tiers. On a tree, shortest paths go up and then down, so they have no credit loop."""
    tier = _distance(network, np.unique(leaf))
    if (np.abs(tier[network.source] - tier[network.target]) != 1).any():
        return None
    hops = np.zeros((network.links, -(-max(1, len(leaf)) // _WORD)), np.uint64)
    for switch in np.unique(leaf).tolist():
        away = _distance(network, np.array([switch]))
        nearer = np.flatnonzero(away[network.target] < away[network.source])
        for adapter in np.flatnonzero(leaf == switch).tolist():
            hops[nearer, adapter // _WORD] |= np.uint64(1) << np.uint64(adapter % _WORD)
    return hops


def by_destination(network: Network, hops: Words, leaf: Ints) -> Words:
    """One of the next hops for each adapter: by its place among those of its leaf, as ftree spreads destinations."""
    adapters = np.arange(len(leaf))
    order = np.argsort(leaf, kind="stable")
    first = np.searchsorted(leaf[order], leaf)
    rank = np.empty(len(leaf), np.int64)
    rank[order] = adapters
    rank -= first
    kept = np.zeros_like(hops)
    for switch in range(network.switches):
        own = slice(int(network.offsets[switch]), int(network.offsets[switch + 1]))
        usable = np.unpackbits(hops[own].view(np.uint8), axis=1, bitorder="little")[:, : len(leaf)].astype(bool)
        count = usable.sum(axis=0)
        turn = rank % np.maximum(count, 1) + 1
        one = usable & (np.cumsum(usable, axis=0) == turn)
        padded = np.zeros((len(one), hops.shape[1] * _WORD), np.uint8)
        padded[:, : len(leaf)] = one
        kept[own] = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    return kept


def _distance(network: Network, sources: Ints) -> Ints:
    """The number of links from the nearest of some switches to each switch; the number of switches if none reaches
    it."""
    away = np.full(network.switches, network.switches, np.int64)
    away[sources] = 0
    while True:
        nearer = away.copy()
        np.minimum.at(nearer, network.target, away[network.source] + 1)
        if (nearer == away).all():
            return away
        away = nearer
