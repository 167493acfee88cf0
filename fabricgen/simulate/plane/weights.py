"""Weights of next hops under weighted ECMP: the number of paths to the destination that the neighbor announces.

SONiC's bgpcfgd adds `set extcommunity bandwidth num-multipaths` to what a switch with `wcmp_enabled` announces. FRR
weights the paths to a prefix by it, if all of them have a bandwidth. The number counts the next hops of the neighbor
only, not what is left behind them. Source: SONiC HLD doc/wcmp; FRR bgpd/bgp_routemap.c, bgpd/bgp_zebra.c.
"""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bits import Words, segment_starts
from fabricgen.routing.network import Network

Flags = NDArray[np.bool_]
Bits = NDArray[np.uint8]  # links x destinations
Counts = NDArray[np.uint16]

_BITS = 64


def unpacked(words: NDArray[np.uint64], width: int) -> Bits:
    """One column of next hops as bits."""
    return np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")[:, :width]


def block_weights(network: Network, word: NDArray[np.uint64], width: int, announces: Flags) -> Counts:
    """The weight of each link for each destination of a block (links x `width`), 0 where it is not a next hop."""
    usable = unpacked(np.ascontiguousarray(word), width)
    if not network.links:
        return usable.astype(np.uint16)
    starts = segment_starts(network.source)
    senders = network.source[starts]
    count = np.zeros((network.switches, width), np.uint16)
    count[senders] = np.add.reduceat(usable, starts, axis=0, dtype=np.uint16)
    behind = np.maximum(count[network.target], 1)  # a switch that announces its own prefix has one path
    silent = usable & ~announces[network.target][:, None]
    is_partial = np.zeros((network.switches, width), bool)
    is_partial[senders] = np.add.reduceat(silent, starts, axis=0, dtype=np.uint16) > 0
    weights: Counts = np.where(is_partial[network.source], 1, behind).astype(np.uint16) * usable
    return weights


def hop_weights(network: Network, hops: Words, columns: int, announces: Flags) -> Counts:
    """The same for all destinations (links x `columns`)."""
    words = range(hops.shape[1])
    blocks = [block_weights(network, hops[:, word], min(_BITS, columns - word * _BITS), announces) for word in words]
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((network.links, 0), np.uint16)
