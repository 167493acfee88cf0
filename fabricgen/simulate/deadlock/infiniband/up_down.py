"""Up-down routing: whether a wiring alone excludes credit loops, without a subnet manager's tables.

Levels count the links to the nearest switch with adapters. If every link between switches connects adjacent levels,
packets that go up and then down, as updn and ftree send them, wait in that order only, so no cycle is possible. Other
wirings prove nothing.
"""

from dataclasses import dataclass

import numpy as np

from fabricgen.observed.subnet import Subnet, levels
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.core.peel import peel


@dataclass(frozen=True, slots=True)
class UpDown:
    """`is_legal`: all up-then-down paths together have no cycle. `channels` and `dependencies` are counts."""

    is_legal: bool
    channels: int
    dependencies: int


def up_down(subnet: Subnet) -> UpDown:
    """All turns of up-then-down paths, and whether they close a cycle."""
    source, port = (subnet.peer_switch >= 0).nonzero()
    target = subnet.peer_switch[source, port].astype(np.int64)
    level = levels(subnet)
    climb = level[target] - level[source]
    if (abs(climb) != 1).any() or (level >= len(level)).any():
        return UpDown(False, len(source), 0)
    first = np.searchsorted(source, np.arange(len(level) + 1))
    fan = (first[1:] - first[:-1])[target]
    tails = np.repeat(np.arange(len(source)), fan)
    heads = np.repeat(first[target] - np.concatenate(([0], np.cumsum(fan)[:-1])), fan) + np.arange(fan.sum())
    legal = ((climb[tails] > 0) | (climb[heads] < 0)) & (target[heads] != source[tails])
    tails, heads = tails[legal], heads[legal]
    counts = np.bincount(tails, minlength=len(source))
    graph = ChannelGraph(np.concatenate(([0], np.cumsum(counts))), heads.astype(np.int32))
    return UpDown(not len(peel(graph).left), len(source), len(heads))
