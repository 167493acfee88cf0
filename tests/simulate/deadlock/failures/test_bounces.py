"""Detours around more failures than the bits of one word, with known answers."""

from itertools import combinations

import numpy as np
import pytest

from fabricgen.routing import bits
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures import bounces as bounces_module
from fabricgen.simulate.deadlock.failures.bounces import Bounces, bounces
from fabricgen.simulate.deadlock.failures.failure_sets import Failure
from fabricgen.simulate.deadlock.failures.repair import Repaired
from tests.simulate.deadlock.grounds import every_link, fat_tree, ground, leaf_spine


def found(ground: Ground, failures: list[Failure]) -> Bounces:
    around = bounces(ground.converged(), failures)
    assert around is not None
    return around


def test_one_failure_with_many_others() -> None:
    """Two links of a leaf-spine close a cycle if they lead to different spines; 72 others are two words."""
    full = leaf_spine(18, 4)
    failures = every_link(full.network)
    spine = np.array([full.network.target[one.links[0]] for one in failures])
    around = found(full, failures)
    assert not around.singles().any()
    for number in (0, 7, 71):
        expected = (spine != spine[number]).tolist()
        assert around._closes(number, range(72)).tolist() == expected
        assert around._closes(number, range(63, 72)).tolist() == expected[63:]


@pytest.mark.parametrize("at_once", [1, 1 << 22])
@pytest.mark.parametrize("rounds", [0, 8])
def test_rounds_and_sweeps_give_the_same_pairs(rounds: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without rounds, each pair is swept; with a small block, each word of failures is swept by itself."""
    monkeypatch.setattr(bounces_module, "_ROUNDS", rounds)
    monkeypatch.setattr(bounces_module, "_SWEPT_AT_ONCE", at_once)
    full = leaf_spine(18, 4)
    failures = every_link(full.network)
    verdicts = found(full, failures).pairs()
    assert verdicts is not None
    assert len(verdicts.undecided) == 0
    spine = [int(full.network.target[one.links[0]]) for one in failures]
    closing = {(row, column) for row in range(72) for column in bits.columns_of(verdicts.cyclic[row])}
    assert closing == {(a, b) for a, b in combinations(range(72), 2) if spine[a] != spine[b]}


def test_rounds_prove_all_pairs_of_a_leaf_spine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pair is left to be swept by itself."""
    full = leaf_spine(18, 4)
    around = found(full, every_link(full.network))
    assert around._never_back().all(), "a detour never leads back over a single link"
    monkeypatch.setattr(bounces_module, "_MOST_WORK", 0)
    assert around.pairs() is not None


def reached_from(around: Bounces, starts: list[int]) -> set[int]:
    """The links that packets can wait for, one after another."""
    graph, seen = around.reach.graph, set(starts)
    while starts:
        link = starts.pop()
        after = set(graph.successors[graph.offsets[link] : graph.offsets[link + 1]].tolist()) - seen
        seen |= after
        starts += after
    return seen


@pytest.mark.parametrize("at_once", [1, 1 << 22])
def test_detours_that_lead_back_to_what_has_failed(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures of two links of a thinned fat tree, each detour followed by itself."""
    monkeypatch.setattr(bounces_module, "_SWEPT_AT_ONCE", at_once)
    full = fat_tree(4)
    ends = [tuple(map(int, one.name.split("-"))) for one in every_link(full.network)]
    kept = [(a, b) for number, (a, b) in enumerate(ends) if number not in (3, 11, 20)]
    thinned = ground(kept, full.policy.asn.tolist(), int(full.sources.sum()))
    links = every_link(thinned.network)
    pairs = [Failure("two", (*a.links, *b.links)) for a, b in combinations(links, 2)][::3]
    around = found(thinned, pairs)
    ways, bound = around.ways, [*around.ways.onward_starts.tolist(), len(around.ways.onward)]
    expected = []
    for failure, turn in zip(ways.failure.tolist(), ways.turn.tolist(), strict=True):
        own = set(around.around.place[around.detours[failure].dead].tolist())
        expected.append(own.isdisjoint(reached_from(around, ways.onward[bound[turn] : bound[turn + 1]].tolist())))
    assert {True, False} == set(expected)
    assert around._never_back().tolist() == expected


def test_too_many_sweeps_are_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each link that has a later link at another spine is one sweep: all but the last, which has no later link."""
    full = leaf_spine(6, 4)
    around = found(full, every_link(full.network))
    monkeypatch.setattr(bounces_module, "_ROUNDS", 0)
    words = 6 * 4 - 1
    monkeypatch.setattr(bounces_module, "_MOST_WORK", words * around.dependencies)
    assert around.pairs() is not None
    monkeypatch.setattr(bounces_module, "_MOST_WORK", words * around.dependencies - 1)
    assert around.pairs() is None


def test_failures_that_cannot_be_judged_together(monkeypatch: pytest.MonkeyPatch) -> None:
    full = leaf_spine(3, 3)
    base, failures = full.converged(), every_link(full.network)
    assert bounces(base, []) is None
    assert bounces(base, [Failure("switch 3", failures[0].links, 3)]) is None
    assert bounces(base, [Failure("switch 0", failures[0].links, 0)]) is None
    monkeypatch.setattr(bounces_module, "_MOST_FAILURES", 9)
    assert bounces(base, failures) is not None
    monkeypatch.setattr(bounces_module, "_MOST_FAILURES", 8)
    assert bounces(base, failures) is None


def test_a_shortest_cycle_of_two_links_that_fail() -> None:
    """Leaf 0 without spine 4 and leaf 1 without spine 5: packets turn at the leaves over four links, two of each."""
    full = leaf_spine(4, 2)
    names = {one.name: one.links for one in every_link(full.network)}
    both = Failure("both", (*names["0-4"], *names["1-5"]))
    around, net = found(full, [both]), full.network
    assert around.singles().tolist() == [True]
    links = around.shortest_cycle(0)
    ends = [(int(net.source[link]), int(net.target[link])) for link in links]
    assert len(ends) == 4
    assert all(a[1] == b[0] for a, b in zip(ends, ends[1:] + ends[:1], strict=True))
    assert not set(links) & set(both.links)
    edges = Repaired.of(full.converged(), np.array(sorted(both.links))).buffers
    assert len(next(iter(edges.cycles()))[1]) == 4
    assert found(full, every_link(net)).shortest_cycle(0) == ()


def test_links_that_failed_hold_no_packets_under_local_repair() -> None:
    full = leaf_spine(3, 2)
    dead = np.array(sorted(every_link(full.network)[0].links))
    base, kept = full.converged(), Repaired.of(full.converged(), dead).buffers.links
    links = full.network.incoming
    for graph, expected in ((base.buffers.links, True), (kept, False)):
        used = np.concatenate((links[graph.tails()], links[graph.successors]))
        assert bool(np.isin(used, dead).any()) is expected
