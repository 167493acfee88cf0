"""Tests a dependency graph for cycles: removes the channels that nothing waits for, until none or a cycle is left."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph

Indices = NDArray[np.int64]
_STARTS = 1024  # of searches for the shortest cycle
_CHANNELS_PER_PASS = 4096


@dataclass(frozen=True, slots=True)
class Peeled:
    """`order` is a certificate: every dependency goes from an earlier to a later channel. The `left` channels are on a
    cycle or reached from one; empty if the graph has no cycle."""

    order: Indices
    left: Indices


def peel_along(graph: ChannelGraph, order: Indices) -> Peeled:
    """The peeled graph; much faster than `peel` if `order` already is a valid order."""
    place = np.empty(graph.channels, np.int32)
    place[order] = np.arange(graph.channels, dtype=np.int32)
    waiting = np.flatnonzero(np.diff(graph.offsets))
    begin, end = graph.offsets[waiting], graph.offsets[waiting + 1]
    for first in range(0, len(waiting), _CHANNELS_PER_PASS):
        now = slice(first, first + _CHANNELS_PER_PASS)
        awaited = place[graph.successors[begin[first] : end[now][-1]]]
        if (place[waiting[now]] >= np.minimum.reduceat(awaited, begin[now] - begin[first])).any():
            return peel(graph)
    return Peeled(order, np.empty(0, np.int64))


def peel(graph: ChannelGraph) -> Peeled:
    """Kahn's algorithm, one layer of channels at a time."""
    waiting = np.bincount(graph.successors, minlength=graph.channels)
    layer = np.flatnonzero(waiting == 0)
    order = []
    while len(layer):
        order.append(layer)
        reached = successors_of(graph, layer)
        if len(reached) * 8 < graph.channels:
            np.subtract.at(waiting, reached, 1)
            touched = np.unique(reached)
            layer = touched[waiting[touched] == 0].astype(np.int64)
        else:
            fewer = np.bincount(reached, minlength=graph.channels)
            waiting -= fewer
            layer = np.flatnonzero((waiting == 0) & (fewer > 0))
    return Peeled(np.concatenate(order) if order else np.empty(0, np.int64), np.flatnonzero(waiting > 0))


def successors_of(graph: ChannelGraph, channels: Indices) -> NDArray[np.int32]:
    """The successors of all given channels, one after another."""
    begin, length = graph.offsets[channels], graph.offsets[channels + 1] - graph.offsets[channels]
    shift = begin - np.concatenate(([0], np.cumsum(length)[:-1])) if len(channels) else begin
    return graph.successors[np.repeat(shift, length) + np.arange(length.sum())]


def shortest_cycle(graph: ChannelGraph, left: Indices) -> list[int]:
    """A shortest cycle among the channels left by peeling. Of more than 1,024 channels, only cycles through 1,024
    evenly spaced ones are compared. Empty if there is no cycle."""
    core, names = _core(graph, left)
    best = _two_cycle(core)
    if best:
        return [int(names[channel]) for channel in best]
    starts = np.unique(np.linspace(0, core.channels - 1, min(core.channels, _STARTS)).astype(np.int64))
    for start in starts.tolist():
        found = _cycle_through(core, start, len(best) - 1 if best else core.channels)
        best = found or best
        if len(best) == 3:  # shorter cycles are excluded
            break
    return [int(names[channel]) for channel in best]


def disjoint_cycles(graph: ChannelGraph, left: Indices) -> Iterator[list[int]]:
    """Shortest cycles one after another, each without the dependencies of the earlier ones."""
    while len(left) and (cycle := shortest_cycle(graph, left)):
        yield cycle
        used = [channel * graph.channels + after for channel, after in pairwise([*cycle, cycle[0]])]
        graph = graph.keep(~np.isin(graph.tails().astype(np.int64) * graph.channels + graph.successors, used))
        left = peel(graph).left


def shortest_through(graph: ChannelGraph, starts: Indices) -> list[int]:
    """A shortest cycle through any of the channels; empty if no cycle exists."""
    best: list[int] = []
    for start in starts.tolist():
        best = _cycle_through(graph, start, len(best) - 1 if best else graph.channels) or best
    return best


def _core(graph: ChannelGraph, left: Indices) -> tuple[ChannelGraph, Indices]:
    """The channels on cycles, renumbered, and their old numbers: those behind a cycle are peeled backwards."""
    forward, names = _among(graph, left)
    backward = _reverse(forward)
    return_to = peel(backward).left
    core, kept = _among(forward, return_to)
    return core, names[kept]


def _among(graph: ChannelGraph, channels: Indices) -> tuple[ChannelGraph, Indices]:
    number = np.full(graph.channels, -1, np.int32)
    number[channels] = np.arange(len(channels), dtype=np.int32)
    successors = number[successors_of(graph, channels)]
    length = graph.offsets[channels + 1] - graph.offsets[channels]
    whole = ChannelGraph(np.concatenate(([0], np.cumsum(length))), successors)
    return whole.keep(successors >= 0), channels


def _reverse(graph: ChannelGraph) -> ChannelGraph:
    order = np.argsort(graph.successors, kind="stable")
    counts = np.bincount(graph.successors, minlength=graph.channels)
    return ChannelGraph(np.concatenate(([0], np.cumsum(counts))), graph.tails()[order])


def _two_cycle(graph: ChannelGraph) -> list[int]:
    tails, heads = graph.tails().astype(np.int64), graph.successors.astype(np.int64)
    both = np.flatnonzero(np.isin(tails * graph.channels + heads, heads * graph.channels + tails))
    return [int(tails[both[0]]), int(heads[both[0]])] if len(both) else []


def _cycle_through(graph: ChannelGraph, start: int, longest: int) -> list[int]:
    """A shortest cycle through `start` of at most `longest` channels; empty if no cycle exists."""
    parent = np.full(graph.channels, -1, np.int64)
    layer = np.array([start], np.int64)
    for _ in range(longest):
        reached = successors_of(graph, layer)
        tails = np.repeat(layer, graph.offsets[layer + 1] - graph.offsets[layer])
        back = np.flatnonzero(reached == start)
        if len(back):
            path = [int(tails[back[0]])]
            while path[-1] != start:
                path.append(int(parent[path[-1]]))
            return path[::-1]
        new = parent[reached] < 0
        layer, first = np.unique(reached[new], return_index=True)
        parent[layer] = tails[new][first]
        layer = layer.astype(np.int64)
        if not len(layer):
            break
    return []
