"""The switches that lose all of their shortest paths by a failure: only then packets take new next hops.

Suppose that no loop check refused a path in the state as configured (`Routes.plain`). Then path lengths are those of
the wiring, and failures cannot shorten them. By induction from the destination: a switch that keeps a next hop to a
switch that keeps one too keeps its path length, and its next hops are the remaining old ones. A switch that has lost
all next hops learns only longer paths, so no switch that kept its length uses it. (If failures cannot cause other next
hops at all, nothing is learned, and refused paths do not matter.) Therefore, as long as no switch with hosts loses all
next hops to a destination, packets use old next hops only. Removing next hops removes dependencies and disconnects no
hosts. All other failures must be judged one by one."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.network import Network
from fabricgen.simulate.deadlock.core.state import State

Flags = NDArray[np.bool_]
_WORDS_AT_ONCE = 8  # of 64 destinations; limits memory: the next hops of all links to them


class ShortestPaths:
    """The shortest paths of the fabric as configured, and which of them failures take.

    `are_certain`: next hops do not depend on history or on shorter prefixes. `are_decisive`: also no loop check refused
    a path, so that the argument above holds.
    """

    def __init__(self, state: State) -> None:
        ground, routes = state.ground, state.routes
        self.network, self.hops, self.sources = ground.network, routes.nexthops, ground.sources
        self.reached = routes.reached
        self.origins = bits.set_bits(
            self.network.switches,
            len(ground.destinations),
            *np.array(
                [(switch, column) for column, one in enumerate(ground.destinations) for switch in one.origins], np.int64
            ).reshape(-1, 2).T,
        )  # fmt: skip
        self.are_certain = state.hops is routes.nexthops and not routes.ambiguous.any()
        self.are_decisive = routes.plain and self.are_certain

    def lost(self, dead: Indices, gone: Sequence[int] = (), among: Words | None = None) -> bool:
        """Whether a switch with hosts loses all shortest paths to a destination if the directed links `dead` fail.
        `among` are the destinations as a row of bits, None for all. Failed switches (`gone`) are neither sources nor
        origins."""
        left = self.reached.copy()
        cut = np.zeros(self.network.links, bool)
        cut[dead] = True
        touched = np.unique(self.network.source[dead]).astype(np.int64)
        counted = np.full(self.reached.shape[1], bits.ALL) if among is None else among
        if gone:
            others = np.delete(self.origins, list(gone), axis=0)
            counted = counted & np.bitwise_or.reduce(others, axis=0)
        while len(touched):
            links, starts = links_of(self.network, touched)
            offer = self.hops[links] & left[self.network.target[links]]
            offer[cut[links]] = 0
            now = self.origins[touched].copy()
            has = np.flatnonzero(np.diff(np.append(starts, len(links))))
            if len(has):
                now[has] |= np.bitwise_or.reduceat(offer, starts[has])
            fewer = left[touched] & ~now
            changed = np.any(fewer, axis=1)
            if np.any((fewer & counted)[self.sources[touched] & ~np.isin(touched, gone)]):
                return True
            left[touched] &= now
            touched = _neighbors(self.network, touched[changed])
        return False


def spares(paths: ShortestPaths, enough: int) -> int:
    """The number of disjoint parts of the fabric that each carry all traffic on shortest paths, at most `enough`; a
    lower bound, because the search is limited. With n parts, any n - 1 failures leave one intact."""
    network = paths.network
    inner = ~paths.sources
    if not inner.any():
        return 0
    found = 0
    for labels in (_components(network, inner), _twins(network, inner)):
        names = np.unique(labels[inner])
        part = np.full(network.switches, -1)
        part[inner] = np.searchsorted(names, labels[inner]) % enough
        found = max(found, sum(_carries_all(paths, part == number) for number in range(min(enough, len(names)))))
        if found == enough:
            break
    return found


def _carries_all(paths: ShortestPaths, members: Flags) -> bool:
    """Whether every source has a shortest path to every destination through `members` only."""
    words = range(0, paths.hops.shape[1], _WORDS_AT_ONCE)
    return all(_carries(paths, members, slice(first, first + _WORDS_AT_ONCE)) for first in words)


def _carries(paths: ShortestPaths, members: Flags, words: slice) -> bool:
    network, origins, reached = paths.network, paths.origins[:, words], paths.reached[:, words]
    left = np.where(members[:, None], reached, origins)
    rows = np.flatnonzero(np.diff(network.offsets))
    while True:
        offer = paths.hops[:, words] & left[network.target]
        now = origins.copy()
        now[rows] |= np.bitwise_or.reduceat(offer, network.offsets[rows])
        if (reached[paths.sources] & ~now[paths.sources]).any():
            return False
        if not (left[members] & ~now[members]).any():
            return True
        left[members] &= now[members]


def _components(network: Network, inner: Flags) -> Indices:
    """For each switch, the least switch of its connected component, over `inner` switches only."""
    label = np.arange(network.switches)
    links = np.flatnonzero(inner[network.source] & inner[network.target])
    source, target = network.source[links], network.target[links]
    while True:
        lower = label.copy()
        np.minimum.at(lower, source, label[target])
        lower = lower[lower]
        if (lower == label).all():
            return label
        label = lower


def _twins(network: Network, inner: Flags) -> Indices:
    """For each switch, its rank among the inner switches with the same neighbors."""
    rank = np.zeros(network.switches, np.int64)
    seen: dict[bytes, int] = {}
    for switch in np.flatnonzero(inner).tolist():
        around = network.target[network.offsets[switch] : network.offsets[switch + 1]].tobytes()
        rank[switch] = seen.setdefault(around, 0)
        seen[around] += 1
    return rank


def links_of(network: Network, switches: Indices) -> tuple[Indices, Indices]:
    """The links from the given switches, and where those of each switch begin."""
    first, size = network.offsets[switches], network.offsets[switches + 1] - network.offsets[switches]
    starts = np.cumsum(size) - size
    return np.repeat(first - starts, size) + np.arange(size.sum()), starts


def lost_hops(network: Network, hops: Words, switch: int, dead: Indices) -> Words:
    """The destinations to which a switch loses its last next hop if the links `dead` fail."""
    first, end = network.offsets[switch], network.offsets[switch + 1]
    cut = np.zeros(end - first, bool)
    cut[dead[(dead >= first) & (dead < end)] - first] = True
    own = hops[first:end]
    lost: Words = np.bitwise_or.reduce(own[cut], axis=0) & ~np.bitwise_or.reduce(own[~cut], axis=0)
    return lost


def _neighbors(network: Network, switches: Indices) -> Indices:
    return np.unique(network.target[links_of(network, switches)[0]]).astype(np.int64)
