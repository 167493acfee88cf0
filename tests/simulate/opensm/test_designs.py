"""Ten designs on the real OpenSM: as designed, one cable moved, one removed, one switch down.

The designs take turns with tenants and the manager, so that all combinations are covered. `python -m
benchmarks.subnet_states` runs all of them, and larger subnets with `--large`.
"""

from pathlib import Path

import pytest

from benchmarks.subnet_states import MANAGERS, SMALL, STATES, bundle_of, outcome
from fabricgen.simulate.opensm import Tools

FALLS_BACK = {  # the engine behind the first one, where that gives up
    ("rails", "cable moved"): "updn",
    ("torus 4x3", "as designed"): "torus-2QoS",
}


def test_all_combinations_are_covered() -> None:
    runs = {(state, *_turn(at, number)) for at in range(len(SMALL)) for number, state in enumerate(STATES)}
    assert len(SMALL) == 10 and len(runs) == len(STATES) * 2 * len(MANAGERS)


def _turn(design: int, state: int) -> tuple[bool, str]:
    """Whether there are tenants, and the manager."""
    return design % 2 == 0, MANAGERS[(design // 2 + state) % 2]


@pytest.mark.parametrize("name", SMALL)
def test_a_design_and_its_changes(opensm: Tools, tmp_path: Path, name: str) -> None:
    at = list(SMALL).index(name)
    bundle = bundle_of(SMALL[name], tmp_path, tenants=_turn(at, 0)[0])
    found = {state: outcome(opensm, bundle, state, _turn(at, number)[1]) for number, state in enumerate(STATES)}
    assert {state: one.faults for state, one in found.items()} == dict.fromkeys(STATES, ())
    for (design, state), engine in FALLS_BACK.items():
        assert design != name or found[state].engine == engine
