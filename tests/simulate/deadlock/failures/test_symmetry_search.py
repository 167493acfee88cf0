"""Candidates for symmetries, compared with all permutations of a small fabric."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from fabricgen.routing.routes import Destination
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.symmetry import Invariants, MovedFailures, Symmetry, numbered
from fabricgen.simulate.deadlock.failures.symmetry_search import SymmetrySearch, mixed
from tests.routing.networks import link_between
from tests.simulate.deadlock.grounds import every_link, ground, leaf_spine


def test_hashes_are_those_of_splitmix64() -> None:
    """The first outputs of the reference implementation for seed 0, and the first for seed 1234567."""
    step = 0x9E3779B97F4A7C15
    seeds = np.array([0, step, 2 * step % 2**64, 1234567], np.uint64)
    assert [f"{word:016x}" for word in mixed(seeds).tolist()] == [
        "e220a8397b1dcdaf", "6e789e6aa1b965f4", "06c45d188009454f", "599ed017fb08fc85",
    ]  # fmt: skip


def with_prefix(full: Ground, origins: tuple[int, ...], family: int = 4, loopback: bool = False) -> Ground:
    """The ground with one more destination, which is not a subnet of hosts."""
    more = Destination(("10.9.9.9/32" if family == 4 else "fd00::9/128",), origins, family, loopback)
    return replace(full, destinations=(*full.destinations, more), witness=(*full.witness, more.prefixes[0]))


def with_asn(full: Ground, switch: int, same_as: int) -> Ground:
    asn = full.policy.asn.copy()
    asn[switch] = asn[same_as]
    return replace(full, policy=replace(full.policy, asn=asn))


def not_lossless(full: Ground, near: int, far: int) -> Ground:
    """One direction of a link without lossless priorities."""
    mask = full.lossless.mask.copy()
    mask[link_between(full.network, near, far)] = 0
    return replace(full, lossless=replace(full.lossless, mask=mask))


def wired(*links: tuple[int, int], leaves: int, spines: int) -> Ground:
    return ground(list(links), [65100 + leaf for leaf in range(leaves)] + [65000] * spines, leaves)


FULL = leaf_spine(4, 2)  # leaves 0 to 3, spines 4 and 5
TWO_PLANES = [(leaf, 4 + leaf // 2) for leaf in range(4)]

Parts = list[set[int]]
GROUNDS: dict[str, tuple[Ground, Parts]] = {
    "leaf-spine": (FULL, [{0, 1, 2, 3}, {4, 5}]),
    "a loopback of one leaf": (with_prefix(FULL, (1,), loopback=True), [{0, 2, 3}, {1}, {4, 5}]),
    "a prefix of both spines": (with_prefix(FULL, (4, 5)), [{0, 1, 2, 3}, {4, 5}]),
    "a prefix of two leaves": (with_prefix(FULL, (0, 2)), [{0, 2}, {1, 3}, {4, 5}]),
    "an IPv6 prefix of one spine": (with_prefix(FULL, (4,), family=6), [{0, 1, 2, 3}, {4}, {5}]),
    "two leaves with one ASN": (with_asn(FULL, 3, 1), [{0, 2}, {1, 3}, {4, 5}]),
    "an ASN of a leaf and a spine": (with_asn(FULL, 4, 1), [{0, 2, 3}, {1}, {4}, {5}]),
    "a lossy downlink": (not_lossless(FULL, 4, 0), [{0}, {1, 2, 3}, {4}, {5}]),
    "a lossy uplink": (not_lossless(FULL, 0, 4), [{0}, {1, 2, 3}, {4}, {5}]),
    "parallel links": (
        wired(*TWO_PLANES, (0, 4), leaves=4, spines=2),
        [{0}, {1}, {2, 3}, {4}, {5}],
    ),
    "two planes": (wired(*TWO_PLANES, leaves=4, spines=2), [{0, 1, 2, 3}, {4, 5}]),
    "a ring": (
        wired((0, 3), (3, 1), (1, 4), (4, 2), (2, 5), (5, 0), leaves=3, spines=3),
        [{0, 1, 2}, {3, 4, 5}],
    ),
    "a chain": (wired((0, 3), (3, 1), (1, 4), (4, 2), leaves=3, spines=2), [{0, 2}, {1}, {3, 4}]),
    "two switches": (wired((0, 1), leaves=1, spines=1), [{0}, {1}]),
    "no links": (wired(leaves=2, spines=0), [{0, 1}]),
}


def unmarked(known: Invariants) -> np.ndarray:
    return np.zeros(known.network.links, np.int64)


def symmetric(known: Invariants, mark: np.ndarray, fixed: int = -1) -> set[tuple[int, ...]]:
    """All permutations of the switches that are symmetries."""
    chance = np.random.default_rng(0)
    return {
        one
        for one in permutations(range(known.network.switches))
        if (fixed < 0 or one[fixed] == fixed) and known.symmetry(np.array(one), mark, chance) is not None
    }


def orbits(moves: set[tuple[int, ...]], size: int) -> Parts:
    return sorted({frozenset(move[one] for move in moves) for one in range(size)}, key=min)  # type: ignore[arg-type]


def classes(colours: np.ndarray) -> Parts:
    """The switches of each colour."""
    return sorted(({*np.flatnonzero(colours == one).tolist()} for one in np.unique(colours)), key=min)


@pytest.mark.parametrize("name", GROUNDS)
def test_colours_are_orbits_and_guesses_are_symmetries(name: str) -> None:
    made, parts = GROUNDS[name]
    known = Invariants(made)
    truth = symmetric(known, unmarked(known))
    search, chance = SymmetrySearch(known), np.random.default_rng(1)
    assert orbits(truth, made.network.switches) == parts
    assert classes(search.colours()) == parts
    guesses = {tuple(found.tolist()) for _ in range(40) if (found := search.guess(chance)) is not None}
    assert guesses <= truth
    assert orbits(guesses, made.network.switches) == parts, "guesses reach each switch of an orbit"


def test_no_symmetry_moves_a_marked_link_or_switch() -> None:
    known = Invariants(FULL)
    mark = unmarked(known)
    link = link_between(FULL.network, 2, 4)
    mark[[link, FULL.network.reverse[link]]] = 1
    assert classes(SymmetrySearch(known, mark).colours()) == [{0, 1, 3}, {2}, {4}, {5}]
    assert classes(SymmetrySearch(known, unmarked(known), 4).colours()) == [{0, 1, 2, 3}, {4}, {5}]
    assert classes(SymmetrySearch(known, unmarked(known), 0).colours()) == [{0}, {1, 2, 3}, {4, 5}]
    chance = np.random.default_rng(0)
    for fixed, search in ((-1, SymmetrySearch(known, mark)), (4, SymmetrySearch(known, unmarked(known), 4))):
        used = mark if fixed < 0 else unmarked(known)
        truth = symmetric(known, used, fixed)
        assert {tuple(search.guess(chance).tolist()) for _ in range(200)} == truth  # type: ignore[union-attr]
        assert len(truth) == {-1: 6, 4: 24}[fixed]


def test_equal_rows_have_equal_numbers_in_sorted_order() -> None:
    one, other = np.array([5, 3, 5, 3, 9]), np.array([True, False, True, True, False])
    assert numbered(one).tolist() == [1, 0, 1, 0, 2]
    assert numbered(one, other).tolist() == [2, 0, 2, 1, 3]
    assert numbered(np.array([7, 7]), np.array([1, 0])).tolist() == [1, 0]
    assert numbered(np.array([7, 7])).tolist() == [0, 0]


def swap(size: int, *pairs: tuple[int, int]) -> np.ndarray:
    found = np.arange(size)
    for a, b in pairs:
        found[[a, b]] = b, a
    return found


def test_a_symmetry_maps_links_and_destinations() -> None:
    """Leaves 0 and 1 change places, and so do the loopbacks of spines 4 and 5."""
    made = with_prefix(with_prefix(FULL, (4,), loopback=True), (5,), loopback=True)
    known = Invariants(made)
    found = known.symmetry(swap(6, (0, 1), (4, 5)), unmarked(known), np.random.default_rng(0))
    assert found is not None
    net = made.network
    assert found.column.tolist() == [1, 0, 2, 3, 5, 4]
    for link in range(net.links):
        image = int(found.link[link])
        assert net.source[image] == found.switch[net.source[link]]
        assert net.target[image] == found.switch[net.target[link]]
        assert found.link[net.reverse[link]] == net.reverse[image]


@pytest.mark.parametrize("wrong", [[0, 0, 2, 3, 4, 5], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 6], [-1, 1, 2, 3, 4, 5]])
def test_what_is_not_a_permutation_is_not_a_symmetry(wrong: list[int]) -> None:
    known = Invariants(FULL)
    assert known.symmetry(np.array(wrong), unmarked(known), np.random.default_rng(0)) is None


def test_failures_move_with_their_links() -> None:
    """Leaves 0 and 1 change places: their links do, and the links of other leaves stay."""
    known, failures = Invariants(FULL), every_link(FULL.network)
    net = FULL.network
    found = known.symmetry(swap(6, (0, 1)), unmarked(known), np.random.default_rng(0))
    assert found is not None
    image = MovedFailures(failures, net.links, net.switches).permutation(found)
    assert image is not None
    names = [one.name for one in failures]
    assert [names[one] for one in image] == ["1-4", "1-5", "0-4", "0-5", "2-4", "2-5", "3-4", "3-5"]
    few = MovedFailures(failures[:3], net.links, net.switches)
    assert few.permutation(found) is None, "0-5 has no image"
    both = replace(failures[0], links=(*failures[0].links, *failures[1].links))
    unequal = MovedFailures([both, *failures[2:]], net.links, net.switches)
    assert unequal.permutation(found) is None, "two links and one link"
    assert MovedFailures([both, *failures], net.links, net.switches).permutation(identity(found)) is None, "overlap"
    assert MovedFailures([both, *failures[2:]], net.links, net.switches).permutation(identity(found)) is not None


def identity(like: Symmetry) -> Symmetry:
    return Symmetry(*(np.arange(len(one)) for one in (like.switch, like.link, like.column)))
