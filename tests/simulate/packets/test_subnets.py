"""Traffic on InfiniBand planes: along the tables of the real OpenSM, of dumps, and without tables."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.observed.opensm_dumps import read_dumps
from fabricgen.observed.subnet_files import subnets_of
from fabricgen.results import CongestionModel
from fabricgen.simulate.congestion.options import CongestionOptions
from fabricgen.simulate.congestion.plane_load import judge_plane
from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.opensm.bench import swept
from fabricgen.simulate.opensm.plane_tables import plane_tables
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT
from fabricgen.simulate.plane.subnet_plane import STATIC, Forwarding, subnet_plane
from tests.conftest import Cli
from tests.inventories import grid, write
from tests.opensm.small import DRAGONFLY, TORUS, TREE, rendered

PLANE = "compute"


def network(bundle: Bundle, forwarding: Forwarding = STATIC) -> HostNetwork:
    assert bundle.wiring
    plane = subnet_plane(bundle.wiring, PLANE, forwarding)
    assert plane is not None
    return plane


def all_pairs(plane: HostNetwork) -> tuple[np.ndarray, np.ndarray]:
    source, target = (side.ravel() for side in np.indices((len(plane.adapters),) * 2))
    return source[source != target], target[source != target]


@pytest.mark.parametrize("name", [TREE, TORUS, DRAGONFLY])
def test_paths_are_those_of_the_tables(opensm: Tools, tmp_path: Path, name: str) -> None:
    bundle = open_bundle([rendered(tmp_path, name)])
    tables = plane_tables(bundle, [PLANE])
    plane = network(bundle, Forwarding(tables))
    source, target = all_pairs(plane)
    zeros = np.zeros(len(source))
    drawn = hashed_flows(plane, source, target, zeros, zeros, seed=1)
    assert drawn.arrived.all() and not (drawn.choices > 1).any()
    guid_of = {device.name: int(device.node_guid, 16) for device in (bundle.wiring.devices if bundle.wiring else ())}
    [dumps] = tables[PLANE]
    row = {switch.node_guid: number for number, switch in enumerate(dumps.subnet.switches)}
    nics = {
        (host.name, nic.name): int(nic.port_guid, 16)
        for host in (bundle.wiring.hosts if bundle.wiring else ())
        for nic in host.nics
        if nic.port_guid
    }
    lid = {dumps.subnet.adapters[owner].port_guid: int(dumps.destinations[at]) for at, owner in enumerate(dumps.owners)}
    for path, to in zip(drawn.flows.path.tolist(), target.tolist(), strict=True):
        adapter = plane.adapters[to]
        destination = lid[nics[adapter.host, adapter.nic]]
        for port in (one for one in path[1:] if one != NO_PORT):
            switch, far = plane.ports.name_of(port)[0], plane.ports.peer_of(port)[0]
            at = row[guid_of[switch]]
            out = int(dumps.forwarding[at, destination])
            there = dumps.subnet.peer_switch[at, out]
            assert far == (adapter.host if there < 0 else plane.names[plane_number(plane, dumps, int(there), guid_of)])


def plane_number(plane: HostNetwork, dumps: Any, row: int, guid_of: dict[str, int]) -> int:
    return next(n for n, name in enumerate(plane.names) if guid_of[name] == dumps.subnet.switches[row].node_guid)


def test_without_tables_a_tree_spreads_destinations(tmp_path: Path) -> None:
    bundle = open_bundle([rendered(tmp_path, TREE)])
    plane = network(bundle)
    source, target = all_pairs(plane)
    zeros = np.zeros(len(source))
    drawn = hashed_flows(plane, source, target, zeros, zeros, seed=1)
    assert drawn.arrived.all() and not (drawn.choices > 1).any()
    used = {int(port) for path in drawn.flows.path for port in path if port != NO_PORT}
    up = [link for link in range(plane.network.links) if plane.tier[int(plane.network.source[link])] == "leaf"]
    to_leaf = np.bincount(plane.leaf)
    assert len(used & set(up)) >= min(to_leaf[to_leaf > 0]) * 8  # each destination of a leaf has a separate uplink


def test_adaptive_routing_relieves_a_permutation(opensm: Tools, tmp_path: Path) -> None:
    bundle = open_bundle([rendered(tmp_path, TREE)])
    tables = plane_tables(bundle, [PLANE])
    static = judge_plane(network(bundle, Forwarding(tables)), CongestionOptions("all-to-all", 1e6, most_finite=10_000))
    adaptive = judge_plane(
        network(bundle, Forwarding(tables, adaptive=True)), CongestionOptions("all-to-all", 1e6, most_finite=10_000)
    )
    assert adaptive.model is not CongestionModel.SKIPPED
    assert (adaptive.drawn_load or 9) <= (static.drawn_load or 0)


def test_congestion_agrees_with_packets(opensm: Tools, tmp_path: Path, cli: Cli) -> None:
    bundle = rendered(tmp_path, DRAGONFLY)
    given = ("--pattern", "incast", "--size", "512KiB", "--format", "json")
    fluid = json.loads(cli("simulate", "congestion", bundle, *given).out)["congestion"]
    packets = json.loads(cli("simulate", "packets", bundle, *given).out)["packets"]
    assert packets["drops"] == 0 and packets["credit_waits"] > 0 and packets["finished"] == len(packets["flows"])
    slowest = [max(flow["fct_ns"] for flow in each["flows"]) for each in (fluid, packets)]
    assert slowest[0] == pytest.approx(slowest[1], rel=0.1)


def test_dumps_replace_a_run(opensm: Tools, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = rendered(tmp_path, TORUS)
    [files] = subnets_of(bundle)
    with swept(opensm, files.netlist, files.folder) as bench:
        (tmp_path / "dumps").mkdir()
        for name in ("opensm-subnet.lst", "opensm-lfts.dump", "opensm-sl2vl.dump"):
            shutil.copy(bench.scratch / name, tmp_path / "dumps")
    given = (bundle, "--pattern", "permutation", "--size", "1MB", "--format", "json")
    of_run = cli("simulate", "congestion", *given)
    monkeypatch.setattr("fabricgen.simulate.opensm.plane_tables.find_tools", lambda: None)
    assert cli("simulate", "congestion", *given, "--lfts", tmp_path / "dumps").out == of_run.out
    without = json.loads(cli("simulate", "congestion", *given).out)
    assert [one["code"] for one in without["findings"]] == ["FG708"] and "--lfts" in without["findings"][0]["message"]
    assert read_dumps(tmp_path / "dumps").subnet.switches
    refused = cli("simulate", "congestion", bundle, "--adaptive-routing")
    assert "FG708" in refused.out and "not a tree" in refused.out


def test_a_cyclic_engine_freezes(opensm: Tools, tmp_path: Path, cli: Cli) -> None:
    """A ring of eight switches: minhop has a credit loop there, and traffic between all hosts closes it."""
    tree = grid("torus", [8], hosts=8)
    plane = tree["planes"][PLANE]
    plane |= {"technology": "infiniband", "infiniband": {"engine": "nue"}}
    plane.pop("addressing", None)
    tree.pop("management", None)
    cli("-q", "render", write(tmp_path / "inventory", tree), "--output", tmp_path / "bundle")
    conf = tmp_path / "bundle" / "infiniband" / PLANE / "opensm.conf"
    lines = conf.read_text().splitlines()
    given = ("--pattern", "all-to-all", "--size", "400KB", "--vl-buffer", "8400", "--format", "json")
    for engine, verdict in (("nue", "free"), ("minhop", "cyclic")):
        conf.write_text("\n".join(f"routing_engine {engine}" if "routing_engine" in one else one for one in lines))
        proved = json.loads(cli("simulate", "deadlock", tmp_path / "bundle", "--format", "json").out)["deadlock"]
        found = json.loads(cli("simulate", "packets", tmp_path / "bundle", *given).out)
        assert (proved["fixed_sl"]["verdict"], found["packets"]["frozen"]) == (verdict, verdict == "cyclic")
        assert ("FG640" in {one["code"] for one in found["findings"]}) == (verdict == "cyclic")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--vl-buffer", "4000"), "do not hold a packet of 4122 bytes"),
        (("--vl-buffer", "much"), "--vl-buffer"),
        (("--adaptive-routing", "--lfts", str(Path(__file__).parent)), "does not use forwarding tables"),
        (("--lfts", "missing"), "missing"),
    ],
)
def test_refuses(option: tuple[str, ...], words: str, tmp_path: Path, cli: Cli) -> None:
    outcome = cli("simulate", "congestion", rendered(tmp_path, TORUS), *option)
    assert outcome.code == 2 and words in outcome.err


@pytest.mark.parametrize("option", [("--priorities", "3"), ("--balance", "spray"), ("--queue-pairs", "2")])
def test_options_of_roce_planes_are_refused_without_one(option: tuple[str, str], tmp_path: Path, cli: Cli) -> None:
    outcome = cli("simulate", "packets", rendered(tmp_path, TORUS), *option)
    assert outcome.code == 2
    assert f"{option[0]}: no RoCE plane carries this traffic" in outcome.err
