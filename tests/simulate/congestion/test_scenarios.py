"""Completion times and victims compared with a packet simulator, and laws that every PFC network obeys."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.congestion_cases import cases
from fabricgen.errors import UnreadableInputError
from fabricgen.simulate.congestion.steady import steady_rates
from fabricgen.simulate.congestion.verdict import VICTIM, CongestionVerdict, judge
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.scenario import parse_scenario, read_scenario
from tests.shared_material import shared

NAMES = (
    "hol_chain_mixed", "hol_fanin_trunk400", "hol_ft4_tree", "hol_ft4_tree_plus", "hol_ft8h_perm0", "hol_ls21_a2a",
    "hol_ls21h_perm0", "hol_parking5", "hol_ring_shuffled", "hol_two_roots", "hol_victim8",
)  # fmt: skip


@cache
def judged(folder: Path) -> tuple[list[dict[str, Any]], CongestionVerdict]:
    """(the flows of the packet simulator, our verdict)."""
    truth = json.loads((folder / "expected.json").read_text())["flows"]
    return truth, judge(*from_scenario(read_scenario(folder / "scenario.json")), finite=True)


@pytest.mark.parametrize("name", NAMES)
def test_times_and_victims_are_those_of_packets(name: str) -> None:
    truth, verdict = judged(shared("data", "congestion", name))
    error = np.abs(verdict.time_ns / [flow["fct_ns"] for flow in truth] - 1)
    assert error.max() <= 0.15
    assert np.percentile(error, 90) <= 0.06
    clear = np.array([not flow["borderline"] for flow in truth])
    is_victim = np.array([flow["victim"] for flow in truth])
    assert (verdict.victims[clear] == is_victim[clear]).all()
    factor = np.array([flow["hol_factor"] for flow in truth])
    assert np.abs(verdict.hol_factor / factor - 1)[is_victim].max(initial=0.0) <= 0.1
    ideal = np.array([flow["fct_maxmin_ns"] for flow in truth])
    assert np.abs(verdict.ideal_ns / ideal - 1).max() <= 0.03


def test_all_cases_together() -> None:
    errors, factors = [], []
    for name in NAMES:
        truth, verdict = judged(shared("data", "congestion", name))
        errors += np.abs(verdict.time_ns / [flow["fct_ns"] for flow in truth] - 1).tolist()
        factors += verdict.hol_factor[verdict.victims].tolist()
    assert np.median(errors) <= 0.02
    assert np.percentile(errors, 90) <= 0.05
    assert np.median(factors) > 1.5  # ideal sharing must not pass for it


@pytest.mark.parametrize("name", ["hol_victim8", "hol_parking5", "hol_two_roots", "hol_chain_mixed", "hol_ft4_tree"])
def test_without_the_flows_of_its_roots_no_flow_is_a_victim(name: str) -> None:
    ports, flows = from_scenario(read_scenario(shared("data", "congestion", name) / "scenario.json"))
    _, verdict = judged(shared("data", "congestion", name))
    assert verdict.victims.any()
    roots = {tree.root for tree in verdict.trees}
    numbers = [port for port in range(len(ports)) if ports.name_of(port) in roots]
    rest = flows.only(~np.isin(flows.path, numbers).any(axis=1))
    assert len(rest)
    assert judge(ports, rest, finite=True).hol_factor.max() <= 1.02


def chain(switches: int, flows: list[tuple[str, str]], **more: Any) -> dict[str, Any]:
    """Switches in a row, s0 to the left; host hNx is the x-th at switch N."""
    names = sorted({end for pair in flows for end in pair})
    at = {name: int(name[1]) for name in names}
    tree = next(cases(0)) | {
        "name": "chain",
        "compat": "",
        "nodes": [{"name": name, "kind": "host"} for name in names]
        + [{"name": f"s{number}", "kind": "switch"} for number in range(switches)],
        "links": [{"a": name, "b": f"s{at[name]}", "speed_gbps": 100, "delay_ns": 1000} for name in names]
        + [{"a": f"s{n}", "b": f"s{n + 1}", "speed_gbps": 100, "delay_ns": 1000} for n in range(switches - 1)],
        "flows": [{"src": src, "dst": dst, "bytes": 2_000_000} for src, dst in flows],
        "routes": [
            {"at": f"s{n}", "to": name, "via": name if at[name] == n else f"s{n + (1 if at[name] > n else -1)}"}
            for n in range(switches)
            for name in names
        ],
    }
    return tree | more


def test_parking_lot_halves_the_share_at_every_merge() -> None:
    flows = [(f"h{n}a", "h3z") for n in range(4)]
    ports, routed = from_scenario(parse_scenario(chain(4, flows)))
    share = steady_rates(ports, routed).rates / ports.bytes_per_ns[0]
    # the nearest has a separate group at the root and gets half, the next gets half of the rest
    assert share == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 2], rel=0.12)


def test_a_victim_off_the_path_exists_only_with_the_root() -> None:
    incast = [(f"h1{letter}", "h1z") for letter in "abcdef"]
    flows = [("h0a", "h1z"), ("h0b", "h1y"), *incast]
    verdict = judge(*from_scenario(parse_scenario(chain(2, flows))), finite=True)
    assert verdict.victims.tolist() == [False, True] + [False] * 6
    assert verdict.label[1] == "off-path"
    [tree] = verdict.trees
    assert (tree.root, tree.kind, tree.depth) == (("s1", "h1z"), "incast", 2)
    assert (tree.channels, tree.victims) == (9, 1)
    assert (("s0", "s1"), ("s1", "h1z")) in tree.links
    alone = judge(*from_scenario(parse_scenario(chain(2, flows[1:2]))), finite=True)
    assert alone.hol_factor.max() <= 1.02


def test_a_slow_receiver_is_not_an_incast() -> None:
    tree = chain(2, [("h0a", "h1z"), ("h0b", "h1y")])
    slow = next(link for link in tree["links"] if link["a"] == "h1z")
    slow["speed_gbps"] = 10
    verdict = judge(*from_scenario(parse_scenario(tree)), finite=True)
    assert [found.kind for found in verdict.trees] == ["slow-receiver"]
    assert verdict.victims.tolist() == [False, True]


def test_buffers_of_one_switch_may_differ() -> None:
    """With more alpha at the switch of the root, pauses come later and the victim is faster."""
    flows = [("h0a", "h1z"), ("h0b", "h1y"), *((f"h1{letter}", "h1z") for letter in "abc")]
    tree = chain(2, flows)
    usual = judge(*from_scenario(parse_scenario(tree)), finite=True)
    tree["nodes"] = [node | ({"alpha": 8.0} if node["name"] == "s1" else {}) for node in tree["nodes"]]
    deep = judge(*from_scenario(parse_scenario(tree)), finite=True)
    assert deep.time_ns[1] < 0.9 * usual.time_ns[1]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "other/1"}, "format is 'other/1'"),
        ({"flows": [{"src": "h0a", "dst": "unknown", "bytes": 1}]}, "'unknown', which is not a node"),
        ({"flows": [{"src": "h0a", "dst": "s0", "bytes": 1}]}, "'s0', which is not a host"),
        ({"flows": [{"src": "h0a", "dst": "h0a", "bytes": 1}]}, "ends where it begins"),
        ({"links": [{"a": "h0a"}]}, "b"),
    ],
)
def test_wrong_scenarios_are_refused(change: dict[str, Any], problem: str, tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(chain(2, [("h0a", "h1z")]) | change))
    with pytest.raises(UnreadableInputError, match="not a scenario") as caught:
        read_scenario(file)
    assert problem in str(caught.value)


def test_victim_threshold_is_that_of_the_documentation() -> None:
    assert VICTIM == 1.2
