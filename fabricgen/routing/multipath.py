"""Switches that do not use every equally short path: their next hops depend on which path came first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.network import Network


@dataclass(frozen=True, slots=True)
class NarrowChoices:
    """Links of such switches, in groups that are used together. Per group: `starts`, `switch`, and `rank`, its number
    within the switch. The groups of one switch are adjacent."""

    links: Indices
    starts: Indices
    switch: Indices
    rank: Indices

    def undecided(self, nexthops: Words, switches: int) -> Words:
        """The destinations to which each switch (switches x words) has equally short paths in several groups."""
        groups = np.bitwise_or.reduceat(nexthops[self.links], self.starts)
        once, twice = (np.zeros((switches, nexthops.shape[1]), np.uint64) for _ in range(2))
        for rank in range(int(self.rank.max()) + 1):
            now = (self.rank == rank).nonzero()[0]
            at = self.switch[now]
            twice[at] |= once[at] & groups[now]
            once[at] |= groups[now]
        return twice


def narrow_choices(
    network: Network, asn: NDArray[np.int64], multipath_relax: NDArray[np.bool_], maximum_paths: NDArray[np.int64]
) -> NarrowChoices | None:
    """The groups, or None if every switch uses all equally short paths.

    Without multipath-relax, FRR uses only paths through the neighbor AS of the best path: one group per neighbor AS.
    With more sessions than maximum-paths, any path can be unused: one group per link.
    """
    crowded = np.diff(network.offsets) > maximum_paths
    links = (~multipath_relax | crowded)[network.source].nonzero()[0]
    if not len(links):
        return None
    label = np.where(crowded[network.source[links]], links, asn[network.target[links]])
    order = np.lexsort((label, network.source[links]))
    links, label = links[order], label[order]
    source = network.source[links].astype(np.int64)
    starts = np.flatnonzero(np.concatenate(([True], (source[1:] != source[:-1]) | (label[1:] != label[:-1]))))
    switch = source[starts]
    first = bits.segment_starts(switch.astype(np.int32))
    rank = np.arange(len(starts)) - np.repeat(first, np.diff(np.append(first, len(starts))))
    return NarrowChoices(links, starts, switch, rank)
