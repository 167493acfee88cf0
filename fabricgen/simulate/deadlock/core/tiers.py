"""The tiers of a fabric by its wiring, and the order of links by tier."""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.network import Network


def tiers(network: Network, sources: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of links from each switch to the nearest switch with hosts; a large number if no switch has hosts."""
    level = np.where(sources, 0, network.switches)
    seen = front = sources
    distance = 0
    while front.any():
        distance += 1
        near = np.zeros_like(front)
        near[network.target[front[network.source]]] = True
        front = near & ~seen
        seen = seen | front
        level[front] = distance
    return level


def upward_first(network: Network, sources: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each link, its place on a path up and then down: uplinks by tier, then downlinks."""
    level = tiers(network, sources)
    near, far = level[network.source], level[network.target]
    return np.where(far > near, near, 2 * network.switches - near)
