"""Failures on trees that updn or ftree routes, without a run of OpenSM.

updn ranks switches by the links to the nearest root, and a packet goes up and then down. Tables of such paths have no
cycle on any SL, before and after a failure. Two switches reach each other if both reach a common switch upwards. ftree
has the same paths where it does not fail, and updn is behind it. tests/simulate/opensm/test_failures.py compares the
verdicts with the tables of the real OpenSM.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from fabricgen.observed.subnet import Subnet

Flags = NDArray[np.bool_]


class UpDownTree:
    """The links of a subnet with its roots, given by node GUID."""

    def __init__(self, subnet: Subnet, roots: Collection[int]) -> None:
        self.is_root = np.array([one.node_guid in roots for one in subnet.switches], bool)
        self.has_adapters = (subnet.adapter_at >= 0).any(axis=1)
        source, port = (subnet.peer_switch >= 0).nonzero()
        self.source, self.target = source, subnet.peer_switch[source, port].astype(np.int64)
        self.port = port

    def disconnected(self, dead: Flags, gone: Collection[int] = ()) -> int | None:
        """The number of switches with adapters that do not reach all others, without the `dead` directed links [L] and
        the `gone` switches; None if a link joins switches of equal rank, where the paths of OpenSM are not known."""
        live = ~dead
        source, target = self.source[live], self.target[live]
        rank = self._ranks(source, target)
        ranked = (rank[source] >= 0) & (rank[target] >= 0)
        source, target = source[ranked], target[ranked]
        if (rank[source] == rank[target]).any():
            return None
        above = np.eye(len(rank), dtype=np.float32)
        upwards = rank[source] > rank[target]
        for level in range(1, int(rank.max()) + 1):
            chosen = upwards & (rank[source] == level)
            links = np.zeros_like(above)
            links[source[chosen], target[chosen]] = 1
            np.minimum(above + links @ above, 1, out=above)
        leaves = self.has_adapters & ~np.isin(np.arange(len(rank)), list(gone))
        rows = above[leaves & (rank >= 0)]
        alone = int((leaves & (rank < 0)).sum())
        if alone and leaves.sum() > 1:
            return alone
        return int(((rows @ rows.T) == 0).any(axis=1).sum())

    def _ranks(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of links from each switch to the nearest root; -1 if it reaches none."""
        far = len(self.is_root)
        rank = np.where(self.is_root, 0, far)
        while True:
            nearer = rank.copy()
            np.minimum.at(nearer, source, rank[target] + 1)
            if (nearer == rank).all():
                return np.where(rank >= far, -1, rank)
            rank = nearer
