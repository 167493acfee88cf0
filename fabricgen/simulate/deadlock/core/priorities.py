"""Links to channels: one dependency graph for each set of priorities with equal graphs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.plane.lossless import LosslessLinks


@dataclass(frozen=True, slots=True)
class PriorityGraph:
    """A dependency graph over channels: channel c is link `link[c]` on priority `priority[c]`.

    `stands_for` are the priorities whose graphs are equal to this one; empty for a graph over several priorities.
    """

    graph: ChannelGraph
    link: NDArray[np.int64]
    priority: NDArray[np.int64]
    stands_for: tuple[int, ...]

    @property
    def copies(self) -> int:
        """The number of equal graphs that this one represents."""
        return max(1, len(self.stands_for))


def priority_graphs(links: ChannelGraph, incoming: NDArray[np.int32], lossless: LosslessLinks) -> list[PriorityGraph]:
    """The channel graphs of all lossless priorities.

    `links` is the dependency graph over links, numbered in the order of `incoming`.
    """
    mask = lossless.mask[incoming]
    if not lossless.uniform:
        return [_joined(links, incoming, mask, lossless)]
    by_links: dict[bytes, list[int]] = {}
    for priority in lossless.priorities:
        by_links.setdefault(np.packbits(mask >> priority & 1).tobytes(), []).append(priority)
    return [_single(links, incoming, mask, tuple(members)) for members in by_links.values()]


def _single(
    links: ChannelGraph, incoming: NDArray[np.int32], mask: NDArray[np.uint8], priorities: tuple[int, ...]
) -> PriorityGraph:
    """The graph of priorities that never change and are lossless on the same links."""
    has = (mask >> priorities[0] & 1).astype(bool)
    if has.all():
        return PriorityGraph(links, incoming.astype(np.int64), np.full(len(mask), priorities[0]), priorities)
    kept = links.keep(has[links.tails()] & has[links.successors])
    channels = np.flatnonzero(has)
    number = np.cumsum(has) - 1
    ends = np.concatenate((kept.offsets[:-1][has], kept.offsets[-1:]))
    graph = ChannelGraph(ends, number[kept.successors].astype(np.int32))
    return PriorityGraph(graph, incoming[channels].astype(np.int64), np.full(len(channels), priorities[0]), priorities)


def _joined(
    links: ChannelGraph, incoming: NDArray[np.int32], mask: NDArray[np.uint8], lossless: LosslessLinks
) -> PriorityGraph:
    """The graph over (link, priority), for maps that move packets between priorities."""
    number = np.full((8, len(mask)), -1, np.int64)
    link_of: list[NDArray[np.int64]] = []
    priority_of: list[NDArray[np.int64]] = []
    channels = 0
    for priority in lossless.priorities:
        has = np.flatnonzero(mask >> priority & 1)
        number[priority, has] = channels + np.arange(len(has))
        channels += len(has)
        link_of.append(has)
        priority_of.append(np.full(len(has), priority))
    tails, heads = links.tails(), links.successors
    arrival, departure = lossless.arrival[incoming], lossless.departure[incoming]
    waiting, awaited = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for priority in lossless.priorities:
        onward = lossless.onward[arrival[tails], departure[heads], priority]
        for held in lossless.priorities:
            a, b = number[priority, tails], number[held, heads]
            is_dependency = (onward >> held & 1).astype(bool) & (a >= 0) & (b >= 0)
            waiting.append(a[is_dependency])
            awaited.append(b[is_dependency])
    first, second = np.concatenate(waiting), np.concatenate(awaited)
    order = np.argsort(first, kind="stable")
    counts = np.bincount(first, minlength=channels)
    graph = ChannelGraph(np.concatenate(([0], np.cumsum(counts))), second[order].astype(np.int32))
    here = np.concatenate([*link_of, np.empty(0, np.int64)])
    return PriorityGraph(
        graph, incoming[here].astype(np.int64), np.concatenate([*priority_of, np.empty(0, np.int64)]), ()
    )
