"""Packet trimming through the commands: what is rendered, that the rules accept it, and what is refused."""

import json
from pathlib import Path
from typing import Any

from tests.conftest import Cli
from tests.inventories import NVIDIA, Tree, explicit, rail_optimized, write


def rendered(cli: Cli, folder: Path, tree: Tree) -> dict[str, Any]:
    """The tables of leaf1. `validate` accepts all switches, and finds nothing about QoS and buffers."""
    write(folder, tree)
    assert cli("render", str(folder), "--output", str(folder / "bundle")).code == 0
    run = cli("validate", str(folder / "bundle"), "--format", "json")
    assert run.code == 0
    assert not [one for one in json.loads(run.out)["findings"] if one["code"].startswith("FG5")]
    tables: dict[str, Any] = json.loads((folder / "bundle/sonic/leaf1/config_db.json").read_text())
    return tables


def test_a_plane_that_trims(cli: Cli, tmp_path: Path) -> None:
    tables = rendered(cli, tmp_path, explicit(NVIDIA, lossless="none", trimming={"dscp": 11, "size": 512}))
    assert tables["SWITCH_TRIMMING"] == {"GLOBAL": {"size": "512", "dscp_value": "11", "queue_index": "6"}}
    assert tables["TC_TO_QUEUE_MAP"]["AZURE"][tables["DSCP_TO_TC_MAP"]["AZURE"]["11"]] == "6"
    profiles = tables["BUFFER_PROFILE"]
    assert profiles["trimming_profile"] == {**profiles["q_lossy_profile"], "packet_discard_action": "trim"}
    queues = {key.partition("|")[2]: row["profile"] for key, row in tables["BUFFER_QUEUE"].items()}
    assert queues == {"0-5": "trimming_profile", "6-7": "q_lossy_profile"}
    listed = {row["profile_list"] for row in tables["BUFFER_PORT_EGRESS_PROFILE_LIST"].values()}
    assert listed and not any("trimming_profile" in names for names in listed)


def test_ports_to_the_outside_do_not_trim(cli: Cli, tmp_path: Path) -> None:
    """A router does not know what a trimmed packet is."""
    router = {
        "name": "border", "asn": 64999, "switch": "leaf1", "port": "Ethernet240",
        "address": "192.0.2.1/31", "in": "all", "out": "all",
    }  # fmt: skip
    tree = explicit(NVIDIA, lossless="none", trimming={"dscp": 11}, external=[router])
    tables = rendered(cli, tmp_path, tree)
    outside = {row["profile"] for key, row in tables["BUFFER_QUEUE"].items() if key.startswith("Ethernet240|")}
    assert outside == {"q_lossy_profile"}


def test_what_contradicts_is_refused(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, explicit(NVIDIA, trimming={"dscp": 48}))
    run = cli("render", str(tmp_path), "--output", str(tmp_path / "bundle"))
    assert run.code == 1 and not (tmp_path / "bundle").exists()
    assert "FG105  a plane with PFC does not trim packets" in run.out
    assert "FG110  DSCP 48 belongs to routing protocols (CS6) already" in run.out


def test_a_simulation_trims(cli: Cli, tmp_path: Path) -> None:
    """An incast into queues with a small limit completes without a drop: switches trim, and adapters repeat."""
    write(tmp_path, rail_optimized(platform=NVIDIA, lossless="none", trimming={"dscp": 11}))
    bundle = tmp_path / "bundle"
    assert cli("render", str(tmp_path), "--output", str(bundle)).code == 0
    for file in (bundle / "sonic").glob("*/config_db.json"):
        config = json.loads(file.read_text())
        profile = config["BUFFER_PROFILE"]["trimming_profile"]
        profile.pop("dynamic_th", None)
        file.write_text(json.dumps({**config, "BUFFER_PROFILE": {
            **config["BUFFER_PROFILE"], "trimming_profile": {**profile, "static_th": "200000"}
        }}))  # fmt: skip
    run = cli("simulate", "packets", str(bundle), "--pattern", "incast", "--size", "1MiB", "--format", "json")
    found = json.loads(run.out)["packets"]
    assert found["finished"] == len(found["flows"])
    assert found["drops"] == 0 < found["trimmed"]
