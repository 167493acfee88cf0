"""Next hops on shortest paths of a tree: all of them, or one for each destination."""

import numpy as np

from fabricgen.routing.bits import Words
from fabricgen.routing.network import Network
from fabricgen.simulate.plane.ports import Ints

_WORD = 64


def shortest_hops(network: Network, leaf: Ints) -> Words | None:
    """[link, word]: the links on shortest paths to each adapter, of `leaf[a]`; None if a cable does not join switches
    of neighboring tiers. On a tree, shortest paths go up and then down, so they have no credit loop."""
    if tiers_of(network, leaf) is None:
        return None
    hops = np.zeros((network.links, -(-max(1, len(leaf)) // _WORD)), np.uint64)
    for switch in np.unique(leaf).tolist():
        away = _distance(network, np.array([switch]))
        nearer = np.flatnonzero(away[network.target] < away[network.source])
        for adapter in np.flatnonzero(leaf == switch).tolist():
            hops[nearer, adapter // _WORD] |= np.uint64(1) << np.uint64(adapter % _WORD)
    return hops


def tiers_of(network: Network, leaf: Ints) -> Ints | None:
    """The tier of each switch, 0 for those of `leaf[a]`; None if a cable does not join neighboring tiers."""
    tier = _distance(network, np.unique(leaf))
    return None if (np.abs(tier[network.source] - tier[network.target]) != 1).any() else tier


def up_down_hops(network: Network, tier: Ints, leaf: Ints, dead: Ints) -> Words:
    """[link, word] without the links `dead`: the links on shortest paths that go up and then down, as `tier` was before
    the failure. Without a dead link they are those of `shortest_hops`. A switch that such a path does not lead to has
    no next hop: no engine for trees turns up again after a way down."""
    alive = np.ones(network.links, bool)
    alive[dead] = False
    upward = tier[network.target] > tier[network.source]
    down, up = np.flatnonzero(alive & ~upward), np.flatnonzero(alive & upward)
    far = network.switches
    hops = np.zeros((network.links, -(-max(1, len(leaf)) // _WORD)), np.uint64)
    for switch in np.unique(leaf).tolist():
        start = np.full(network.switches, far, np.int64)
        start[switch] = 0
        below = _relaxed(network, start, down)  # the switches above the leaf, to which the way is down only
        away = _relaxed(network, below, up)
        onward = alive & (upward == (below[network.source] == far)) & (away[network.source] < far)
        kept = onward & (away[network.target] == away[network.source] - 1)
        for adapter in np.flatnonzero(leaf == switch).tolist():
            hops[kept, adapter // _WORD] |= np.uint64(1) << np.uint64(adapter % _WORD)
    return hops


def _relaxed(network: Network, away: Ints, links: Ints) -> Ints:
    """The distances if packets can take these links as well; they never decrease along a cycle, so this ends."""
    source, target = network.source[links], network.target[links]
    while True:
        nearer = away.copy()
        np.minimum.at(nearer, source, away[target] + 1)
        if (nearer == away).all():
            return away
        away = nearer


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
