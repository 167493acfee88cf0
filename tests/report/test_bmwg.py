"""The form of draft-calabria-bmwg-ai-fabric-training-bench: its figures, and that it judges nothing."""

import json
import re
from pathlib import Path

import pytest

from fabricgen.resources import resource
from fabricgen.simulate.congestion.collisions import uniform_fairness
from tests.conftest import Cli
from tests.inventories import rail_optimized, write
from tests.shared_material import shared

# A uniform hash of n x Q flows on n links: JFI and MMR for Q = 1, 4, 8, 16, 32 (facts/acceptance_numbers.md, row 7).
UNIFORM = {
    8: [(0.561, 2.60), (0.824, 1.77), (0.906, 1.52), (0.949, 1.37), (0.974, 1.26)],
    64: [(0.508, 3.96), (0.804, 2.34), (0.892, 1.92), (0.942, 1.63), (0.970, 1.44)],
}
QUEUE_PAIRS = (1, 4, 8, 16, 32)


@pytest.mark.parametrize("links", UNIFORM)
@pytest.mark.parametrize("number", range(len(QUEUE_PAIRS)))
def test_a_uniform_hash(links: int, number: int) -> None:
    jfi, mmr = uniform_fairness([(links * QUEUE_PAIRS[number], 1)], links)
    assert jfi == pytest.approx(UNIFORM[links][number][0], rel=0.01)
    assert mmr == pytest.approx(UNIFORM[links][number][1], rel=0.01)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units of eight hosts on two rails: a leaf has eight uplinks, and eight flows in a permutation."""
    from fabricgen.api import render

    tree = rail_optimized(hosts=16, unit=8, planned=2)
    folder = tmp_path_factory.mktemp("bmwg")
    render(write(folder / "in", tree), folder / "bundle")
    return folder / "bundle"


def table(report: str, title: str) -> list[list[str]]:
    """The rows of the first table below a title."""
    below = report.split(f"### {title}\n", 1)[1]
    rows = re.findall(r"^\|(.*)\|$", below.split("\n## ")[0].split("\n### ")[0], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]


@pytest.mark.parametrize("draws", [50, 150])
def test_the_report_of_simulate_congestion(bundle: Path, tmp_path: Path, cli: Cli, draws: int) -> None:
    """Each NIC of a unit sends to one of the other: eight flows on the eight uplinks of each leaf."""
    ends = [(a, a + 8) for a in range(8)] + [(a + 8, a) for a in range(8)]
    flows = [
        {"src": f"gpu-{a:03d}|rail{rail}", "dst": f"gpu-{b:03d}|rail{rail}", "bytes": 1 << 20}
        for rail in range(8)
        for a, b in ends
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"flows": flows}))
    options = ("--format", "bmwg", "--draws", draws, "--hash", "ideal", "--pattern", f"trace:{trace}")
    outcome = cli("-q", "simulate", "congestion", bundle, *options)
    assert outcome.code == 0, outcome.err
    parallel_links(outcome.out)
    completion_times(outcome.out)
    nothing_is_judged(outcome.out, draws)


def parallel_links(report: str) -> None:
    """As row 7 within 1 %, over many draws of an ideal hash."""
    rows = [row for row in table(report, "ECMP Entropy and Polarization, Packet Spraying") if "leaf to spine" in row[3]]
    of_pairs = {row[2]: row for row in rows}
    assert of_pairs["any"][4:8] == ["1.000", "1.000", "1.00", "1.00"]  # spray
    for pairs, (jfi, mmr) in zip(QUEUE_PAIRS, UNIFORM[8], strict=True):
        row = of_pairs[str(pairs)]
        assert "16 leaf to spine, 8 each" in row[3]
        assert (float(row[4]), float(row[6])) == (pytest.approx(jfi, rel=0.01), pytest.approx(mmr, rel=0.01))
        assert (float(row[8]), float(row[9])) == (pytest.approx(jfi, rel=0.01), pytest.approx(mmr, rel=0.01))


def completion_times(report: str) -> None:
    """Roofline = C + S f / B with f = 2 (N - 1) / N, and B eight NICs of 400G."""
    rows = table(report, "Synthetic JCT Under Controlled Conditions")
    assert len(rows) == 4 * 3
    for _, ranks, compute_ms, size, iteration, roofline, ratio, *_ in rows:
        expected = float(compute_ms) + int(size) * 2 * (int(ranks) - 1) / int(ranks) / (8 * 50e9) * 1e3
        assert float(roofline) == pytest.approx(expected, abs=0.006)
        assert float(ratio) == pytest.approx(float(iteration) / expected, abs=0.002)
        assert float(ratio) >= 1


def nothing_is_judged(report: str, draws: int) -> None:
    for section in ("1. DUT Identification", "2. Test Topology", "3. Test Configuration", "4. Host Configuration",
                    "5. Test Results", "6. Anomalies", "7. Repeatability Statement"):  # fmt: skip
        assert f"## {section}\n" in report
    assert not re.search(r"\b(pass|fail|passed|failed|excellent|acceptable)\b", report)
    assert "| IPv4 Header | 20 | DSCP 26, ECT(0), protocol 17 |" in report
    assert "destination port 4791" in report
    assert f"Hashes: {draws} draws" in report


def test_incast_and_convergence(bundle: Path, cli: Cli) -> None:
    outcome = cli("-q", "simulate", "packets", bundle, "--format", "bmwg", "--size", "64KB", "--pattern", "incast")
    assert outcome.code == 0, outcome.err
    rows = table(outcome.out, "PFC Behavior Under Incast")
    assert [row[0] for row in rows] == ["2", "4", "8", "16", "32", "64"]
    assert [row[1] for row in rows[3:]] == ["the rail has 16 NICs"] * 3
    assert all(int(row[1]) >= 0 and 0 < float(row[9]) < 400 and row[7] == "0" for row in rows[:3])
    flows = table(outcome.out, "DCQCN Convergence Time")
    assert [row[0] for row in flows] == ["8", "32", "128", "512"]
    assert all(row[1] == "not in 5,000" or float(row[1]) > 0 for row in flows)
    assert "no freeze, 0 watchdog events" in outcome.out
    # One run without a freeze is not the draft's test: that is of all traffic.
    assert "deadlock resilience under any traffic (simulate deadlock)" in outcome.out.split("Not in this run:")[1]


def test_a_cycle_freezes_and_a_proof_covers_all_traffic(bundle: Path, cli: Cli) -> None:
    scenario = shared("data", "scenarios", "ring3_deadlock", "scenario.json")
    outcome = cli("-q", "simulate", "packets", "--scenario", scenario, "--format", "bmwg", "--fail-on", "never")
    assert "frozen at" in table(outcome.out, "PFC Storm and Deadlock Resilience")[0][2]
    outcome = cli("-q", "simulate", "deadlock", bundle, "--format", "bmwg")
    assert "| Port speed | 400G |" in outcome.out
    assert table(outcome.out, "PFC Storm and Deadlock Resilience") == [["fabric", "proof over all traffic", "free"]]


def test_a_uniform_hash_of_the_flows_that_links_have(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    """Two NICs of one leaf send: the comparison is of two flows on its links, not of the sixteen at another leaf."""
    pairs = [(a, a + 8, 0) for a in range(2)] + [(a, a + 8, 1) for a in range(8)] + [(a, a + 8, 1) for a in range(8)]
    flows = [
        {"src": f"gpu-{a:03d}|rail{rail}", "dst": f"gpu-{b:03d}|rail{rail}", "bytes": 1 << 20} for a, b, rail in pairs
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"flows": flows}))
    options = ("--format", "bmwg", "--hash", "ideal", "--pattern", f"trace:{trace}")
    outcome = cli("-q", "simulate", "congestion", bundle, *options)
    rows = table(outcome.out, "ECMP Entropy and Polarization, Packet Spraying")
    upward = {row[2]: row for row in rows if "2 leaf to spine, 8 each" in row[3]}
    jfi, mmr = uniform_fairness([(2, 1), (16, 1)], 8)
    assert (float(upward["1"][8]), float(upward["1"][9])) == (
        pytest.approx(jfi, abs=6e-4),
        pytest.approx(mmr, abs=6e-3),
    )
    assert jfi < uniform_fairness([(16, 1)], 8)[0] - 0.2


def test_without_a_hash_there_is_no_fairness_of_it(bundle: Path, cli: Cli) -> None:
    """An all-to-all of so many connections that their rates are computed by matrices."""
    outcome = cli("-q", "simulate", "congestion", bundle, "--format", "bmwg", "--pattern", "all-to-all")
    rows = table(outcome.out, "ECMP Entropy and Polarization, Packet Spraying")
    assert [row[2:5] for row in rows if "without a hash" in row[3]] == [
        [pairs, "so many flows are computed without a hash", ""] for pairs in ("4", "8", "16", "32")
    ]
    assert {row[2] for row in rows if row[4]} == {"1", "any"}


def test_the_roofline_of_hosts_that_share_nvlink(tmp_path: Path) -> None:
    """Rings use all 72 NICs of an NVLink domain, 400G each."""
    from fabricgen.api import render
    from fabricgen.api.benchmark import completion_table
    from fabricgen.api.congestion import CongestionRequest

    render(resource("inventories", "nvl72"), tmp_path / "bundle")
    rows = completion_table(CongestionRequest(paths=(tmp_path / "bundle",)))
    assert len(rows) == 4 * 3
    for row in rows:
        wire_ms = row["bytes"] * 2 * (row["accelerators"] - 1) / row["accelerators"] / (72 * 50e9) * 1e3
        assert row["roofline_ms"] == pytest.approx(row["compute_ms"] + wire_ms)
        assert row["ratio"] > 1


def test_fairness_is_in_the_json_report(bundle: Path, cli: Cli) -> None:
    outcome = cli("-q", "simulate", "congestion", bundle, "--format", "json", "--pattern", "all-to-all")
    upward, downward = json.loads(outcome.out)["congestion"]["link_fairness"]
    assert (upward["tier"], upward["toward"], upward["links"]) == ("leaf", "spine", 8)
    assert (downward["tier"], downward["toward"], downward["links"]) == ("spine", "leaf", 8)
    assert 1 / 8 <= upward["jfi_least"] <= upward["jfi"] <= 1 <= upward["mmr"] <= upward["mmr_highest"] <= 8
