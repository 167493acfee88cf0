"""Networks that were not used to develop the model, compared with a packet simulator.

`fresh.json` holds completion times in ns of cases of `benchmarks.congestion_cases`, by name (kind and seed): the
answers of `simulate packets`, which equals HPCC's ns-3 to the nanosecond. `test_stored_answers_are_those_of_packets`
computes some of them again.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.congestion_cases import cases
from fabricgen.simulate.congestion import finite
from fabricgen.simulate.congestion.fifo import CELLS, Fifos
from fabricgen.simulate.congestion.verdict import VICTIM, CongestionVerdict, judge
from fabricgen.simulate.plane.crossings import crossings
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.plane.ports import Floats
from fabricgen.simulate.scenario import Scenario, parse_scenario, read_scenario
from tests.shared_material import shared
from tests.simulate.packets.running import prepare

FRESH: dict[str, list[int]] = json.loads(Path(__file__).with_name("fresh.json").read_text())


@cache
def tree_of(name: str) -> dict[str, Any]:
    return next(tree for tree in cases(int(name.rpartition("-")[2])) if tree["name"] == name)


@cache
def case(name: str) -> tuple[Scenario, CongestionVerdict]:
    """A case and its verdict."""
    scenario = parse_scenario(tree_of(name))
    return scenario, judge(*from_scenario(scenario), finite=True)


def judged(name: str) -> CongestionVerdict:
    return case(name)[1]


def errors(name: str) -> Floats:
    off: Floats = np.abs(judged(name).time_ns / np.array(FRESH[name]) - 1)
    return off


@pytest.mark.parametrize("name", FRESH)
def test_every_flow_and_every_victim(name: str) -> None:
    assert errors(name).max() <= 0.15
    factor = np.array(FRESH[name]) / judged(name).ideal_ns
    clear = (factor < 1.14) | (factor > 1.26)
    assert (judged(name).victims == (factor > VICTIM))[clear].all()


def test_most_flows() -> None:
    every = np.concatenate([errors(name) for name in FRESH])
    assert np.median(every) <= 0.02
    assert np.percentile(every, 90) <= 0.05


def test_bars_of_the_acceptance_set() -> None:
    """26 networks that the model was not developed with: bursts into running flows, mixed speeds, small buffers."""
    every, wrong = [], 0
    for folder in sorted(shared("data", "congestion_fresh").iterdir()):
        truth = json.loads((folder / "expected.json").read_text())["flows"]
        verdict = judge(*from_scenario(read_scenario(folder / "scenario.json")), finite=True)
        every.append(np.abs(verdict.time_ns / [flow["fct_ns"] for flow in truth] - 1))
        factor = np.array([flow["hol_factor"] for flow in truth])
        clear = (factor < 1.14) | (factor > 1.26)
        wrong += int((verdict.victims != (factor > VICTIM))[clear].sum())
    error = np.concatenate(every)
    assert len(every) == 26
    assert np.median(error) <= 0.008
    assert np.percentile(error, 99) <= 0.05
    assert (error > 0.15).mean() <= 0.0005
    assert wrong == 0


@pytest.mark.parametrize("name", ["roots-2000", "fan-in-2000"])
def test_stored_answers_are_those_of_packets(name: str) -> None:
    prepare(print)
    from fabricgen.simulate.packets.analysis import simulate_scenario

    result = simulate_scenario(parse_scenario(tree_of(name)))
    assert [flow.fct_ns for flow in result.flows] == FRESH[name]
    assert not result.drops


@pytest.mark.parametrize("name", ["roots-2000", "ft4-small-2000"])
def test_machine_code_and_arrays_give_the_same_results(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ports, flows = from_scenario(parse_scenario(tree_of(name)))
    found = []
    for loops in (finite._compiled, lambda: None):
        monkeypatch.setattr(finite, "_compiled", loops)
        found.append(finite.run_fluid(ports, flows, 1e8))
    for field in ("time_ns", "wanted_ns", "busy_ns", "paused_ns"):
        assert np.array_equal(getattr(found[0], field), getattr(found[1], field), equal_nan=True)  # to the last bit


def test_a_queue_keeps_the_order_of_arrival() -> None:
    """Bytes leave in order of arrival, a cell may leave in parts, and a full ring does not lose bytes."""
    crossed = crossings(from_scenario(parse_scenario(tree_of("roots-2000")))[1])
    port = int(crossed.widths.argmax())
    a, b = crossed.starts[port] + np.array([0, 1])
    queues, none = Fifos(crossed, np.full(len(crossed.ports), 100.0)), np.zeros(crossed.size)
    service = np.where(np.arange(len(crossed.ports)) == port, 150.0, 0.0)
    for entry in (a, b):
        arriving = none.copy()
        arriving[entry] = 200.0
        queues.push(arriving)
    left = [queues.pop(service)[[a, b]].tolist() for _ in range(3)]
    assert left == [[150.0, 0.0], [50.0, 100.0], [0.0, 100.0]]
    arriving = none.copy()
    arriving[a] = 100.0
    for _ in range(CELLS + 10):
        queues.push(arriving)
    assert queues.pop(service * CELLS)[a] == (CELLS + 10) * 100.0
