"""Several priorities in one run of a bundle: the group and queue of each, its scheduler and its limit."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UnreadableInputError
from fabricgen.results import PacketsResult
from fabricgen.results.packets import QueueUse
from tests.conftest import Cli
from tests.inventories import ARISTA
from tests.simulate.packets.running import edit, prepare, result, star

prepare(print)

from fabricgen.simulate.packets.analysis import simulate_bundle  # noqa: E402
from fabricgen.simulate.packets.findings import packet_findings  # noqa: E402 (compiled code comes after its cache)

pytestmark = pytest.mark.parametrize("small", [ARISTA], indirect=True)
SENDERS = [f"gpu-00{number}|rail0" for number in range(1, 8)]


def simulated(bundle: Path, *priorities: int, pattern: str = "incast", **options: Any) -> PacketsResult:
    [one] = simulate_bundle(open_bundle([bundle]), pattern, priorities=priorities, **options)
    return one.result


def longest_queue(run: PacketsResult) -> int:
    """The most bytes of a queue that dropped packets."""
    return max(one.most_bytes for one in run.dropped if isinstance(one, QueueUse))


def last_ns(run: PacketsResult, priority: int) -> int:
    return max(flow.fct_ns or 0 for flow in run.flows if flow.priority == priority)


def test_priorities_share_a_link_by_the_weights_of_the_files(own: Path) -> None:
    """3 and 4 have 40 each, 0 has 5: it is last by far. With the weights exchanged, it is first. Without ECN, which
    would slow down only the lossless ones."""
    edit(own, "WRED_PROFILE", lambda _, row: row.update(ecn="ecn_none"))
    run = simulated(own, 3, 4, 0)
    assert run.finished == len(run.flows) == 3 * 7
    assert max(last_ns(run, 3), last_ns(run, 4)) < 0.8 * last_ns(run, 0)
    edit(own, "SCHEDULER", lambda key, row: row.update(weight={"LOSSLESS": "1", "LOSSY": "100"}.get(key, "1")))
    turned = simulated(own, 3, 4, 0)
    assert last_ns(turned, 0) < 0.6 * last_ns(run, 0)
    edit(own, "SCHEDULER", lambda key, row: row.update(type="STRICT") if key == "LOSSY" else None)
    assert last_ns(simulated(own, 3, 4, 0), 0) < last_ns(turned, 0)


def test_one_switch_with_another_scheduler_changes_the_run(own: Path) -> None:
    before = simulated(own, 3, 0)
    file = own / "sonic" / "compute-su00-r0-leaf" / "config_db.json"  # the receiver's
    config = json.loads(file.read_text())
    config["SCHEDULER"]["LOSSY"] = {"type": "STRICT"}
    file.write_text(json.dumps(config))
    assert last_ns(simulated(own, 3, 0), 0) < 0.8 * last_ns(before, 0)


def test_alpha_of_a_file_changes_the_run(own: Path) -> None:
    assert simulated(own, 3, 4).pfc_frames == ()
    edit(own, "BUFFER_PROFILE", lambda key, row: row.update(dynamic_th="-8") if key.startswith("pg_l") else None)
    assert simulated(own, 3, 4).pfc_frames


def test_limit_of_lossy_queues_is_that_of_the_files(own: Path) -> None:
    """Nothing is dropped with the SKU's alpha of 1; with 1/256 of the pool only the lossy priority drops."""
    assert simulated(own, 3, 0).drops == 0
    edit(own, "BUFFER_PROFILE", lambda key, row: row.update(dynamic_th="-8") if key == "egress_lossy_profile" else None)
    run = simulated(own, 3, 0)
    assert run.drops > 0
    assert {one.priority for one in run.dropped} == {0}
    assert [(one.code, one.severity.value) for one in packet_findings(run) if one.code != "FG760"] == [
        ("FG751", "note")
    ]
    size = json.loads(next((own / "sonic").glob("*leaf/config_db.json")).read_text())["BUFFER_POOL"][
        "egress_lossless_pool"
    ]
    assert run.max_queue_bytes < int(size["size"])
    edit(own, "BUFFER_POOL", lambda key, row: row.update(size="2000000") if key == "egress_lossless_pool" else None)
    smaller = simulated(own, 3, 0)  # the same share of a smaller pool
    assert smaller.drops > 0
    assert longest_queue(smaller) < 0.5 * longest_queue(run)


def test_lossless_queue_with_a_lossy_limit_is_an_error(own: Path) -> None:
    edit(own, "BUFFER_QUEUE", lambda _, row: row.update(profile="egress_lossy_profile"))
    edit(own, "BUFFER_PROFILE", lambda key, row: row.update(dynamic_th="-8") if key == "egress_lossy_profile" else None)
    edit(own, "WRED_PROFILE", lambda _, row: row.update(ecn="ecn_none"))
    found = {one.code: one for one in packet_findings(simulated(own), None, open_bundle([own]))}
    assert found["FG757"].path.startswith("BUFFER_QUEUE|Ethernet0|3")


def test_maps_of_the_files_lead_packets_to_their_queue(own: Path) -> None:
    """RoCE of priority 3 has DSCP 26: if a map puts it into a lossy class, it is neither marked nor paused."""
    assert simulated(own).marked > 0
    edit(own, "DSCP_TO_TC_MAP", lambda _, row: row.update({"26": "0"}))
    run = simulated(own)
    assert run.marked == 0
    assert not run.pfc_frames


def test_a_trace_gives_its_flows_priorities(cli: Cli, small: Path, tmp_path: Path) -> None:
    flows = [{"src": source, "dst": "gpu-000|rail0", "bytes": 2_000_000} for source in SENDERS]
    flows[0] |= {"priority": 0}
    flows[1] |= {"priority": 4, "start_ns": 1000}
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"flows": flows}))
    outcome = cli("-q", "simulate", "packets", str(small), "--pattern", f"trace:{trace}", "--format", "json")
    assert outcome.code == 0
    packets = json.loads(outcome.out)["packets"]
    assert sorted(flow["priority"] for flow in packets["flows"]) == [0, 3, 3, 3, 3, 3, 4]
    lines = cli("-q", "simulate", "packets", str(small), "--pattern", f"trace:{trace}").out
    assert "priority 4: 1 of 1 flow finished" in lines


def test_all_mistakes_of_a_trace_are_reported(small: Path, tmp_path: Path) -> None:
    good = {"src": "gpu-001", "dst": "gpu-000", "bytes": 5}
    wrong = [
        good,
        good | {"src": "unknown"},
        good | {"bytes": 0},
        good | {"start_ns": -1},
        good | {"priority": 8},
        good | {"dst": "gpu-001|rail0"},
        good | {"sice": 1},
        "flow",
        {},
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"flows": wrong}, indent=1))
    with pytest.raises(UnreadableInputError) as outcome:
        simulated(small, pattern=f"trace:{trace}")
    for index, field in (
        (1, ".src"),
        (2, ".bytes"),
        (3, ".start_ns"),
        (4, ".priority"),
        (5, ".dst"),
        (6, ".sice"),
        (7, ""),
    ):
        assert f"flows[{index}]{field}: " in str(outcome.value)
    assert "flows[0]" not in str(outcome.value)
    assert "unknown" in trace.read_text().splitlines()[outcome.value.location.line - 1]


def test_wrong_priorities_are_refused(cli: Cli, small: Path) -> None:
    for text in ("8", "3,,4", "three", ""):
        refused = cli("simulate", "packets", str(small), "--priorities", text)
        assert refused.code == 2
        assert "--priorities" in refused.err


def test_limit_of_a_queue_is_exact(small: Path) -> None:
    """alpha A of a pool P that one queue uses alone: it holds A/(1+A) of P; a static limit is exact."""
    lossy = [{"priority": 1, "lossless": False}]
    for own, limit in (
        ({"egress_alpha": 1.0}, 100_000),
        ({"egress_alpha": 0.25}, 40_000),
        ({"egress_static_bytes": 50_000}, 50_000),
        ({"egress_static_bytes": 50_000, "egress_reserve_bytes": 20_000}, 70_000),
    ):
        tree = star(3, 300_000, classes=lossy, switch_defaults={"egress_pool_bytes": 200_000, **own})
        tree["flows"] = [{**flow, "priority": 1} for flow in tree["flows"]]
        run = result(tree)
        assert limit - 1048 <= run.max_queue_bytes <= limit
        assert run.drops == sum(queue.drops for queue in run.queues) > 0
        assert run.finished == 3
