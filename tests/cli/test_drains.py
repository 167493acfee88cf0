"""A switch that is drained in the inventory: its files move the traffic away, and every verdict counts without it."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.resources import resource
from tests.conftest import Cli
from tests.inventories import two_rails, write

LEAF, SPINE = "compute-su00-r0-leaf", "compute-spine-00"
ADDRESSING = ["numbered", "unnumbered"]


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inventory of four leaves and four spines."""
    return write(tmp_path_factory.mktemp("four"), two_rails(spines=4))


def drained(folder: Path, example: Path, *names: str) -> Path:
    """An inventory with these switches drained."""
    folder.mkdir()
    for file in example.iterdir():
        (folder / file.name).write_text(file.read_text())
    entries = "".join(f"  - {{name: {name}, state: drained}}\n" for name in names)
    with (folder / "fabric.yaml").open("a") as file:
        file.write(f"devices:\n{entries}")
    return folder


@pytest.mark.parametrize("addressing", ADDRESSING)
@pytest.mark.parametrize("name", [LEAF, SPINE])
def test_check_counts_without_it_and_says_so(cli: Cli, four: Path, tmp_path: Path, name: str, addressing: str) -> None:
    inventory = drained(tmp_path / "inventory", four, name)
    setting = ("--set", f"planes.compute.bgp={addressing}")
    outcome = cli("check", inventory, *setting, "--fail-on", "warning")
    assert outcome.code == 0, outcome.out
    assert "; out of service: 1 switch drained" in outcome.out.splitlines()[0] + outcome.err
    found = json.loads(cli("check", inventory, *setting, "--format", "json").out)
    assert [one["code"] for one in found["findings"] if one["severity"] != "note"] == []
    flows = 16 if name == SPINE else 16 - 4  # 4 hosts have a NIC behind a leaf
    assert sum(one["count"] for one in found["congestion"]["flows"]) <= flows


@pytest.mark.parametrize("addressing", ADDRESSING)
def test_only_its_own_file_drains(cli: Cli, four: Path, tmp_path: Path, addressing: str) -> None:
    setting = ("--set", f"planes.compute.bgp={addressing}", "-q")
    inventory = drained(tmp_path / "inventory", four, SPINE)
    assert cli("render", inventory, "-o", tmp_path / "after", *setting).code == 0
    config = _config(tmp_path / "after", SPINE)
    if addressing == "numbered":
        assert config["BGP_DEVICE_GLOBAL"] == {"STATE": {"tsa_enabled": "true"}}
    else:
        assert "BGP_DEVICE_GLOBAL" not in config
        assert {tuple(row["route_map_out"]) for row in config["BGP_PEER_GROUP_AF"].values()} == {("DRAINED",)}
        permitted = {key.split("|")[1] for key in config["PREFIX"]}
        assert permitted == {key.split("|")[1] for key in config["LOOPBACK_INTERFACE"] if "|" in key}
    other = _config(tmp_path / "after", "compute-spine-01")
    assert "DRAINED" not in json.dumps(other) and "tsa_enabled" not in json.dumps(other)


def test_a_drained_border_announces_nothing_to_the_outside(cli: Cli, tmp_path: Path) -> None:
    inventory = drained(tmp_path / "inventory", resource("inventories", "border"), LEAF)
    assert cli("check", inventory, "--fail-on", "warning").code == 0
    assert cli("render", inventory, "-o", tmp_path / "after", "-q").code == 0
    config = _config(tmp_path / "after", LEAF)
    assert config["ROUTE_MAP"]["wan1-Ethernet384-out-ipv4|20"] == {"route_operation": "deny"}


def test_files_that_still_attract_traffic_are_reported(cli: Cli, four: Path, tmp_path: Path) -> None:
    """Of both kinds of sessions: the files are those of a switch in service."""
    for addressing in ADDRESSING:
        name = LEAF if addressing == "unnumbered" else SPINE
        inventory = drained(tmp_path / addressing, four, name)
        bundle, setting = tmp_path / f"{addressing}-b", ("--set", f"planes.compute.bgp={addressing}", "-q")
        assert cli("render", inventory, "-o", bundle, *setting).code == 0
        file = bundle / f"sonic/{name}/config_db.json"
        file.write_text(file.read_text().replace('"DRAINED"\n', '"PASS"\n').replace('"tsa_enabled": "true"', '"x": ""'))
        found = json.loads(cli("validate", bundle, "--format", "json", "--select", "FG306").out)["findings"]
        assert {(one["code"], one["device"]) for one in found} == {("FG306", name)}


def _config(bundle: Path, name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((bundle / f"sonic/{name}/config_db.json").read_text())
    return found
