"""The judge of failures: which proof it uses, and totals of orbits."""

from dataclasses import replace

import numpy as np
import pytest

from fabricgen.simulate.deadlock.failures import judge as judge_module
from fabricgen.simulate.deadlock.failures.failure_sets import FailureSet
from fabricgen.simulate.deadlock.failures.judge import FailureJudge
from fabricgen.simulate.deadlock.failures.sweep import DISCONNECTED
from fabricgen.simulate.deadlock.failures.verdict import Failures
from tests.simulate.deadlock.grounds import every_link, fat_tree, leaf_spine


@pytest.mark.parametrize(("count", "computed"), [(7, False), (8, False), (9, True)])
def test_few_sets_are_judged_without_all_possible_next_hops(count: int, computed: bool) -> None:
    """With one spine every link disconnects its leaf."""
    full = leaf_spine(12, 1)
    judge = FailureJudge(full.converged(), Failures(1))
    verdicts = judge._converged([FailureSet((one,)) for one in every_link(full.network)[:count]])
    assert verdicts.tolist() == [DISCONNECTED] * count
    assert ("sets" in vars(judge)) is computed


@pytest.mark.parametrize(
    ("limit", "value", "how"),
    [
        ("MOST_SETS", 24, "each"),
        ("MOST_SETS", 23, "orbits"),
        ("MOST_WORK", 24 * 48, "each"),
        ("MOST_WORK", 1151, "orbits"),
    ],
)
def test_symmetry_is_used_above_a_number_of_sets_or_their_links(
    limit: str, value: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """24 links, 48 with both directions."""
    full = leaf_spine(24, 1)
    monkeypatch.setattr(judge_module, limit, value)
    verdict = FailureJudge(full.converged(), Failures(1)).of_depth(every_link(full.network), 1)
    assert (verdict.how, verdict.summary.unreachable_sets, verdict.summary.cyclic_sets) == (how, 24, 0)


@pytest.mark.parametrize(("most", "how"), [(32 * 64, "each"), (32 * 64 - 1, "orbits")])
def test_symmetry_is_used_earlier_where_routes_must_be_computed(
    most: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drained aggregation switch: loop checks refuse paths, so that no shortest path proves that old next hops stay.
    The other one of its pod is then the only way to the pod."""
    full = fat_tree(4)
    isolated = np.arange(full.network.switches) == 8
    base = replace(full, policy=replace(full.policy, isolated=isolated)).converged()
    monkeypatch.setattr(judge_module, "MOST_CONVERGED_WORK", most)
    verdict = FailureJudge(base, Failures(1)).of_depth(every_link(full.network), 1)
    assert (verdict.how, verdict.summary.unreachable_sets, verdict.summary.cyclic_sets) == (how, 8, 0)


def test_triples_are_never_judged_by_orbits(monkeypatch: pytest.MonkeyPatch) -> None:
    full = leaf_spine(4, 1)
    monkeypatch.setattr(judge_module, "MOST_SETS", 4)
    monkeypatch.setattr(judge_module, "MOST_WORK", 0)
    judge, links = FailureJudge(full.converged(), Failures(3)), every_link(full.network)
    assert judge.of_depth(links, 3).how == "each"
    monkeypatch.setattr(judge_module, "MOST_SETS", 3)
    monkeypatch.setattr(judge_module, "SAMPLE", 5)
    drawn = judge.of_depth(links, 3)
    assert (drawn.how, drawn.summary.sampled, drawn.summary.unreachable_sets) == ("sample", 5, 5)


def test_totals_are_not_bounded_by_words() -> None:
    assert judge_module._total([2**40, 2**70, 5], np.array([True, True, False])) == 2**40 + 2**70


def test_bundles_of_links_touch_several_parts() -> None:
    """Four spines are four parts. A cable of two links touches two, so two cables can touch all four."""
    full = leaf_spine(3, 4)
    links = every_link(full.network)
    judge = FailureJudge(full.converged(), Failures(2))
    assert [judge.of_depth(links, depth).how for depth in (1, 2, 3, 4)] == ["spares"] * 3 + ["each"]
    cable = replace(links[0], links=(*links[0].links, *links[1].links))
    assert [judge.of_depth([cable, *links[2:]], depth).how for depth in (1, 2)] == ["spares", "each"]
