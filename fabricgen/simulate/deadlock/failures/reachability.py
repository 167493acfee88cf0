"""Which links lead to which in a dependency graph without cycles, for many questions at once."""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bits import Words, any_of
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.core.peel import successors_of


class Reach:
    """A graph without cycles, prepared for sweeps from its last links to its first."""

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
        """Which marks each link leads to, itself included, over links that are alive (links x words)."""
        reach = marks & alive
        for links, after, starts in self.layers:
            reach[links] |= np.bitwise_or.reduceat(reach[after], starts) & alive[links]
        return reach

    def beyond(self, reach: Words, links: NDArray[np.int64]) -> Words:
        """Which marks what comes after each of the links leads to."""
        found: Words = np.zeros((len(links), reach.shape[1]), np.uint64)
        on = np.flatnonzero(self.graph.offsets[links + 1] > self.graph.offsets[links])
        after, starts = self._after(links[on])
        found[on] = any_of(reach[after], starts)
        return found

    def _after(self, links: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """What comes after the links, and where that of each begins."""
        size = self.graph.offsets[links + 1] - self.graph.offsets[links]
        return successors_of(self.graph, links), np.cumsum(size) - size
