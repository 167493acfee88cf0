"""Reachability in a dependency graph without cycles, for many marks at once."""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bits import Words, any_of
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.core.peel import successors_of


class Reach:
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
