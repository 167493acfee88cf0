"""Orbits: groups of failures, or of pairs of failures, with the same verdict by symmetry.

Verified symmetries (`symmetry`) map each failure of an orbit to any other of it. Pairs need two steps: a symmetry maps
any pair to one that contains the first failure of an orbit, and symmetries that fix this failure move the other one. If
too few symmetries are found, orbits are smaller than necessary. Their sizes always add up to the number of all sets.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabricgen.routing.bits import Indices, Words
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.failure_sets import Failure
from fabricgen.simulate.deadlock.failures.symmetry import Invariants, MovedFailures
from fabricgen.simulate.deadlock.failures.symmetry_search import SymmetrySearch, mixed

_MOST_WORK = 1 << 26  # orbits of single failures times links: some minutes
_MOST_MISSES = 8
_MOST_SYMMETRIES = 24


@dataclass(frozen=True, slots=True)
class Orbit:
    """`size` sets of failures with the same verdict as the first of them, `members`."""

    members: tuple[int, ...]
    size: int


class Orbits:
    """The orbits of failures of one ground. `further` numbers its links by what else symmetries keep."""

    def __init__(self, ground: Ground, failures: Sequence[Failure], most: int, further: Indices | None = None) -> None:
        network = ground.network
        self.failures, self.most = failures, most
        self.known = Invariants(ground, further)
        self.moved = MovedFailures(failures, network.links, network.switches)
        loses = bool(len(self.known.fallbacks.column)) and bool((self.moved.switch >= 0).any())
        self.can_be_found = not loses  # destinations that vanish with a switch change what others fall back on
        self.every = np.arange(len(failures))
        self.moves: list[Indices] = []
        self._learn(self._symmetries(-1) if self.can_be_found else [])

    def _learn(self, moves: Sequence[Indices]) -> None:
        self.moves += moves
        self.label = joined(len(self.failures), [(self.every, move) for move in self.moves])
        self.first, self.size = np.unique(self.label, return_counts=True)

    def singles(self) -> list[Orbit] | None:
        """The orbits of single failures; None if there are more than `most`."""
        if not self.can_be_found or len(self.first) > self.most:
            return None
        return [Orbit((one,), size) for one, size in zip(self.first.tolist(), self.size.tolist(), strict=True)]

    def pairs(self) -> list[Orbit] | None:
        """The orbits of pairs; None if there are more than `most`, or if the search takes too long."""
        orbits = len(self.first)  # a pair of each two, at least
        too_many = orbits * (orbits - 1) // 2 > self.most or orbits * self.known.network.links > _MOST_WORK
        if not self.can_be_found or too_many:
            return None
        fixing = {first: self._symmetries(first) for first in self.first.tolist()}
        self._learn([move for moves in fixing.values() for move in moves])
        found: list[Orbit] = []
        for first in self.first.tolist():
            more = self._pairs_with(first, fixing[first])
            if more is None or len(found) + len(more) > self.most:
                return None
            found += more
        count = len(self.failures)
        assert sum(one.size for one in found) == count * (count - 1) // 2
        return found

    def _pairs_with(self, first: int, fixing: Sequence[Indices]) -> list[Orbit] | None:
        """The orbits of pairs whose lower failure is in the orbit of `first`. The symmetries `fixing` fix `first`."""
        label = joined(len(self.failures), [(self.every, move) for move in fixing])
        own = int((self.label == first).sum())
        others, size = np.unique(label[self.label > first], return_counts=True)
        found = [Orbit((first, rep), own * one) for rep, one in zip(others.tolist(), size.tolist(), strict=True)]
        inside = np.unique(label[(self.label == first) & (self.every != first)])
        turned = self._turned(first, inside.tolist())  # the same pairs with the other failure first
        label = joined(len(self.failures), [(self.every, label), (inside, turned)])
        inside, size = np.unique(label[(self.label == first) & (self.every != first)], return_counts=True)
        if (own * size % 2).any():  # too few symmetries: an orbit and its reverse differ
            return None
        found += [Orbit((first, rep), own * one // 2) for rep, one in zip(inside.tolist(), size.tolist(), strict=True)]
        return sorted(found, key=lambda one: one.members)

    def _turned(self, first: int, others: Sequence[int]) -> Indices:
        """For each of the others, all in the orbit of `first`: the image of `first` if the other is mapped to
        `first`."""
        back = [np.argsort(move) for move in self.moves]
        by = np.full(len(self.failures), -1)
        by[first] = len(self.moves)
        front = np.array([first])
        while len(front):
            layer = []
            for number, move in enumerate(self.moves):
                new = move[front]
                new = new[by[new] < 0]
                by[new] = number
                layer.append(new)
            front = np.concatenate([np.empty(0, np.int64), *layer])
        found = []
        for other in others:
            here, turned = other, first
            while here != first:
                move = back[by[here]]
                here, turned = int(move[here]), int(move[turned])
            found.append(turned)
        return np.array(found, np.int64)

    def _symmetries(self, fixed: int) -> list[Indices]:
        """Permutations of the failures by symmetries, until no more failures join an orbit; with `fixed`, only those
        that fix this failure."""
        mark, switch = np.zeros(self.known.network.links, np.int64), -1
        if fixed >= 0:
            mark[list(self.failures[fixed].links)] = 1
            switch = self.failures[fixed].switch
        search = SymmetrySearch(self.known, mark, switch)
        cells = len(np.unique(self._colours(search.colours(), mark)))
        chance, misses = np.random.default_rng(0), 0
        found: list[Indices] = []
        label = self.every
        while len(np.unique(label)) > cells and misses < _MOST_MISSES and len(found) < _MOST_SYMMETRIES:
            move = self._move(search.guess(chance), mark, chance)
            if move is None or (fixed >= 0 and move[fixed] != fixed):
                misses += 1
                continue
            found.append(move)
            now = joined(len(self.failures), [(self.every, label), (self.every, move)])
            misses = 0 if (now != label).any() else misses + 1
            label = now
        return found

    def _move(self, switch: Indices | None, mark: Indices, chance: "np.random.Generator") -> Indices | None:
        """The permutation of the failures by a symmetry with this permutation of the switches, if there is one."""
        found = None if switch is None else self.known.symmetry(switch, mark, chance)
        return None if found is None else self.moved.permutation(found)

    def _colours(self, switch: Words, mark: Indices) -> Words:
        """Colours of failures. Failures of different colours are in different orbits."""
        net, moved = self.known.network, self.moved
        kind = (self.known.cable_kind * 2 + mark).astype(np.uint64)
        link = mixed(mixed(switch[net.source]) + mixed(switch[net.target]) * np.uint64(3) + mixed(kind))
        colour = np.zeros(len(self.failures), np.uint64)
        np.add.at(colour, moved.of, link[moved.link])
        whole = moved.switch >= 0
        colour[whole] += mixed(~switch[moved.switch[whole]])
        return colour


def joined(size: int, pairs: Sequence[tuple[Indices, Indices]]) -> Indices:
    """For each of `size` items, the least item of its connected component, by pairs of connected items."""
    label = np.arange(size)
    while True:
        lower = label.copy()
        for one, other in pairs:
            least = np.minimum(label[one], label[other])
            np.minimum.at(lower, label[one], least)
            np.minimum.at(lower, label[other], least)
        while (lower[lower] != lower).any():
            lower = lower[lower]
        if (lower == label).all():
            return label
        label = lower
