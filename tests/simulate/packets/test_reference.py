"""Equal to HPCC's ns-3, flow by flow and pause frame by pause frame, on every case with an answer of ns-3."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from fabricgen.results import Compat, PacketsResult
from tests.shared_material import shared
from tests.simulate.packets.running import result, run_file, simulated, star

DETERMINISTIC = (
    "ft4_a2a_dcqcn", "ft4_a2a_pfc", "ft4_tree_base", "ft8_perm_pfc", "incast2_pfc", "incast8_dcqcn_step",
    "incast8_hdrm_28k", "incast8_pfc", "leafspine_bounce1", "ring3_deadlock", "ring3_shortest", "victim_alone",
    "victim_pfc", "incast8_dcqcn_red", "incast8_hdrm_small",
)  # fmt: skip
WITH_COUNTS = (
    "acks_lossless", "alpha1_xon0", "cables_20us_native", "dcqcn_params_odd", "dcqcn_tie_bursts", "dfly_rand_dcqcn",
    "drops_ls_dcqcn", "drops_ls_hdrm12k", "incast32_shallow", "many_qps_one_host", "mixed_hosts_100_200_400",
    "payload4096", "prio345_pfc", "red_incast8", "ring4_deadlock", "small_large_pfc", "tree3_over_rand_dcqcn",
    "two_victims", "h_ring5_onehop",
)  # fmt: skip
OF_THE_PROTOTYPE = (
    "hol_chain_mixed", "hol_fanin_trunk400", "hol_ft4_tree", "hol_ft4_tree_plus", "hol_ft8h_perm0", "hol_ls21_a2a",
    "hol_ls21h_perm0", "hol_parking5", "hol_ring_shuffled", "hol_two_roots", "hol_victim8",
)  # fmt: skip


NS3 = Path(__file__).parent / "ns3"
"""Scenarios with the answers of HPCC's ns-3 (alibaba-edu/High-Precision-Congestion-Control at 9f4be2a, its program
scratch/third.cc with the routes, headroom, alpha and buffers of a scenario, which gives the answers above, too)."""


def expected(kind: str, case: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(shared("data", kind, case, "expected.json").read_text())
    return answer


def result_of(kind: str, case: str) -> PacketsResult:
    return run_file(shared("data", kind, case, "scenario.json"))


@pytest.mark.parametrize("case", DETERMINISTIC)
def test_equals_ns3(case: str) -> None:
    answer, result = expected("scenarios", case), result_of("scenarios", case)
    assert [flow.fct_ns for flow in result.flows] == [flow["fct_ns"] for flow in answer["flows"]]
    assert [list(frame) for frame in result.pfc_frames] == answer["pfc_frames"]
    assert result.wire_transmissions == answer["wire_transmissions"]
    assert (result.drops > 0, result.freeze is not None) == (answer["drops"], answer["frozen"])


@pytest.mark.parametrize("case", WITH_COUNTS)
def test_equals_ns3_in_times_and_counts(case: str) -> None:
    """Cases whose answer has the numbers of pause frames and drops instead of a list of frames."""
    answer, result = expected("scenarios_ns3", case), result_of("scenarios_ns3", case)
    assert [flow.fct_ns for flow in result.flows] == [flow["fct_ns"] for flow in answer["flows"]]
    pauses = sum(frame[2] for frame in result.pfc_frames)
    assert (pauses, len(result.pfc_frames) - pauses) == (answer["pause_frames"], answer["resume_frames"])
    assert (result.wire_transmissions, result.drops) == (answer["wire_transmissions"], answer.get("dropped_packets", 0))
    if "pfc_frames" in answer:
        assert [list(frame) for frame in result.pfc_frames] == answer["pfc_frames"]
    assert (result.freeze is not None) == answer["frozen"]


@pytest.mark.parametrize("case", sorted(file.stem for file in NS3.glob("*.json")))
def test_equals_ns3_frame_by_frame(case: str) -> None:
    """Rings that deadlock, random marks beside pauses and lossless ACKs, cables shorter than the timer of alpha."""
    kept = json.loads((NS3 / f"{case}.json").read_text())
    found, answer = result(kept["scenario"]), kept["answer"]
    assert [flow.fct_ns for flow in found.flows] == answer["fct_ns"]
    assert [list(frame) for frame in found.pfc_frames] == answer["pfc_frames"]
    assert (found.wire_transmissions, found.drops) == (answer["wire_transmissions"], answer["drops"])
    assert (found.freeze is None) == all(answer["fct_ns"])


@pytest.mark.parametrize("case", OF_THE_PROTOTYPE)
def test_equals_the_prototype(case: str) -> None:
    """Cases without an answer of ns-3, with other speeds and larger trees: completion times, and the victims."""
    answer, result = expected("congestion", case), result_of("congestion", case)
    assert [flow.fct_ns for flow in result.flows] == [flow["fct_ns"] for flow in answer["flows"]]
    assert result.wire_transmissions == answer["wire_transmissions"]
    for flow, known in zip(result.flows, answer["flows"], strict=True):
        assert flow.victim == known["victim"] or known["borderline"]


def test_slowdown_is_over_the_flow_alone() -> None:
    answer = {name: result_of("scenarios", name).flows for name in ("victim_pfc", "victim_alone")}
    (victim,) = (flow for flow in answer["victim_pfc"] if flow.victim)
    (alone,) = answer["victim_alone"]
    assert (victim.src, victim.dst, victim.fct_ns, alone.fct_ns) == ("h1", "h10", 638_313, 89_178)
    assert victim.slowdown == 7.16


def test_random_marks_agree_on_average() -> None:
    answer = expected("scenarios", "incast8_dcqcn_red")
    wanted = mean(flow["fct_ns"] for flow in answer["flows"])
    file = shared("data", "scenarios", "incast8_dcqcn_red", "scenario.json")
    means = [mean(flow.fct_ns or 0 for flow in run_file(file, seed).flows) for seed in range(1, 6)]
    assert len(set(means)) == 5
    assert mean(means) == pytest.approx(wanted, rel=0.03)


def test_lost_packets_finish_only_with_a_timeout() -> None:
    """ns-3 has no timeout, so with compat hpcc this run never completes."""
    case = "incast8_hdrm_small"
    assert result_of("scenarios", case).finished == 0
    exact = simulated(shared("data", "scenarios", case, "scenario.json"), compat=Compat.NONE)
    assert exact.drops > 0
    assert exact.finished == len(exact.flows)


def test_priorities_take_turns_as_in_hpcc() -> None:
    """Round robin continues from the class that sent last. The answer is that of the prototype with priorities."""
    tree = star(3, compat="hpcc", transport={"pfc_frame_bytes": 43})
    for flow, own in zip(tree["flows"], ((3, 0, 20_000), (4, 400, 9_000), (3, 830, 9_000)), strict=True):
        flow["priority"], flow["start_ns"], flow["bytes"] = own
    assert [flow.fct_ns for flow in result(tree).flows] == [7245, 5517, 6332]


def test_a_flow_starts_after_the_events_of_its_time() -> None:
    """ns-3 starts an application by a separate event: at 249 ns the NIC has ended its third packet and takes the
    first flow's fourth, as it does when the second flow begins 1 ns later."""

    def end_ns(start_ns: int) -> int:
        tree = star(2, 100_000, compat="hpcc")
        tree["flows"][1] |= {"src": "h0", "start_ns": start_ns, "bytes": 3000}
        return start_ns + (result(tree).flows[1].fct_ns or 0)

    assert end_ns(249) == end_ns(250) == end_ns(248) + 83


def test_freeze_is_where_and_when_ns3_froze() -> None:
    freeze = result_of("scenarios", "ring3_deadlock").freeze
    assert freeze is not None
    assert freeze.time_ns == expected("scenarios", "ring3_deadlock")["pfc_frames"][-1][0] == 33106
    assert freeze.cycle == (("s6", "s7"), ("s7", "s8"), ("s8", "s6"))


@pytest.mark.parametrize("case", ["victim_pfc", "incast8_pfc", "ft4_tree_base", "leafspine_bounce1", "ring3_shortest"])
def test_exact_times_are_near_those_in_whole_nanoseconds(case: str) -> None:
    """1048 B take 83.84 ns at 100 Gb/s and not 83."""
    file: Path = shared("data", "scenarios", case, "scenario.json")
    floored, exact = run_file(file), simulated(file, compat=Compat.NONE)
    for one, other in zip(floored.flows, exact.flows, strict=True):
        assert one.fct_ns is not None
        assert other.fct_ns is not None
    assert mean(f.fct_ns or 0 for f in exact.flows) == pytest.approx(
        mean(f.fct_ns or 0 for f in floored.flows), rel=0.015
    )
