"""Ways to spread packets, through the command: hashes as deployed, weights, adaptive routing and spraying."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.inventories import ARISTA, Tree, explicit, write

NICS = 4
UPLINKS = (256, 264, 272, 280)  # of each leaf: to spine 1, spine 2, spine 1, spine 2


def parallel(model: str = "ConnectX-7", **plane: Any) -> Tree:
    """Two hosts, each with four NICs at its own leaf, and two cables from each leaf to each of two spines."""
    nics = [{"name": "nic{rail}", "model": model, "speed": "400G", "plane": "compute", "rails": NICS}]
    links = [[f"gpu/{host}:nic{nic}", f"leaf{host + 1}:Ethernet{8 * nic}"] for host in (0, 1) for nic in range(NICS)]
    for leaf in (0, 1):
        for number, port in enumerate(UPLINKS):
            far = 8 * (2 * leaf + number // 2)
            links.append([f"leaf{leaf + 1}:Ethernet{port}", f"spine{number % 2 + 1}:Ethernet{far}"])
    tree = explicit(links=links, lossless="roce-lossless", **plane)
    tree["planes"]["compute"]["leaves"] = [{"name": "leaf1"}, {"name": "leaf2"}]
    tree["host_models"] = {"server": {"gpus": NICS, "nics": nics}}
    tree["hosts"] = {"gpu": {"model": "server", "count": 2}}
    return tree


def rendered(cli: Cli, folder: Path, tree: Tree) -> Path:
    outcome = cli("render", write(folder / "i", tree), "--output", folder / "b", "-q")
    assert outcome.code == 0, outcome.out
    return folder / "b"


def congestion(cli: Cli, bundle: Path, *more: object) -> dict[str, Any]:
    outcome = cli("simulate", "congestion", bundle, "--format", "json", "--fail-on", "never", *more)
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return {**found["congestion"], "findings": found["findings"], "not_judged": found["summary"].get("not_judged", [])}


def test_weights_keep_the_bandwidth_behind_parallel_links(cli: Cli, tmp_path: Path) -> None:
    """One of two links between a leaf and a spine fails. By even shares the other one gets half of all packets to the
    leaf, twice its capacity; by weights a third, 4/3 of the capacity of each link to the other spine."""
    plain = congestion(cli, rendered(cli, tmp_path / "plain", parallel()), "--failures", "1")["failures"][0]
    assert (plain["how"], plain["worst"]["share"], plain["weighted_share"]) == ("each", 0.5, 0.75)
    tree = parallel(load_balancing={"wcmp": True})
    found = congestion(cli, rendered(cli, tmp_path / "weighted", tree), "--failures", "1")["failures"][0]
    assert (found["worst"]["share"], found["weighted_share"]) == (0.75, None)
    assert {outcome["share"] for outcome in found["outcomes"]} == {0.75}
    shown = cli("simulate", "congestion", tmp_path / "plain" / "b", "--failures", "1").out
    assert "weighted ECMP (wcmp) leaves 75.0% after the worst set" in shown


def test_hashes_follow_weights(cli: Cli, tmp_path: Path) -> None:
    """With one link down, the mean of many queue pairs over the links to the spines is 1:2, by an ideal hash."""
    bundle = rendered(cli, tmp_path, parallel(load_balancing={"wcmp": True}))
    for name, port in (("leaf1", "Ethernet256"), ("spine1", "Ethernet0")):
        file = bundle / "sonic" / name / "config_db.json"
        config = json.loads(file.read_text())
        config["PORT"][port]["admin_status"] = "down"
        file.write_text(json.dumps(config))
    result = congestion(cli, bundle, "--queue-pairs", "64", "--hash", "ideal")
    load = {port: load for device, port, load in result["link_loads"] if device == "leaf2"}
    one, two = (sum(load[f"Ethernet{port}"] for port in UPLINKS[first::2]) for first in (0, 1))
    assert two / one == pytest.approx(2, rel=0.25)  # 256 flows


def test_a_hash_of_addresses_changes_the_verdict(cli: Cli, tmp_path: Path) -> None:
    """All queue pairs of two NICs share one path, if switches hash addresses only."""
    found = []
    for fields in (["DST_IP", "IP_PROTOCOL", "L4_DST_PORT", "L4_SRC_PORT", "SRC_IP"], ["DST_IP", "SRC_IP"]):
        tree = parallel()
        tree["overrides"] = [
            {"match": {"plane": "compute"}, "config_db": {"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": fields}}}}
        ]
        bundle = rendered(cli, tmp_path / str(len(fields)), tree)
        found.append(congestion(cli, bundle, "--queue-pairs", "32", "--seed", "3"))
    spread, together = found
    assert together["drawn_load"] > 1.3 * spread["drawn_load"]
    assert together["drawn_load"] == round(together["drawn_load"])  # whole flows of a NIC
    assert together["victims"] != spread["victims"]


def test_a_polarised_tier_uses_one_link(cli: Cli, tmp_path: Path) -> None:
    """Leaf 1 has one cable to each of two spines, leaf 2 has two. Without another offset, a spine selects one of its
    two links to leaf 2 for all flows that leaf 1 sends over this spine."""
    used = {}
    for kind in ("LeafRouter", "SpineRouter"):
        tree = parallel(spine={"platform": ARISTA, "type": kind})
        links = tree["planes"]["compute"]["links"]
        links[:] = [link for link in links if link[0] not in ("leaf1:Ethernet272", "leaf1:Ethernet280")]
        result = congestion(cli, rendered(cli, tmp_path / kind, tree), "--queue-pairs", "32")
        loads = {(device, port): load for device, port, load in result["link_loads"]}
        used[kind] = [
            sum((spine, port) in loads for port in ("Ethernet16", "Ethernet24")) for spine in ("spine1", "spine2")
        ]
    assert used == {"LeafRouter": [2, 2], "SpineRouter": [1, 1]}


MODES = ("ecmp", "flowlet", "adaptive", "spray")


def test_modes_of_load_balancing(cli: Cli, tmp_path: Path) -> None:
    """Four flows of equal size over four links: a hash makes some meet, the others use every link once."""
    bundle = rendered(cli, tmp_path, parallel())
    found = {mode: congestion(cli, bundle, "--balance", mode) for mode in MODES}
    slowest = {mode: max(flow["fct_ns"] for flow in one["flows"]) for mode, one in found.items()}
    assert found["ecmp"] == congestion(cli, bundle) and "load_balancing" not in found["ecmp"]
    assert slowest["flowlet"] == slowest["ecmp"] > 1.5 * slowest["spray"]
    assert slowest["adaptive"] == slowest["spray"]
    assert found["spray"]["max_load"] == 1.0 and found["spray"]["model"] == "dense"
    assert found["spray"]["load_balancing"].startswith("spray per packet: load spreads evenly")
    loads = [load for device, _, load in found["spray"]["link_loads"] if device.startswith("leaf")]
    assert loads == pytest.approx([1.0] * len(loads)) and len(loads) == 2 * NICS


def test_a_mode_of_the_platform_is_used_and_not_judged(cli: Cli, tmp_path: Path) -> None:
    """Adaptive per flowlet: each flow takes the links with the least load."""
    balance = {"mode": "adaptive", "per": "flowlet", "configured_by": "platform"}
    tree = parallel(model="BCM57608", load_balancing=balance)
    bundle = rendered(cli, tmp_path, tree)
    result = congestion(cli, bundle)
    assert result["load_balancing"].startswith(
        "adaptive per flowlet: each flow takes the next hops with the least load"
    )
    assert result["drawn_load"] == 1.0 and "repeating" not in result
    shown = cli("simulate", "congestion", bundle).out
    assert "not judged: the mode of load balancing of plane compute" in shown
    assert cli("validate", bundle, "--select", "FG579").code == 0
    times = {mode: congestion(cli, bundle, "--sizes", "1GiB:1GiB", "--balance", mode) for mode in ("ecmp", "adaptive")}
    slow, fast = (one["sizes"][0]["rows"][0]["bus_gbytes"]["mean"] for one in times.values())
    assert fast > 1.3 * slow


def test_times_do_not_hold_where_nics_repeat_packets(cli: Cli, tmp_path: Path) -> None:
    """Packets overtake each other, and go-back-N repeats what follows a gap."""
    for model, expected in (("BCM57608", True), ("ConnectX-7", False)):
        bundle = rendered(
            cli, tmp_path / model, parallel(model, load_balancing={"mode": "spray", "configured_by": "platform"})
        )
        result = congestion(cli, bundle)
        warned = [one["message"] for one in result["findings"] if one["severity"] == "warning"]
        assert (
            any("completion times do not hold: 8 NICs (BCM57608: go-back-n, assumed)" in one for one in warned)
            is expected
        )
        assert ("times and loads do not hold" in cli("simulate", "congestion", bundle).out) is expected
        assert cli("validate", bundle, "--select", "FG579").code == expected


def test_incast_keeps_its_receiver(cli: Cli, tmp_path: Path) -> None:
    """Spraying does not help where one NIC receives from several."""
    bundle = rendered(cli, tmp_path, parallel())
    flows = [{"src": f"gpu-000|nic{nic}", "dst": "gpu-001|nic0", "bytes": 1_000_000} for nic in range(NICS)]
    (tmp_path / "flows.json").write_text(json.dumps({"flows": flows}))
    result = congestion(cli, bundle, "--balance", "spray", "--pattern", f"trace:{tmp_path / 'flows.json'}")
    assert result["max_load"] == NICS
    alone = 1_000_000 * 8 / 400 * 1.02
    assert all(flow["fct_ns"] >= NICS * alone * 0.98 for flow in result["flows"])
