"""When the search for symmetries ends."""

from dataclasses import replace

import numpy as np
import pytest

from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.orbits import Orbits
from fabricgen.simulate.deadlock.failures.symmetry import Invariants
from fabricgen.simulate.deadlock.failures.symmetry_search import SymmetrySearch
from tests.routing.networks import link_between
from tests.simulate.deadlock.failures.test_symmetry_search import swap
from tests.simulate.deadlock.grounds import every_link, ground, leaf_spine


def with_guesses(full: Ground, guesses: list[np.ndarray | None], monkeypatch: pytest.MonkeyPatch) -> tuple[Orbits, int]:
    """The orbits of single links if the search proposes these permutations, and how many of them it requests."""
    left = list(guesses)
    monkeypatch.setattr(SymmetrySearch, "guess", lambda *_: left.pop(0))
    found = Orbits(full, every_link(full.network), 100)
    return found, len(guesses) - len(left)


@pytest.mark.parametrize("useless", [None, np.arange(5)])
def test_eight_guesses_without_progress_end_the_search(
    useless: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No permutation, or one that moves nothing."""
    found, asked = with_guesses(leaf_spine(3, 2), [useless] * 20, monkeypatch)
    assert (asked, len(found.first)) == (8, 6)


def test_progress_resets_the_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven misses, one swap of leaves, and eight more misses."""
    found, asked = with_guesses(leaf_spine(3, 2), [None] * 7 + [swap(5, (0, 1))] + [None] * 20, monkeypatch)
    assert (asked, len(found.first)) == (16, 4)


def test_the_search_ends_when_no_orbit_can_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    found, asked = with_guesses(leaf_spine(3, 1), [swap(4, (0, 1)), swap(4, (1, 2)), None], monkeypatch)
    assert (asked, found.first.tolist(), found.size.tolist()) == (2, [0], [3])


def test_at_most_24_symmetries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each swap of two neighbors joins one more of 30 leaves."""
    swaps: list[np.ndarray | None] = [swap(31, (leaf, leaf + 1)) for leaf in range(29)]
    found, asked = with_guesses(leaf_spine(30, 1), swaps, monkeypatch)
    assert (asked, len(found.first)) == (24, 6)


def test_parallel_links_are_matched_by_kind() -> None:
    """Two links from each leaf, one of them lossy. Whatever the draw, lossy links replace lossy links."""
    full = ground([(0, 2), (0, 2), (1, 2), (1, 2)], [65100, 65101, 65000], 2)
    net, mask = full.network, full.lossless.mask.copy()
    for leaf in (0, 1):
        first = link_between(net, leaf, 2)
        mask[[first, net.reverse[first]]] = 0
    known = Invariants(replace(full, lossless=replace(full.lossless, mask=mask)))
    for seed in range(20):
        found = known.symmetry(swap(3, (0, 1)), np.zeros(net.links, np.int64), np.random.default_rng(seed))
        assert found is not None
        assert (mask[found.link] == mask).all()


def test_a_marked_link_does_not_replace_one_of_another_kind() -> None:
    """The mark and the kind are two properties: a marked lossy link is not like an unmarked lossless one."""
    full = ground([(0, 2), (1, 2)], [65100, 65101, 65000], 2)
    net, mask = full.network, full.lossless.mask.copy()
    lossy = link_between(net, 0, 2)
    mask[[lossy, net.reverse[lossy]]] = 0
    known = Invariants(replace(full, lossless=replace(full.lossless, mask=mask)))
    for leaf in (0, 1):
        mark = np.zeros(net.links, np.int64)
        link = link_between(net, leaf, 2)
        mark[[link, net.reverse[link]]] = 1
        assert known.symmetry(swap(3, (0, 1)), mark, np.random.default_rng(0)) is None
        assert known.symmetry(np.arange(3), mark, np.random.default_rng(0)) is not None
