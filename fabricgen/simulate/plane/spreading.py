"""Loads under ideal ECMP: every switch splits the demand for a destination evenly over its next hops, or by weights.

Demand is switch x destination and moves hop by hop, for all switches and a block of destinations at a time. The cost is
one multiplication for each link and destination that it leads to.
"""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bits import Words, segment_starts
from fabricgen.routing.network import Network
from fabricgen.simulate.plane.weights import Flags, block_weights, unpacked

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_MOST_HOPS = 64
_BITS = 64


def split_loads(network: Network, hops: Words, demand: Singles, announces: Flags | None = None) -> Floats:
    """Bytes per ns on each link, of `demand[switch, destination]` in bytes per ns. `announces`: the switches that
    announce the number of their paths (weighted ECMP)."""
    load = np.zeros(network.links)
    for word in range(hops.shape[1]):
        block = demand[:, word * _BITS : (word + 1) * _BITS]
        if block.any():
            _add_block(network, hops[:, word], block, load, announces)
    return load


def _add_block(
    network: Network, word: NDArray[np.uint64], demand: Singles, load: Floats, announces: Flags | None
) -> None:
    """Adds one block of destinations to `load`."""
    at = np.ascontiguousarray(demand)
    width = at.shape[1]
    weights = None if announces is None else block_weights(network, word, width, announces)
    for _ in range(_MOST_HOPS):
        sending = np.any(at != 0, axis=1)
        links = np.flatnonzero(sending[network.source] & (word != 0))
        if not len(links):
            break
        source = network.source[links]
        usable = unpacked(word[links], width) if weights is None else weights[links]
        starts = segment_starts(source)
        count = np.add.reduceat(usable, starts, axis=0, dtype=np.float32)
        share = at[source[starts]] / np.maximum(count, np.float32(1))
        carried = np.repeat(share, np.diff(np.append(starts, len(links))), axis=0)
        carried *= usable
        load[links] += carried.sum(axis=1, dtype=np.float64)
        target = network.target[links]
        order = np.argsort(target, kind="stable")
        arrivals = segment_starts(target[order])
        moved = np.zeros_like(at)
        moved[target[order[arrivals]]] = np.add.reduceat(carried[order], arrivals, axis=0)
        at = moved
