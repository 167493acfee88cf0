"""A commit that makes render, validate, the deadlock verdict or a handoff slower fails here, on a busy machine too."""

import json
import os
import subprocess
import sys

import pytest

MOST_GROWTH = 4.5  # of work, for four times the switches
# The calls for each of 256 switches with a margin of a sixth, and twice the CPU time for each of 64 switches, in units
# of the loop of benchmarks/growth.py. Lower them when a stage becomes faster: `python -m benchmarks.growth`.
CEILINGS = {"render": (7_600, 0.2), "validate": (33_000, 0.6), "deadlock": (4_700, 0.2), "handoff": (3_000, 0.16)}

Measured = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def measured() -> Measured:
    """One run in a fresh process: what other tests have loaded does not count."""
    command = [sys.executable, "-m", "benchmarks.growth", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": "0"})
    found: Measured = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("stage", CEILINGS)
def test_work_grows_with_the_fabric_only(measured: Measured, stage: str) -> None:
    small, large = (measured[stage][size] * int(size) for size in ("64", "256"))
    assert large / small <= MOST_GROWTH


@pytest.mark.parametrize("stage", CEILINGS)
def test_a_switch_costs_no_more_calls_than_before(measured: Measured, stage: str) -> None:
    assert measured[stage]["256"] <= CEILINGS[stage][0]


@pytest.mark.parametrize("stage", CEILINGS)
def test_a_switch_costs_no_more_time_beside_a_loop(measured: Measured, stage: str) -> None:
    assert measured[stage]["units"] <= CEILINGS[stage][1]
