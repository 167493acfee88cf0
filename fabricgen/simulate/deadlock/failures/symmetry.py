"""Symmetries of a fabric as configured: permutations of switches and links that change no input of a verdict.

The inputs are: the wiring, the policy of each session and switch, which switches share an ASN (ASNs are only compared
for equality), the origins of prefixes and which prefixes cover each other, the switches with hosts, the lossless
priorities of each link, the maps that move packets between priorities, and the turns of lists of uSIDs. A set of
failures and its image then have the same verdict.

A candidate permutation counts only after all of this has been verified for every switch and link.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import Indices
from fabricgen.routing.fallback import Fallbacks
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.failure_sets import Failure


@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """`switch[u]` replaces switch u, `link[l]` replaces directed link l, `column[c]` replaces destination c."""

    switch: Indices
    link: Indices
    column: Indices


class Invariants:
    """What symmetries of a ground must preserve. `link_kind`, `switch_kind` and `column_kind` number links, switches
    and destinations by their own properties; `cable_kind` includes both directions of a link; `asn` numbers the
    ASNs. `further` numbers the links by what else symmetries keep."""

    def __init__(self, ground: Ground, further: Indices | None = None) -> None:
        network, policy, lossless = ground.network, ground.policy, ground.lossless
        self.ground, self.network = ground, network
        filters = np.zeros(network.links, np.int64) if policy.filters is None else policy.filters
        self.link_kind = numbered(
            policy.hears, policy.allowas_in, filters, lossless.mask, lossless.arrival, lossless.departure,
            np.zeros(network.links, np.int64) if further is None else further,
        )  # fmt: skip
        self.cable_kind = numbered(self.link_kind, self.link_kind[network.reverse])
        self.switch_kind = numbered(policy.isolated, policy.multipath_relax, policy.maximum_paths, ground.sources)
        self.asn = np.unique(policy.asn, return_inverse=True)[1]
        self.fallbacks = Fallbacks(ground.destinations, ground.discards, network.switches)
        columns = np.arange(len(ground.destinations))
        self.column_kind = numbered(
            np.array([one.family for one in ground.destinations], np.int64),
            np.array([one.loopback for one in ground.destinations], bool),
            columns < ground.host_columns,
            self.fallbacks.shortest,
            _numbers_of([one.barred for one in ground.destinations]),
        )
        self.column_of = {
            (one.origins, kind): column
            for column, (one, kind) in enumerate(zip(ground.destinations, self.column_kind.tolist(), strict=True))
        }
        self.missed = None  # what sources must reach, if it differs among them
        if ground.expected is not None and (ground.expected[ground.sources] != ground.host_destinations).any():
            self.missed = ground.expected
        self.cable = np.minimum(np.arange(network.links), network.reverse)
        self.turns = self._turns(np.arange(network.links))

    def symmetry(self, switch: Indices, mark: Indices, chance: "np.random.Generator") -> Symmetry | None:
        """The symmetry with this permutation of the switches, parallel links in random order, or None.
        Links with different `mark` (0 or 1) do not replace each other."""
        kind = numbered(self.cable_kind, mark)
        if not _is_permutation(switch, self.network.switches) or (self.switch_kind[switch] != self.switch_kind).any():
            return None
        image = self._images(self.asn, self.asn[switch])
        column = self._columns(switch)
        link = self._links(switch, kind, chance.permutation(self.network.links))
        if image is None or column is None or link is None:
            return None
        found = Symmetry(switch, link, column)
        keeps = self._keeps_fallbacks(found) and self._keeps_expected(found)
        return found if keeps and np.array_equal(self._turns(found.link), self.turns) else None

    @staticmethod
    def _images(number: Indices, image: Indices) -> Indices | None:
        """The image of each number, if the mapping is one to one."""
        found = np.full(int(number.max(initial=-1)) + 1, -1)
        found[number] = image
        return found if (found[number] == image).all() and _is_permutation(found, len(found)) else None

    def _links(self, switch: Indices, kind: Indices, drawn: Indices) -> Indices | None:
        """The image of each link, matched by ends and kind."""
        net = self.network
        kinds = int(kind.max(initial=0)) + 1
        near, far = net.source.astype(np.int64), net.target.astype(np.int64)
        before = (near * net.switches + far) * kinds + kind
        after = (switch[near] * net.switches + switch[far]) * kinds + kind
        there, here = np.lexsort((self.cable, before)), np.lexsort((drawn[self.cable], after))
        if (before[there] != after[here]).any():
            return None
        link = np.empty(net.links, np.int64)
        link[here] = there
        keeps = (link[net.reverse] == net.reverse[link]).all() and (self.link_kind[link] == self.link_kind).all()
        ends = (net.source[link] == switch[net.source]).all() and (net.target[link] == switch[net.target]).all()
        return link if keeps and ends and _is_permutation(link, net.links) else None

    def _columns(self, switch: Indices) -> Indices | None:
        """The image of each destination: of the same kind, with the images of its origins."""
        moved = switch.tolist()
        found = np.empty(len(self.column_kind), np.int64)
        for column, kind in enumerate(self.column_kind.tolist()):
            origins = tuple(sorted([moved[one] for one in self.ground.destinations[column].origins]))
            found[column] = self.column_of.get((origins, kind), -1)
        return found if _is_permutation(found, len(found)) else None

    def _turns(self, link: Indices) -> Indices:
        """The turns of lists after links are replaced, each as one number, sorted."""
        turns = self.ground.turns
        return (
            np.unique(link[turns.held] * self.network.links + link[turns.awaited]) if turns else np.empty(0, np.int64)
        )

    def _keeps_fallbacks(self, found: Symmetry) -> bool:
        return self.fallbacks.keep(found.switch, found.column)

    def _keeps_expected(self, found: Symmetry) -> bool:
        if self.missed is None:
            return True
        return bool((bits.take_columns(self.missed[found.switch], found.column) == self.missed).all())


def _numbers_of(values: Sequence[frozenset[int]]) -> Indices:
    """Equal values get the same number."""
    known: dict[frozenset[int], int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], np.int64)


class MovedFailures:
    """The effect of symmetries on failures."""

    def __init__(self, failures: Sequence[Failure], links: int, switches: int) -> None:
        count = np.array([len(one.links) for one in failures], np.int64)
        self.switch = np.array([one.switch for one in failures], np.int64)
        self.link = np.array([link for one in failures for link in one.links], np.int64)
        self.of = np.repeat(np.arange(len(failures)), count)
        self.count = count
        self.owner, self.at = np.full(links, -1), np.full(switches, -1)
        of_link = self.switch[self.of] < 0
        self.owner[self.link[of_link]] = self.of[of_link]
        whole = np.flatnonzero(self.switch >= 0)
        self.at[self.switch[whole]] = whole
        self.are_apart = bool((self.owner[self.link[of_link]] == self.of[of_link]).all())

    def permutation(self, symmetry: Symmetry) -> Indices | None:
        """The image of each failure; None if a failure has no image."""
        image = np.full(len(self.count), -1)
        whole = self.switch >= 0
        image[whole] = self.at[symmetry.switch[self.switch[whole]]]
        on_links = ~whole[self.of]
        moved, of = self.owner[symmetry.link[self.link[on_links]]], self.of[on_links]
        image[of] = moved
        same = (image[of] == moved).all() and (self.count[image] == self.count).all()
        return image if self.are_apart and same and _is_permutation(image, len(image)) else None


def numbered(*fields: NDArray[np.generic]) -> Indices:
    """Numbers of the rows of several columns, equal for equal rows, in sorted order."""
    found = np.zeros(len(fields[0]), np.int64)
    for field in fields:
        if (field != field[:1]).any():
            values, number = np.unique(field, return_inverse=True)
            found = np.unique(found * len(values) + number, return_inverse=True)[1]
    return found


def _is_permutation(found: Indices, size: int) -> bool:
    if len(found) != size or (size and (int(found.min()) < 0 or int(found.max()) >= size)):
        return False
    return bool((np.bincount(found, minlength=size) == 1).all())
