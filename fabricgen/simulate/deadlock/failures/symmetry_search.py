"""Candidates for symmetries: colour refinement with individualisation (McKay and Piperno 2014) on a reduced graph.

Vertices are switches, ASNs of several switches, and prefixes of several origins. Twins (vertices of one colour with the
same neighbors) can be swapped freely and are merged. A vertex with one neighbor is merged into it. A Clos of thousands
of switches is reduced to some hundred vertices. Then one vertex after another is singled out: on one side always the
same one, on the other any of its colour. Refinement spreads the difference until all colours are unique. Vertices of
one colour on the two sides replace each other. Colours are hashes, so the result is only a candidate until `Invariants`
has verified it.
"""

from dataclasses import dataclass

import numpy as np

from fabricgen.routing.bits import Indices, Words
from fabricgen.simulate.deadlock.failures.symmetry import Invariants

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MOST_WORK = 1 << 24  # edges times vertices singled out: some seconds
_TRIES = 4  # at each vertex that is singled out


@dataclass(frozen=True, slots=True, eq=False)
class _Graph:
    """Edges in both directions, sorted by `tail`, with labels; a colour for each vertex."""

    colour: Words
    tail: Indices
    head: Indices
    label: Words

    def around(self, each: Words) -> Words:
        """For each vertex, the sum of `each` over its edges."""
        total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(each, dtype=np.uint64)))
        ends = np.searchsorted(self.tail, np.arange(len(self.colour) + 1))
        around: Words = total[ends[1:]] - total[ends[:-1]]
        return around

    def refined(self, colour: Words) -> Words:
        """The colours refined by those of the neighbors, until the number of colours is stable."""
        count = len(np.unique(colour))
        while True:
            colour = mixed(colour * _GAMMA + self.around(mixed(colour[self.head] ^ self.label)))
            now = len(np.unique(colour))
            if now == count:
                return colour
            count = now


@dataclass(frozen=True, slots=True, eq=False)
class _Merge:
    """Vertices of a graph merged into the vertices `into` of a smaller one. Those of equal `role` are
    interchangeable."""

    into: Indices
    role: Words

    def expand(self, image: Indices, chance: "np.random.Generator") -> Indices:
        """An image of the merged vertices from an image of the smaller graph's vertices; twins in random order."""
        drawn = chance.permutation(len(self.into))
        found = np.empty_like(self.into)
        found[np.lexsort((drawn, self.role, image[self.into]))] = np.lexsort((self.into, self.role, self.into))
        return found


class SymmetrySearch:
    """A ground as a coloured graph. Links and a switch can be marked, so that no symmetry moves them."""

    def __init__(self, known: Invariants, mark: Indices | None = None, switch: int = -1) -> None:
        self.switches = known.network.switches
        graph = _drawn(known, mark, switch)
        self.merges: list[_Merge] = []
        while (step := _twins(graph) or _pendants(graph)) is not None:
            merge, graph = step
            self.merges.append(merge)
        self.graph = graph
        self.colour = graph.refined(graph.colour)
        self.path = self._path()

    def colours(self) -> Words:
        """A colour for each switch. No symmetry maps a switch to one of another colour."""
        colour = self.colour
        for merge in reversed(self.merges):
            colour = mixed(colour[merge.into] * _GAMMA + merge.role)
        return colour[: self.switches]

    def guess(self, chance: "np.random.Generator") -> Indices | None:
        """A candidate permutation of the switches; None if this attempt failed."""
        if self.path is None:
            return None
        colour = before = self.colour
        for vertex, goal in self.path:
            same = np.flatnonzero(colour == before[vertex])
            for choice in chance.permutation(same)[:_TRIES].tolist():
                there = self.graph.refined(_singled_out(colour, choice))
                if (np.sort(there) == np.sort(goal)).all():
                    break
            else:
                return None
            colour, before = there, goal
        image = np.empty(len(colour), np.int64)
        image[np.argsort(before)] = np.argsort(colour)
        for merge in reversed(self.merges):
            image = merge.expand(image, chance)
        return image[: self.switches]

    def _path(self) -> list[tuple[int, Words]] | None:
        """The vertices to single out, one of the most frequent colour each time, and the colours after each step; None
        if that takes too long."""
        found: list[tuple[int, Words]] = []
        colour = self.colour
        while True:
            _, first, count = np.unique(colour, return_index=True, return_counts=True)
            if count.max(initial=1) == 1:
                return found
            if len(found) * len(self.graph.tail) > _MOST_WORK:
                return None
            vertex = int(first[count.argmax()])
            colour = self.graph.refined(_singled_out(colour, vertex))
            found.append((vertex, colour))


def _drawn(known: Invariants, mark: Indices | None, switch: int) -> _Graph:
    """The graph of a ground; parallel links are one edge."""
    network = known.network
    kind = known.cable_kind if mark is None else known.cable_kind * 2 + mark
    code = network.source.astype(np.int64) * network.switches + network.target
    order = np.argsort(code, kind="stable")
    pairs, starts = np.unique(code[order], return_index=True)
    label = np.add.reduceat(mixed(kind[order].astype(np.uint64)), starts) if len(order) else np.empty(0, np.uint64)
    tails, heads = np.divmod(pairs, network.switches)
    colour = mixed(known.switch_kind.astype(np.uint64))
    if switch >= 0:
        colour[switch] = ~colour[switch]
    groups = [np.flatnonzero(known.asn == number) for number in np.flatnonzero(np.bincount(known.asn) > 1).tolist()]
    kinds = [0] * len(groups)
    own = [(one.origins[0], column) for column, one in enumerate(known.ground.destinations) if len(one.origins) == 1]
    origin, column = np.array(own, np.int64).reshape(-1, 2).T
    np.add.at(colour, origin, mixed(known.column_kind[column].astype(np.uint64)))
    for one, column_kind in zip(known.ground.destinations, known.column_kind.tolist(), strict=True):
        if len(one.origins) > 1:
            groups.append(np.array(one.origins, np.int64))
            kinds.append(column_kind + 1)
    members = np.concatenate([np.empty(0, np.int64), *groups])
    group = network.switches + np.repeat(np.arange(len(groups)), [len(one) for one in groups])
    apart = ~mixed(np.array(kinds, np.uint64))
    tail, head = np.concatenate((tails, members, group)), np.concatenate((heads, group, members))
    ways = np.concatenate((label, np.zeros(2 * len(members), np.uint64)))
    order = np.argsort(tail, kind="stable")
    return _Graph(np.concatenate((colour, apart)), tail[order], head[order], ways[order])


def _twins(graph: _Graph) -> tuple[_Merge, _Graph] | None:
    """Merges vertices of one colour with the same neighbors."""
    name = mixed(np.arange(len(graph.colour)).astype(np.uint64))
    seen = graph.around(mixed(name[graph.head] + graph.label))
    return _merged(
        graph, np.unique(np.stack([graph.colour, seen]), axis=1, return_inverse=True)[1].ravel(), graph.colour
    )


def _pendants(graph: _Graph) -> tuple[_Merge, _Graph] | None:
    """Merges vertices with one neighbor into it."""
    size = len(graph.colour)
    degree = np.bincount(graph.tail, minlength=size)
    alone = degree == 1
    last = np.searchsorted(graph.tail, np.flatnonzero(alone))
    host = np.arange(size)
    host[alone] = graph.head[last]
    both = alone & alone[host] & (host > np.arange(size))  # two vertices that have only each other
    host[both] = np.flatnonzero(both)
    role = graph.colour.copy()
    label = np.zeros(size, np.uint64)
    label[alone] = graph.label[last]
    inner = host != np.arange(size)
    role[inner] = mixed(role[inner] + mixed(label[inner]) + _GAMMA)
    return _merged(graph, np.unique(host, return_inverse=True)[1], role)


def _merged(graph: _Graph, into: Indices, role: Words) -> tuple[_Merge, _Graph] | None:
    """The graph of merged vertices; None if no vertices merge."""
    count = int(into.max(initial=-1)) + 1
    if count == len(into):
        return None
    colour = np.zeros(count, np.uint64)
    np.add.at(colour, into, mixed(role))
    tail, head = into[graph.tail], into[graph.head]
    pairs, first = np.unique(tail * count + head, return_index=True)
    apart = pairs // count != pairs % count
    pairs, first = pairs[apart], first[apart]
    return _Merge(into, role), _Graph(mixed(colour), pairs // count, pairs % count, graph.label[first])


def _singled_out(colour: Words, vertex: int) -> Words:
    changed = colour.copy()
    changed[vertex] = mixed(changed[vertex : vertex + 1] + _GAMMA)[0]
    return changed


def mixed(words: Words) -> Words:
    """Hashes of words: the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    words = words + _GAMMA
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = words ^ (words >> np.uint64(31))
    return mixed
