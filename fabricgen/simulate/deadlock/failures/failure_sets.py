"""What can fail: a link, a cable with several links, a switch; and sets of such failures.

Links between a switch and a host cannot be on a cycle and are left out. Sessions of both address families over one port
are one link.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.routing.bits import Indices
from fabricgen.routing.fabric import RoutedFabric


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure: the directed links that fail, and the number of the switch that fails (else -1)."""

    name: str
    links: tuple[int, ...]
    switch: int = -1


@dataclass(frozen=True, slots=True)
class FailureSet:
    """Failures at the same time."""

    failures: tuple[Failure, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the links, cables and switches that fail."""
        return tuple(one.name for one in self.failures)

    @property
    def dead(self) -> Indices:
        """The directed links that have failed, sorted."""
        return np.unique(np.array([link for one in self.failures for link in one.links], np.int64))

    @property
    def gone(self) -> tuple[int, ...]:
        """The switches that have failed."""
        return tuple(one.switch for one in self.failures if one.switch >= 0)


NOTHING = FailureSet(())


def links_that_fail(bundle: Bundle, fabric: RoutedFabric) -> list[Failure]:
    """The failure of each link between switches."""
    by_ends: dict[tuple[tuple[str, str], tuple[str, str]], list[int]] = {}
    for pair, session in enumerate(fabric.sessions):
        ends = sorted((end.switch, end.interface.partition(".")[0]) for end in (session.a, session.b))
        by_ends.setdefault((ends[0], ends[1]), []).append(pair)
    place = np.empty(fabric.network.links, np.int64)
    place[fabric.network.order] = np.arange(fabric.network.links)
    directed = place.tolist()
    found = []
    for (near, far), pairs in by_ends.items():
        links = tuple(sorted(directed[2 * pair + way] for pair in pairs for way in (0, 1)))
        wired = bundle.link_at.get(near)
        name = wired.id if wired else "--".join(map(":".join, (near, far)))
        found.append(Failure(name, links))
    return sorted(found, key=lambda one: one.links)


def cables_that_fail(bundle: Bundle, links: Sequence[Failure]) -> list[Failure]:
    """The failure of each cable that contains several of the links."""
    by_name = {one.name: one.links for one in links}
    found = []
    for cable in bundle.wiring.cables if bundle.wiring else ():
        carried = [by_name[link] for link in cable.links if link in by_name]
        if len(carried) > 1:
            found.append(Failure(f"cable {cable.id}", tuple(sorted(link for each in carried for link in each))))
    return found


def switch_failure(fabric: RoutedFabric, number: int) -> Failure:
    """The failure of a switch with all of its links."""
    network = fabric.network
    out = np.arange(network.offsets[number], network.offsets[number + 1])
    links = np.concatenate((out, network.reverse[out]))
    return Failure(f"switch {fabric.names[number]}", tuple(sorted(links.tolist())), number)


class SetsOf:
    """All sets of `depth` of the failures, in lexicographic order."""

    def __init__(self, failures: Sequence[Failure], depth: int) -> None:
        self.failures, self.depth = failures, depth
        self.count = comb(len(failures), depth)

    def all(self) -> "list[FailureSet]":
        """Every set."""
        return [FailureSet(members) for members in combinations(self.failures, self.depth)]

    def sample(self, size: int, seed: int) -> "list[FailureSet]":
        """`size` sets drawn independently and uniformly; the same sets for the same seed."""
        chance = np.random.default_rng([seed, self.depth])
        drawn = [sorted(chance.choice(len(self.failures), self.depth, replace=False).tolist()) for _ in range(size)]
        return [FailureSet(tuple(self.failures[index] for index in members)) for members in drawn]
