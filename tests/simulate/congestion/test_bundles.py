"""Verdicts on rendered files: the effects of hand edits, and the findings."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.congestion_scale import synthetic_plane
from fabricgen.bundle.read import open_bundle
from fabricgen.resources import resource
from fabricgen.results import CongestionResult, TreeKind
from fabricgen.routing.fabric import read_fabric
from fabricgen.simulate.congestion.analysis import CongestionOptions, analyse_congestion
from fabricgen.simulate.congestion.findings import congestion_findings
from fabricgen.simulate.congestion.plane_load import judge_plane
from fabricgen.simulate.patterns import Placement
from fabricgen.simulate.plane.reading import read_plane
from fabricgen.simulate.plane.switch_hashes import HashRule
from fabricgen.sonic.hashing import ROCE_HASH_FIELDS, HashStart
from fabricgen.vocabulary import HashModel
from tests.conftest import Cli

LEAF = "compute-su00-r0-leaf"


def edit(bundle: Path, change: Callable[[dict[str, Any]], None], device: str = "*") -> None:
    for file in (bundle / "sonic").glob(f"{device}/config_db.json"):
        config = json.loads(file.read_text())
        change(config)
        file.write_text(json.dumps(config))


def judged(bundle: Path, **options: Any) -> CongestionResult:
    [result] = analyse_congestion(open_bundle([bundle]), CongestionOptions(**options))
    return result


def codes(bundle: Path, result: CongestionResult) -> set[str]:
    return {one.code for one in congestion_findings(open_bundle([bundle]), [result])}


@pytest.fixture(scope="module")
def usual(rendered: Path) -> CongestionResult:
    """The verdict on the quickstart as it is rendered."""
    return judged(rendered)


def trace(bundle: Path, flows: list[tuple[str, str]], size: int = 10_000_000) -> str:
    file = bundle.parent / "trace.json"
    file.write_text(json.dumps({"flows": [{"src": src, "dst": dst, "bytes": size} for src, dst in flows]}))
    return f"trace:{file}"


def test_a_ring_along_the_rails_has_no_victims(rendered: Path, usual: CongestionResult) -> None:
    assert (usual.model, usual.max_load, len(usual.flows)) == ("idle", 1.0, 256)
    assert usual.links == 512
    assert not usual.victims and not usual.trees and not usual.oversubscribed
    assert codes(rendered, usual) == set()


def test_all_to_all_is_judged_as_demand(rendered: Path) -> None:
    result = judged(rendered, pattern="all-to-all")
    assert result.model == "dense"
    assert sum(flow.count for flow in result.flows) == 8 * 32 * 31
    assert not result.victims


def test_a_fragmented_ring_collides(rendered: Path) -> None:
    result = judged(rendered, placement=Placement.FRAGMENTED, seed=2, draws=5)
    assert result.drawn_load is not None and result.drawn_load > 1 == result.max_load
    assert result.draws is not None and result.draws["count"] == 5
    assert result.draws["p50"] <= result.draws["max"]
    assert result.collisions is not None and result.collisions.expected > 1
    again = judged(rendered, placement=Placement.FRAGMENTED, seed=2, draws=5)
    assert again == result


INCAST = [(f"gpu-{number:03}|rail0", "gpu-000|rail0") for number in (1, 2, 3, 4, 5, 6, 7, 16)]
BESIDE = [("gpu-024|rail0", "gpu-008|rail0")]


def narrowed(config: dict[str, Any]) -> None:
    """Small buffers, and a single uplink between the units of rail 0."""
    config["BUFFER_POOL"]["ingress_lossless_pool"]["size"] = "4000000"
    if config["DEVICE_METADATA"]["localhost"]["hostname"].endswith("r0-leaf"):
        peers = list(config["BGP_NEIGHBOR"])
        for peer in peers[1:]:
            config["BGP_NEIGHBOR"][peer]["admin_status"] = "down"


def test_an_incast_makes_a_victim_next_to_it(bundle: Path) -> None:
    edit(bundle, narrowed)
    name = trace(bundle, INCAST + BESIDE)
    result = judged(bundle, pattern=name)
    [victim] = result.victims
    assert (victim.src, victim.label) == ("gpu-024|rail0", "off-path")
    assert result.ecn and result.single_path
    assert result.trees[0].root == (LEAF, "Ethernet0")
    opened = open_bundle([bundle])
    found = {one.code: one for one in congestion_findings(opened, [result])}
    tree = found["FG702"]
    assert (tree.device, tree.path, str(tree.severity)) == (LEAF, "PORT|Ethernet0", "warning")
    assert str(tree.confidence) == "possible" and "until ECN" in tree.message
    assert tree.location is not None
    line = Path(tree.location.file).read_text()
    assert '"Ethernet0"' in line
    assert "FG703" in found


def test_the_buffers_of_the_files_decide(bundle: Path) -> None:
    """With less alpha the groups pause earlier; without PFC no port is paused."""
    edit(bundle, narrowed)
    name = trace(bundle, INCAST + BESIDE)
    usual = judged(bundle, pattern=name).victims[0]

    def alpha(config: dict[str, Any]) -> None:
        config["BUFFER_PROFILE"]["pg_lossless_400000_40m_profile"]["dynamic_th"] = "-4"

    edit(bundle, alpha, LEAF)
    tight = judged(bundle, pattern=name)
    assert tight.victims[0].fct_ns != usual.fct_ns

    def lossy(config: dict[str, Any]) -> None:
        for row in config["PORT_QOS_MAP"].values():
            row.pop("pfc_enable", None)

    edit(bundle, lossy)
    unpaused = judged(bundle, pattern=name)
    assert not unpaused.lossless and not unpaused.paused
    assert all(tree.kind is TreeKind.UNFAIR_SHARE for tree in unpaused.trees)


def test_one_type_on_two_tiers_polarises(rendered: Path) -> None:
    """If spines hash as leaves do, all flows that a leaf sends to one spine take the same link there."""
    plane = synthetic_plane(4, 4, 4, 4, 4)
    options = CongestionOptions(placement=Placement.FRAGMENTED, queue_pairs=4)
    assert not [one for one in congestion_findings(None, [judge_plane(plane, options)]) if one.code == "FG705"]
    alike = judge_plane(replace(plane, hashes=plane.hashes.started(HashStart())), options)
    used, expected = alike.polarised["spine"]
    assert used < 0.5 * expected
    assert [one.code for one in congestion_findings(None, [alike]) if one.code == "FG705"]
    opened = open_bundle([rendered])
    found = read_plane(opened, read_fabric(opened, list(opened.devices)), "compute", 3).hashes
    starts = set(zip(found.seed.tolist(), found.offset.tolist(), strict=True))
    assert starts == {(0, 0), (10, 10)}  # ToRRouter and LeafRouter
    assert found.rules == (HashRule(ROCE_HASH_FIELDS, "CRC"),)


def test_seeds_without_offsets_polarise_a_linear_hash() -> None:
    """With 2^k links, each spine uses one link upwards for the flows of a leaf; an ideal hash uses all."""
    plane = synthetic_plane(4, 4, 4, 4, 4)
    seeds_only = replace(plane.hashes, offset=np.zeros_like(plane.hashes.offset))
    options = CongestionOptions(placement=Placement.FRAGMENTED, queue_pairs=4)
    linear = judge_plane(replace(plane, hashes=seeds_only), options)
    ideal = judge_plane(replace(plane, hashes=replace(seeds_only, model=HashModel.IDEAL)), options)
    assert linear.polarised["spine"][0] == 16  # one link of each spine
    assert ideal.polarised["spine"][0] > 3 * linear.polarised["spine"][0]
    assert "FG705" in {one.code for one in congestion_findings(None, [linear])}
    assert "FG705" not in {one.code for one in congestion_findings(None, [ideal])}


def test_a_hash_of_addresses_keeps_queue_pairs_together(bundle: Path) -> None:
    """All switches hash addresses only: eight queue pairs spread a flow as little as one does."""
    options = {"placement": Placement.FRAGMENTED, "seed": 2, "queue_pairs": 8, "draws": 3}
    spread = judged(bundle, **options)

    def addresses_only(config: dict[str, Any]) -> None:
        config["SWITCH_HASH"] = {"GLOBAL": {"ecmp_hash": ["DST_IP", "SRC_IP"]}}

    edit(bundle, addresses_only)
    together = judged(bundle, **options)
    assert spread.drawn_load is not None and together.drawn_load is not None
    assert together.drawn_load > 1.3 * spread.drawn_load
    assert len(together.victims) > len(spread.victims)
    assert together.draws is not None and together.draws["p50"] == together.draws["max"]  # no queue pair changes it


def test_the_files_of_hosts_state_the_queue_pairs(bundle: Path) -> None:
    file = next((bundle / "hosts").glob("*/nccl.conf"))
    options = {"placement": Placement.FRAGMENTED, "seed": 2}
    one = judged(bundle, **options)
    file.write_text(file.read_text() + "NCCL_IB_QPS_PER_CONNECTION=4\n")
    assert len(judged(bundle, **options).flows) == 4 * len(one.flows)
    assert judged(bundle, **options, queue_pairs=1) == one


def in_vrf(config: dict[str, Any]) -> None:
    """The port of the first host is in a VRF."""
    config["VRF"] = {"Vrf-a": {}}
    config["INTERFACE"]["Ethernet0"] = {"vrf_name": "Vrf-a"}


def dropping(rule: dict[str, str], ports: str = "Ethernet0") -> Callable[[dict[str, Any]], None]:
    """An ACL with one rule at some ports of a switch."""

    def change(config: dict[str, Any]) -> None:
        chosen = [port for port in config["PORT"] if port in config["DEVICE_NEIGHBOR"]] if ports == "all" else [ports]
        config["ACL_TABLE"] = {"DATA": {"type": "L3", "stage": "ingress", "ports": chosen}}
        config["ACL_RULE"] = {"DATA|R": {"PRIORITY": "10", "PACKET_ACTION": "DROP", **rule}}

    return change


@pytest.mark.parametrize(
    ("change", "is_blocked"),
    [
        (in_vrf, True),
        (dropping({"IP_PROTOCOL": "17", "L4_DST_PORT": "4791"}), True),
        (dropping({"IP_PROTOCOL": "17"}, "all"), True),
        (dropping({"IP_PROTOCOL": "6"}), False),
        (dropping({"SRC_IP": "192.0.2.0/24"}), False),
    ],
)
def test_nothing_is_sent_between_hosts_that_vrfs_or_acls_block(
    bundle: Path, usual: CongestionResult, change: Callable[[dict[str, Any]], None], is_blocked: bool
) -> None:
    edit(bundle, change, LEAF)
    result = judged(bundle)
    assert (usual.blocked, bool(result.blocked)) == (0, is_blocked)
    flows = [sum(flow.count for flow in one.flows) for one in (usual, result)]
    assert flows[1] <= flows[0] - result.blocked
    assert ("FG719" in codes(bundle, result)) is is_blocked


def test_lost_flows_and_uneven_rails_are_reported(bundle: Path) -> None:
    def cut(config: dict[str, Any]) -> None:
        for row in config["BGP_NEIGHBOR"].values():
            row["admin_status"] = "down"

    edit(bundle, cut, LEAF)
    result = judged(bundle)
    assert result.lost == 2
    assert "FG711" in codes(bundle, result)
    flows = [("gpu-000|rail0", "gpu-001|rail0")] * 2 + [("gpu-000|rail1", "gpu-001|rail1")]
    assert "FG704" in codes(bundle, judged(bundle, pattern=trace(bundle, flows)))


def test_flows_between_switches_without_links_are_lost(bundle: Path) -> None:
    def cut(config: dict[str, Any]) -> None:
        for row in config["BGP_NEIGHBOR"].values():
            row["admin_status"] = "down"

    edit(bundle, cut)
    flows = [("gpu-000|rail0", "gpu-001|rail0"), ("gpu-000|rail0", "gpu-000|rail1")]
    assert judged(bundle, pattern=trace(bundle, flows)).lost == 1  # the first flow stays at its leaf


def test_the_json_of_the_contract(bundle: Path, cli: Cli) -> None:
    edit(bundle, narrowed)
    name = trace(bundle, INCAST + BESIDE)
    pictures = bundle.parent / "svg"
    outcome = cli("simulate", "congestion", bundle, "--pattern", name, "--format", "json", "--svg", pictures)
    left_out = [one for one in json.loads(outcome.out)["findings"] if one["severity"] == "error"]
    assert outcome.code == 1 and [one["code"] for one in left_out] == ["FG610"]  # the links that lost their sessions
    found = json.loads(outcome.out)["congestion"]
    assert {"pattern", "links", "max_load", "oversubscribed", "trees", "victims", "flows"} <= found.keys()
    assert found["oversubscribed"][0] == {"tier": "leaf", "rail": 0, "ratio": 16.0, "device": LEAF}
    assert {"root", "depth", "channels", "victims"} <= found["trees"][0].keys()
    flow = next(one for one in found["flows"] if one["victim"])
    assert flow["hol_factor"] == pytest.approx(flow["fct_ns"] / flow["ideal_fct_ns"], abs=1e-3)
    [picture, *_] = sorted(pictures.iterdir())
    assert picture.read_text().count("<rect") == found["trees"][0]["channels"] + 4  # paper, root, legend
    loads = {(one["tier"], one["toward"]): one for one in found["tier_loads"]}
    roles = {"leaf": "leaf", "spine": "spine"}
    for (tier, toward), one in loads.items():
        rows = [row for row in found["loads"] if row["toward"] == toward and roles[tier] in row["device"]]
        assert (sum(row["ports"] for row in rows), max(row["max"] for row in rows)) == (one["ports"], one["max"])
        mean = sum(row["mean"] * row["ports"] for row in rows) / one["ports"]
        assert one["mean"] == pytest.approx(mean, abs=1e-3)
    assert max(load for _, _, load in found["link_loads"]) == found["drawn_load"]
    assert cli("simulate", "congestion", bundle, "--pattern", name, "--fail-on", "warning").code == 1


def test_scenarios_on_the_command_line(cli: Cli, tmp_path: Path) -> None:
    from tests.simulate.congestion.test_scenarios import chain

    file = tmp_path / "scenario.json"
    flows = [("h0a", "h1z"), ("h0b", "h1y"), *((f"h1{letter}", "h1z") for letter in "abc")]
    file.write_text(json.dumps(chain(2, flows)))
    outcome = cli("simulate", "congestion", "--scenario", file)
    assert outcome.code == 0 and "1 victim," in outcome.out and "FG702" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "give a bundle"),
        (["x", "--pattern", "ring"], "unknown pattern 'ring'"),
        (["x", "--size", "much"], "--size"),
        (["x", "--size", "0"], "at least one byte"),
        (["--scenario", "y", "--size", "1MB"], "--size: for bundles only"),
        (["x", "--placement", "random"], "--placement"),
        (["--scenario", "y", "--pattern", "incast"], "has its own links, routes and flows"),
        (["--scenario", "y", "--links", "y"], "--links: for bundles only"),
        (["--scenario", "y", "--lldp", "y"], "--lldp: for bundles only"),
        (["--scenario", "y", "--placement", "fragmented", "--draws", "2"], "--draws, --placement: for bundles only"),
        (["--scenario", "y", "--seed", "2"], "--seed: for bundles only"),
    ],
)
def test_wrong_usage(
    arguments: list[str], problem: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "y").touch()
    outcome = cli("simulate", "congestion", *arguments)
    assert outcome.code == 2 and problem in outcome.err


def test_numbers_without_quotes_are_read(bundle: Path) -> None:
    """sonic-cfggen accepts numbers without quotes; ignoring one would change the buffers."""
    edit(bundle, narrowed)
    name = trace(bundle, INCAST + BESIDE)
    usual = judged(bundle, pattern=name).victims[0].fct_ns

    def bare(config: dict[str, Any]) -> None:
        for table in ("BUFFER_POOL", "BUFFER_PROFILE", "PORT"):
            for row in config[table].values():
                row |= {key: int(value) for key, value in row.items() if value.lstrip("-").isdecimal()}

    edit(bundle, bare)
    assert judged(bundle, pattern=name).victims[0].fct_ns == usual


def test_infiniband_planes_without_tables(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree without OpenSM gets shortest paths by destination, and FG710 says so."""
    monkeypatch.setattr("fabricgen.simulate.opensm.plane_tables.find_tools", lambda: None)
    folder = tmp_path / "inventory"
    shutil.copytree(resource("inventories", "infiniband"), folder)
    cli("-q", "render", folder, "--output", tmp_path / "bundle")
    outcome = cli("simulate", "congestion", tmp_path / "bundle", "--format", "json")
    found = json.loads(outcome.out)
    assert [one["code"] for one in found["findings"]] == ["FG710"]
    assert found["congestion"]["max_load"] == 1.0 and "rail" in found["congestion"]["flows"][0]["src"]
    assert "no tables of OpenSM" in found["congestion"]["reason"]
    stored = json.loads(
        cli("simulate", "congestion", tmp_path / "bundle", "--pattern", "storage-read", "--format", "json").out
    )
    assert "storage" in stored["congestion"]["flows"][0]["src"]


def test_patterns_are_listed(cli: Cli) -> None:
    assert cli("simulate", "congestion", "--pattern", "list").out.splitlines()[-1] == "trace:FILE"
