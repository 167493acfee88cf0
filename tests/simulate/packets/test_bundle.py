"""Packet runs of rendered files: the effects of hand edits, and no findings without a fault."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.routing.fabric import read_fabric
from fabricgen.simulate.plane.reading import read_plane
from tests.conftest import Cli
from tests.schemas import require_schema
from tests.simulate.packets.running import edit, prepare

prepare(print)

from fabricgen.simulate.packets.analysis import PlaneRun, simulate_bundle  # noqa: E402
from fabricgen.simulate.packets.findings import packet_findings  # noqa: E402 (compiled code comes after its cache)
from fabricgen.simulate.packets.from_bundle import TrafficChoice, plane_scenario  # noqa: E402


def simulated(bundle: Path, pattern: str = "incast", **options: Any) -> PlaneRun:
    [one] = simulate_bundle(open_bundle([bundle]), pattern, **options)
    return one


@pytest.mark.parametrize("pattern", ["ring-all-reduce", "all-to-all", "incast", "checkpoint", "permutation"])
def test_without_a_fault_there_are_no_findings(rendered: Path, pattern: str) -> None:
    one = simulated(rendered, pattern)
    assert one.result.finished == len(one.result.flows) > 0
    assert packet_findings(one.result) == []


def test_settings_are_those_of_the_files(bundle: Path) -> None:
    """Each value of the files reaches the run."""
    leaf = "compute-su00-r0-leaf"
    config = json.loads((bundle / "sonic" / leaf / "config_db.json").read_text())
    profile = config["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"]
    made = simulated(bundle).made
    link = next(link for link in made.scenario.links if link.b == leaf and link.a == "gpu-001|rail0")
    assert link.b_port == "Ethernet4"
    assert link.delay_ns == 25  # 5 m
    assert link.speed_gbps == 400
    own = link.b_buffers
    assert own is not None and own.ecn is not None and own.watchdog is not None
    assert own.pg_headroom_bytes == int(profile["xoff"])
    assert own.pg_reserve_bytes == int(profile["size"])
    assert own.xon_offset_bytes == int(profile["xon_offset"])
    assert own.alpha == 2 ** int(profile["dynamic_th"])
    assert own.ecn.kmin_bytes == int(config["WRED_PROFILE"]["LOSSLESS_400G"]["green_min_threshold"])
    assert own.watchdog.detection_ns == 1_000_000_000
    switch = next(node for node in made.scenario.nodes if node.name == leaf)
    assert switch.buffers is not None
    assert switch.buffers.headroom_pool_bytes == int(config["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"])


def test_queue_pairs_have_paths_of_their_hashes(bundle: Path) -> None:
    """With a hash of addresses all queue pairs of a connection share one path."""

    def most_paths() -> int:
        opened = open_bundle([bundle])
        plane = read_plane(opened, read_fabric(opened, list(opened.devices)), "compute", 3)
        made = plane_scenario(opened, plane, 3, TrafficChoice("permutation", 1 << 16, 1, queue_pairs=8), [3])
        assert made is not None
        found: dict[tuple[str, str], set[tuple[int, ...]]] = {}
        for flow in made.scenario.flows:
            found.setdefault((flow.src, flow.dst), set()).add(flow.path)
        assert len(made.scenario.flows) == 8 * len(found)
        return max(map(len, found.values()))

    assert most_paths() > 4
    for file in (bundle / "sonic").glob("*/config_db.json"):
        config = json.loads(file.read_text())
        config["SWITCH_HASH"] = {"GLOBAL": {"ecmp_hash": ["DST_IP", "SRC_IP"]}}
        file.write_text(json.dumps(config))
    assert most_paths() == 1


def test_without_pfc_at_a_port_it_drops(bundle: Path) -> None:
    edit(bundle, "PORT_QOS_MAP", lambda _, row: row.pop("pfc_enable", None))
    edit(bundle, "WRED_PROFILE", lambda _, row: row.update(ecn="ecn_none"))
    edit(bundle, "BUFFER_PROFILE", lambda key, row: row.update(dynamic_th="-8") if "lossless_4" in key else None)
    run_ = simulated(bundle)
    assert not run_.result.pfc_frames
    assert run_.result.drops > 0


@pytest.mark.parametrize("pattern", ["all-to-all", "ring-all-reduce", "incast"])
def test_a_large_pattern_runs_on_a_slice(rendered: Path, pattern: str) -> None:
    """The limit is in hops, and the note has an estimate of the hops of all hosts, from paths of random packets."""
    whole = simulated(rendered, pattern, size_bytes=1 << 18)
    assert whole.result.reason == ""
    most = whole.result.wire_transmissions // 5
    (one,) = simulate_bundle(open_bundle([rendered]), pattern, 1 << 18, max_hops=most)
    slice_, _, rest = one.result.reason.partition("; all have about ")
    hops, _, limit = rest.partition(" million packet hops, ")
    assert slice_ in {f"a slice: {count} of 32 hosts" for count in (2, 4, 8)}
    assert limit == f"but --max-hops is {most}"
    assert float(hops) == pytest.approx(whole.result.wire_transmissions / 1e6, rel=0.15)
    assert one.result.wire_transmissions <= most


def test_a_limit_below_the_smallest_slice_is_said(rendered: Path) -> None:
    (one,) = simulate_bundle(open_bundle([rendered]), "permutation", 1 << 18, max_hops=1)
    assert one.result.reason.startswith("a slice: 2 of 32 hosts; ")
    hops = one.result.reason.partition("; 2 hosts have about ")[2].partition(" million packet hops, ")[0]
    assert float(hops) == pytest.approx(one.result.wire_transmissions / 1e6, rel=0.1)


def test_another_seed_hashes_differently(rendered: Path) -> None:
    first, again, other = (
        simulated(rendered, "permutation", size_bytes=1 << 18, seed=seed).result for seed in (1, 1, 2)
    )
    assert first.flows == again.flows != other.flows


def test_command_prints_and_exits(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    good = cli("-q", "simulate", "packets", str(bundle), "--pattern", "incast", "--format", "json")
    assert good.code == 0
    packets = json.loads(good.out)["packets"]
    assert packets["finished"] == 16
    assert packets["pattern"] == "incast"
    assert packets["seed"] == 1
    edit(bundle, "BUFFER_PROFILE", lambda key, row: row.update(xoff="40000") if key.endswith("_40m_profile") else None)
    folder, pictures = tmp_path / "series", tmp_path / "pictures"
    files = ("--series", str(folder), "--svg", str(pictures))
    bad = cli("-q", "simulate", "packets", str(bundle), "--format", "json", *files)
    assert bad.code == 1
    [finding] = json.loads(bad.out)["findings"]
    assert finding["code"] == "FG755"
    assert finding["confidence"] == "observed"
    assert finding["location"]["column"] > 1
    written = {"queues.svg", "rates.svg", "index.html"}  # no pause: no picture of pauses
    assert {file.name for file in folder.iterdir()} == {"series.json", *written}
    assert {file.name for file in pictures.iterdir()} == written
    require_schema("series", json.loads((folder / "series.json").read_text()))


def test_command_refuses(cli: Cli, rendered: Path) -> None:
    for arguments, words in (
        ((), "give a bundle"),
        ((str(rendered), "--pattern", "rings"), "unknown pattern 'rings'"),
        ((str(rendered), "--compat", "hpcc"), "--compat is for scenarios"),
        ((str(rendered), "--plane", "storage"), "unknown plane 'storage'"),
        ((str(rendered), "--size", "big"), "--size"),
        ((str(rendered), "--size", "0"), "--size"),
    ):
        refused = cli("simulate", "packets", *arguments)
        assert refused.code == 2
        assert words in refused.err


def test_infiniband_planes_are_reported(bundle: Path, cli: Cli) -> None:
    file = bundle / "fabric.json"
    wiring = json.loads(file.read_text())
    wiring["planes"].append({**wiring["planes"][0], "name": "storage", "technology": "infiniband", "lossless": []})
    file.write_text(json.dumps(wiring))
    outcome = cli("simulate", "packets", bundle, "--pattern", "incast", "--size", "64KiB", "--format", "json")
    [one] = json.loads(outcome.out)["findings"]
    assert (outcome.code, one["code"], one["severity"]) == (0, "FG708", "note") and "storage" in one["message"]


@pytest.mark.parametrize("verb", ["packets", "congestion"])
@pytest.mark.parametrize("option", [("--vl-buffer", "64KiB"), ("--adaptive-routing",), ("--lfts", ".")])
def test_options_of_infiniband_planes_are_refused_without_one(
    cli: Cli, rendered: Path, verb: str, option: tuple[str, ...]
) -> None:
    outcome = cli("simulate", verb, str(rendered), *option)
    assert outcome.code == 2
    assert f"{option[0]}" in outcome.err
    assert "no InfiniBand plane carries this traffic" in outcome.err
