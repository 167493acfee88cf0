"""Settings to try: ordered thresholds, none that a rule refuses, and the same for each seed."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.results import Setting
from fabricgen.simulate.tuning.space import Space, space_around
from tests.examples import examples

PRESENT = Setting(131_072, 262_144, 5, 0, 1)


def refuse_large(setting: Setting) -> tuple[str, ...]:
    return ("FG547",) if setting.kmax_bytes > 4 << 20 else ("FG524",) if setting.dynamic_th != 0 else ()


def space() -> Space:
    return space_around(PRESENT, (1, 2, 4), refuse_large)[0]


@settings(max_examples=examples(30))
@given(st.integers(1, 80), st.integers(0, 1000))
def test_a_sample_has_distinct_allowed_settings(count: int, seed: int) -> None:
    found = space().sample(count, seed)
    assert len(set(found)) == len(found) == count
    assert PRESENT not in found
    assert all(one.kmin_bytes < one.kmax_bytes and not refuse_large(one) for one in found)
    assert space().sample(count, seed) == found


def test_seeds_choose_other_settings() -> None:
    assert space().sample(20, 1) != space().sample(20, 2)


@given(st.sampled_from(space().sample(60, 1)))
def test_a_neighbor_is_one_step_away_and_has_the_setting_as_neighbor(setting: Setting) -> None:
    for one in space().neighbors(setting):
        steps = [
            abs(axis.index(getattr(one, name)) - axis.index(getattr(setting, name)))
            for name, axis in space().axes.items()
        ]
        assert sum(steps) == 1 or steps[:2] == [1, 1] == [max(steps), steps[0]]
        assert setting in space().neighbors(one)


def test_a_refused_alpha_is_fixed_with_its_code() -> None:
    _, fixed = space_around(PRESENT, (1,), refuse_large)
    assert fixed == {"alpha": "refused by FG524", "queue pairs": "no other number is given"}
    assert space().limits(replace(PRESENT, kmin_bytes=2 << 20, kmax_bytes=4 << 20)) == ["FG547"]


def test_a_static_threshold_has_no_alpha() -> None:
    present = replace(PRESENT, dynamic_th=None)
    found, fixed = space_around(present, (1, 2), lambda _: ())
    assert "static" in fixed["alpha"]
    assert {one.dynamic_th for one in found.sample(50, 3)} == {None}


def test_parts_of_the_present_setting() -> None:
    best = Setting(65_536, 1 << 20, 10, 0, 4)
    names = dict(space().with_parts_of_present(best))
    assert names == {"ECN": replace(PRESENT, queue_pairs=4), "queue pairs": replace(best, queue_pairs=1)}
    assert space().with_parts_of_present(replace(PRESENT, queue_pairs=4)) == []


@pytest.mark.parametrize("field", ["kmin_bytes", "kmax_bytes", "pmax_percent", "queue_pairs"])
def test_a_present_value_between_the_steps_is_one_of_them(field: str) -> None:
    odd = replace(PRESENT, kmin_bytes=150_000, kmax_bytes=1_500_000, pmax_percent=7, queue_pairs=3)
    assert getattr(odd, field) in space_around(odd, (1, 2), lambda _: ())[0].axes[field]
