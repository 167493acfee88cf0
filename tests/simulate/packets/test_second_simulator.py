"""Equal to a second simulator that is written from the description, on random scenarios. `python -m
tests.simulate.packets.reference` runs as many as wanted."""

from typing import Any

import pytest

from fabricgen.simulate.packets import settings
from tests.simulate.packets.reference.comparing import Answer, difference, of_simulator, shuffled
from tests.simulate.packets.reference.scenarios import random_scenario

SEEDS = (*range(35), 61)


@pytest.mark.parametrize("seed", SEEDS)
def test_equals_the_second_simulator(seed: int) -> None:
    assert not difference(seed)


@pytest.mark.parametrize("seed", range(100, 112))
def test_the_order_of_a_scenario_file_has_no_effect(seed: int) -> None:
    """Ties are broken by names, so a shuffled file gives the same run, even with all flows at the same time."""
    tree = random_scenario(seed)
    tree["flows"] = [{**flow, "start_ns": 0} for flow in tree["flows"]]
    other = shuffled(tree, seed)
    before, after = of_simulator(tree, seed), of_simulator(other, seed)
    assert times_by_flow(tree, before) == times_by_flow(other, after)
    assert {**before, "times": []} == {**after, "times": []}


def times_by_flow(tree: dict[str, Any], answer: Answer) -> list[tuple[Any, ...]]:
    """Each flow with its time; flows that are equal may change places."""
    names = [(flow["src"], flow["dst"], flow["priority"], flow["bytes"]) for flow in tree["flows"]]
    return sorted((*name, str(time)) for name, time in zip(names, answer["times"], strict=True))


def test_random_scenarios_have_what_they_are_for() -> None:
    """Drops, pauses and marks are in some of them, and sizes from 1 B to 4 MB."""
    answers = [of_simulator(random_scenario(seed), seed) for seed in SEEDS]
    assert any(answer["drops"] for answer in answers)
    assert any(answer["pauses"] for answer in answers)
    sizes = [flow["bytes"] for seed in range(200) for flow in random_scenario(seed)["flows"]]
    assert (min(sizes), max(sizes)) == (1, 4_000_000)


def test_prefetching_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large networks prefetch the records of all events, also of a loss, whose packet is gone."""
    trees = [random_scenario(seed) for seed in range(5000, 5012)]
    small = [of_simulator(tree, 1) for tree in trees]
    assert any(answer["drops"] for answer in small)
    monkeypatch.setattr(settings, "_LARGE_PORTS", 0)
    assert [of_simulator(tree, 1) for tree in trees] == small
