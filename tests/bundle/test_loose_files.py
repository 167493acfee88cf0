"""Files outside a bundle: the names of their devices, other files beside them, and the links of a links file."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from tests.conftest import Cli


def put(file: Path, hostname: str = "", **content: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    localhost = {"hostname": hostname} if hostname else {}
    file.write_text(json.dumps({"DEVICE_METADATA": {"localhost": localhost | content.pop("localhost", {})}, **content}))
    return file


def test_a_device_has_the_name_of_its_folder_or_its_hostname(tmp_path: Path) -> None:
    put(tmp_path / "leaf1" / "config_db.json", "other")
    put(tmp_path / "a.json", "leaf2")
    put(tmp_path / "leaf3.json")
    put(tmp_path / "config_db.json", "leaf4")
    assert list(open_bundle([tmp_path]).devices) == ["leaf1", "leaf2", "leaf3", "leaf4"]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("leaf1/config/config_db.json", "leaf2/config/config_db.json"), ["leaf1", "leaf2"]),
        (("lab/a/leaf1/config_db.json", "lab/b/leaf2/config_db.json"), ["leaf1", "leaf2"]),
        (("a/x/config/config_db.json", "b/x/config/config_db.json"), ["a", "b"]),
        (("a/x/config_db.json", "a/y/config_db.json", "b/x/config_db.json"), ["a-x", "a-y", "b-x"]),
        (("leaf1/startup.json", "leaf2/startup.json"), ["leaf1", "leaf2"]),
    ],
)
def test_files_are_found_further_below(files: tuple[str, ...], names: list[str], cli: Cli, tmp_path: Path) -> None:
    """containerlab has leaf1/config/config_db.json, and other labs one file of any name for each switch."""
    for file in files:
        put(tmp_path / file)
    assert list(open_bundle([tmp_path]).devices) == names
    assert cli("diff", tmp_path, tmp_path, "--exit-code").code == 0


def test_frr_beside_the_only_file_of_a_folder(cli: Cli, tmp_path: Path) -> None:
    for number, name in enumerate(("leaf1", "spine1")):
        put(tmp_path / name / "startup.json", INTERFACE={"Ethernet0": {}, f"Ethernet0|10.0.0.{number}/31": {}})
        (tmp_path / name / "frr.conf").write_text(
            f"router bgp 6500{number}\n neighbor 10.0.0.{1 - number} remote-as external\n"
        )
    assert open_bundle([tmp_path]).links_from == "frr.conf"


def test_files_of_one_hostname_are_named_by_their_place(cli: Cli, tmp_path: Path) -> None:
    for name in ("leaf1", "leaf2"):
        put(tmp_path / f"{name}.json", "sonic")
    assert list(open_bundle([tmp_path]).devices) == ["leaf1", "leaf2"]
    findings = json.loads(cli("validate", tmp_path, "--format", "json", "--select", "FG221").out)["findings"]
    assert [one["device"] for one in findings] == ["leaf1", "leaf2"]
    put(tmp_path / "again" / "leaf1.json", "sonic")
    outcome = cli("validate", tmp_path / "leaf1.json", tmp_path / "again" / "leaf1.json")
    assert outcome.code == 2 and "a second file for device leaf1" in outcome.err


def test_the_same_file_twice_is_one_device(tmp_path: Path) -> None:
    file = put(tmp_path / "a.json", "leaf1")
    assert list(open_bundle([file, file, tmp_path]).devices) == ["leaf1"]


def test_a_switch_with_several_asics_has_several_files(cli: Cli, tmp_path: Path) -> None:
    for asic in (0, 1):
        put(tmp_path / f"config_db{asic}.json", "chassis", localhost={"asic_name": f"asic{asic}"})
    assert list(open_bundle([tmp_path]).devices) == ["chassis-asic0", "chassis-asic1"]
    assert json.loads(cli("validate", tmp_path, "--format", "json", "--select", "FG221").out)["findings"] == []


def test_a_file_with_several_asics_prevents_a_verdict(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps({name: {"PORT": {}} for name in ("localhost", "asic0", "asic1")}))
    outcome = cli("validate", tmp_path)
    assert outcome.code == 2 and "several ASICs (localhost, asic0, asic1)" in outcome.err


def test_other_json_files_of_a_folder_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(tmp_path / "leaf1.json", "leaf1")
    (tmp_path / "links.json").write_text("[]")
    (tmp_path / "lldp.json").write_text('{"lldp": {}}')
    assert list(open_bundle([tmp_path]).devices) == ["leaf1"]
    assert [record.args[0].name for record in caplog.records] == ["links.json", "lldp.json"]  # type: ignore[index,union-attr]


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"x"'])
def test_a_file_that_is_not_a_json_object_prevents_a_verdict(text: str, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_text(text)
    for verb in (["validate"], ["simulate", "deadlock"]):
        outcome = cli(*verb, file)
        assert outcome.code == 2 and str(file) in outcome.err


@pytest.mark.parametrize("text", ["{}", '{"PORT": {}, "VLAN": {}}'])
@pytest.mark.parametrize("name", ["config_db.json", "leaf1.json", "leaf1/config_db.json"])
def test_a_file_without_a_row_prevents_a_verdict(name: str, text: str, cli: Cli, tmp_path: Path) -> None:
    """Each rule holds on it."""
    file = tmp_path / "lab" / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    for path in (file, tmp_path / "lab"):
        for verb in (["validate"], ["simulate", "deadlock"], ["import", "config-db"]):
            outcome = cli(*verb, path)
            assert outcome.code == 2 and not outcome.out, outcome
            assert f"{file}:1:1: has no row of any table" in outcome.err or "does not contain a table" in outcome.err


# Shapes that public configurations have and a schema would refuse.
SHAPES: list[dict[str, Any]] = [
    {"PORT": {"Ethernet0": None, "Ethernet4": []}},
    {"PORT": {"Ethernet0": {"speed": 100000, "lanes": ["1", 2], "mtu": None}}},
    {"BGP_NEIGHBOR": {"10.0.0.1": {"asn": 65000, "local_addr": 1}, "default|10.0.0.3": {}}},
    {"BGP_PEER_RANGE": {"x": {"ip_range": ["10.0.0.0/8"]}}, "constants": {"bgp": {"families": ["ipv4"]}}},
    {"BUFFER_PG": {"Ethernet0,Ethernet4|3-4": {"profile": "[BUFFER_PROFILE|x]"}}},
    {"BUFFER_PROFILE": {"x": {"pool": "[BUFFER_POOL|y]"}}, "BUFFER_POOL": {"y": {"size": 1}}},
    {"DEVICE_NEIGHBOR": {"ARISTA01T1:Ethernet1": {"name": "a"}, "Ethernet0": {"name": 1, "port": "x"}}},
    {"INTERFACE": {"Ethernet0|not-an-address": {}, "|": {}, "": {}}, "VLAN_MEMBER": {"Vlan1": {}}},
    {"DEVICE_METADATA": {"localhost": [], "x": 3}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": 5}}},
    {"QUEUE": {"leaf|asic0|Ethernet0|3": {"scheduler": "[SCHEDULER|s]"}}, "NULL": {"NULL": "NULL"}},
]


@pytest.mark.parametrize("config", SHAPES, ids=lambda config: next(iter(config)))
@pytest.mark.parametrize("verb", [["validate"], ["simulate", "deadlock"], ["import", "config-db"]], ids=" ".join)
def test_unexpected_structures_do_not_break_a_verb(
    verb: list[str], config: dict[str, Any], cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps(config))
    outcome = cli(*verb, file)
    assert outcome.code in (0, 1) and "bug" not in outcome.err


def test_links_of_a_file_keep_their_kind_and_their_plan(tmp_path: Path) -> None:
    put(tmp_path / "leaf1.json", "leaf1", DEVICE_NEIGHBOR_METADATA={"wan": {"type": "RegionalHub"}})
    put(tmp_path / "leaf2.json", "leaf2")
    links = tmp_path / "links.json"
    links.write_text(
        '[["leaf1|Ethernet0", "gpu1|nic0"], ["wan|1/1", "leaf1|Ethernet4"], ["leaf1|Ethernet8", "leaf2|Ethernet8"]]'
    )
    found = open_bundle([tmp_path / "leaf1.json", tmp_path / "leaf2.json"], links).links
    assert [(link.kind, link.a[0], link.b[0]) for link in found] == [
        ("host-leaf", "gpu1", "leaf1"),
        ("external", "wan", "leaf1"),
        ("peer", "leaf1", "leaf2"),
    ]
