"""Tiers of a fabric as its wiring shows them, and the order of links that they suggest."""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.network import Network


def tiers(network: Network, sources: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Links from each switch to the nearest one with hosts; a large number where there is none."""
    level = np.where(sources, 0, network.switches)
    for _ in range(network.switches):
        nearer = level.copy()
        np.minimum.at(nearer, network.source, level[network.target] + 1)
        if (nearer == level).all():
            break
        level = nearer
    return level


def upward_first(network: Network, sources: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Per link when a packet that goes up and then down may take it: links up by tier, then links down."""
    level = tiers(network, sources)
    near, far = level[network.source], level[network.target]
    return np.where(far > near, near, 2 * network.switches - near)
