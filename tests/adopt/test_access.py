"""VLANs, bonds and BGP of hosts in imported files become `access`: switches and hosts get the same files again."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Cli
from tests.render.hosts.rendered import files_of
from tests.rules.access import BONDED, LEAF0, PAIRED, SPEAKING

NAMED = BONDED.replace("vlan: 110", "bond: bond0, vlan: 110")
TRUNK = NAMED.replace("vlan: 110", "vlan: 110, tagged: [120, 130]")
IN_VLAN = BONDED.replace("kind: bond", "kind: vlan")
ROUTED_BOND = BONDED.replace("kind: bond, vlan: 110, dhcp: 10.90.0.5", "kind: routed-bond, bond: bond0")
TWO_GROUPS = (
    TRUNK.replace("count: 2}}", "count: 2}, storage: {model: dgx-b200, count: 2}}")
    .replace("[gpu]", "[gpu, storage]")
    .replace("planned: 2", "planned: 4")
    .replace("[120, 130]", "[120, 130], groups: {storage: {kind: routed-bond, bond: bond0}}")
)
SPEAKERS = SPEAKING.replace("vlan: 110", "bond: bond0, vlan: 110").partition("    static:")[0]
LIMITED = SPEAKERS.replace("0.0/16}}", "0.0/16, max_prefixes: {limit: 20, warning_percent: 60}}}")
PAIRS = PAIRED.replace("vlan: 110", "bond: bond0, vlan: 110")
SECOND_PAIR_DOMAIN = PAIRS.replace("mclag: {}", "mclag: {domain: 7}")
TWO_PLANES = (
    NAMED
    + """\
  out-of-band:
    design: fat-tree
    hosts: [gpu]
    scalable_unit: {hosts: 48}
    leaf: {platform: nvidia-sn2201}
    spine: {platform: nvidia-sn2201}
    speed: 1G
    uplink_speed: 100G
    access: vlan
    addressing: {loopbacks: 10.11.0.0/24, links: 10.12.0.0/20, hosts: 10.13.0.0/20}
"""
)
WHOLE = {
    "bonds": (NAMED, {"in-band": {"kind": "bond", "bond": "bond0", "vlan": 110, "dhcp": ["10.90.0.5"]}}),
    "ports in a VLAN": (IN_VLAN, {"in-band": {"kind": "vlan", "vlan": 110, "dhcp": ["10.90.0.5"]}}),
    "tagged VLANs": (TRUNK, {"in-band": {"kind": "bond", "bond": "bond0", "vlan": 110, "tagged": [120, 130],
                                         "dhcp": ["10.90.0.5"]}}),
    "routed bonds": (ROUTED_BOND, {"in-band": {"kind": "routed-bond", "bond": "bond0"}}),
    "two groups": (TWO_GROUPS, {"in-band": {"kind": "bond", "bond": "bond0", "vlan": 110, "tagged": [120, 130],
                                            "dhcp": ["10.90.0.5"],
                                            "groups": {"storage": {"kind": "routed-bond", "bond": "bond0"}}}}),
    "speakers": (SPEAKERS, {"in-band": {"kind": "bond", "bond": "bond0", "vlan": 110,
                                        "bgp": {"asn": 64600, "prefixes": "10.100.0.0/16"}}}),
    "limits": (LIMITED, {"in-band": {"kind": "bond", "bond": "bond0", "vlan": 110,
                                     "bgp": {"asn": 64600, "prefixes": "10.100.0.0/16",
                                             "max_prefixes": {"limit": 20, "warning_percent": 60}}}}),
    "pairs": (PAIRS, {"in-band": {"kind": "bond", "bond": "bond0", "vlan": 110, "mclag": {}}}),
    "a domain": (SECOND_PAIR_DOMAIN, {"in-band": {"kind": "bond", "bond": "bond0", "vlan": 110,
                                                  "mclag": {"domain": 7}}}),
    "two planes": (TWO_PLANES, {"in-band": {"kind": "bond", "bond": "bond0", "vlan": 110, "dhcp": ["10.90.0.5"]},
                                "out-of-band": {"kind": "vlan", "vlan": 100}}),
}  # fmt: skip
ADDRESSES = "FG869 the files do not have the addresses of hosts in VLANs"
BONDS = "FG869 the files do not have the names of bonds on the hosts"

Config = dict[str, dict[str, dict[str, Any]]]


def taken_over(cli: Cli, tmp_path: Path, inventory: str, change: Callable[[Config], None] | None = None) -> str:
    """What the import of the rendered switches says; `change` is made at the first leaf."""
    for path, text in files_of(inventory).items():
        if path.endswith("config_db.json"):
            config = json.loads(text)
            if change and Path(path).parent.name == LEAF0:
                change(config)
            (tmp_path / "running" / Path(path).parent.name).mkdir(parents=True)
            (tmp_path / "running" / Path(path).parent.name / "config_db.json").write_text(json.dumps(config))
    outcome = cli("import", "config-db", tmp_path / "running", "--output", tmp_path / "taken")
    assert outcome.code == 0 and "rows that differ: 0" in outcome.out + outcome.err, outcome.err
    return outcome.out + outcome.err


def imported(tmp_path: Path) -> dict[str, Any]:
    tree = yaml.safe_load((tmp_path / "taken" / "fabric.yaml").read_text())
    assert isinstance(tree, dict)
    return tree


@pytest.mark.parametrize("case", WHOLE)
def test_hosts_have_the_same_files(case: str, cli: Cli, tmp_path: Path) -> None:
    inventory, expected = WHOLE[case]
    taken_over(cli, tmp_path, inventory)
    tree = imported(tmp_path)
    assert {name: plane["access"] for name, plane in tree["planes"].items()} == expected
    assert "overrides" not in tree, tree["overrides"]
    assert cli("check", tmp_path / "taken", "-q").code == 0
    completed(tmp_path / "taken" / "fabric.yaml", tree, yaml.safe_load(inventory))
    assert cli("render", tmp_path / "taken", "--output", tmp_path / "out", "-q").code == 0
    expected_files = files_of(inventory)
    assert any("/netplan/" in path for path in expected_files)
    for path, content in expected_files.items():
        if path.endswith("config_db.json") or "/netplan/" in path:
            assert (tmp_path / "out" / path).read_bytes() == content, path


def completed(path: Path, tree: dict[str, Any], original: dict[str, Any]) -> None:
    """Give the inventory what no file of a switch has: the models of hosts, and the room of its pools."""
    for group in tree["hosts"].values():
        group["model"] = "dgx-b200"
    del tree["host_models"]
    for name, plane in tree["planes"].items():
        plane["addressing"] = original["planes"][name]["addressing"]
    path.write_text(yaml.safe_dump(tree))


def test_what_no_file_of_a_switch_has(cli: Cli, tmp_path: Path) -> None:
    said = taken_over(cli, tmp_path, BONDED)
    assert ADDRESSES in said and BONDS in said
    assert imported(tmp_path)["planes"]["in-band"]["access"]["bond"] == "bond0"  # bond-in-band of the files


def test_prefixes_of_bgpcfgd_are_in_no_file(cli: Cli, tmp_path: Path) -> None:
    speaking = NAMED.replace("dhcp: 10.90.0.5", "bgp: {asn: 64600, prefixes: 10.100.0.0/16, filtered: false}")
    assert "FG869 BGP_PEER_RANGE accepts any prefix" in taken_over(cli, tmp_path, speaking)


def renamed(config: Config) -> None:
    text = json.dumps(config)
    config.clear()
    config.update(json.loads(re.sub(r"PortChannel(\d+)", lambda found: f"PortChannel{int(found[1]) + 1}", text)))


def test_port_channels_keep_their_names(cli: Cli, tmp_path: Path) -> None:
    taken_over(cli, tmp_path, NAMED, renamed)
    assert "PortChannel1" in str(imported(tmp_path)["overrides"])
    assert cli("check", tmp_path / "taken", "-q").code == 0


def last_gateway(config: Config) -> None:
    (key,) = [key for key in config["VLAN_INTERFACE"] if "|" in key]
    address, _, length = key.partition("|")[2].partition("/")
    del config["VLAN_INTERFACE"][key]
    config["VLAN_INTERFACE"][f"Vlan110|{address.rpartition('.')[0]}.6/{length}"] = {}


def narrow(config: Config) -> None:
    (key,) = [key for key in config["VLAN_INTERFACE"] if "|" in key]
    config["VLAN_INTERFACE"] = {"Vlan110": {}, f"{key.rpartition('/')[0]}/30": {}}


def without_gateway(config: Config) -> None:
    config["VLAN_INTERFACE"] = {"Vlan110": {}}


def two_bonds(config: Config) -> None:
    del config["PORTCHANNEL_MEMBER"]["PortChannel0|Ethernet4"]
    config["PORTCHANNEL_MEMBER"]["PortChannel4|Ethernet4"] = {}
    config["PORTCHANNEL"]["PortChannel4"] = config["PORTCHANNEL"]["PortChannel0"]
    config["VLAN_MEMBER"]["Vlan110|PortChannel4"] = {"tagging_mode": "untagged"}


def tagged_only(config: Config) -> None:
    config["VLAN_MEMBER"]["Vlan110|PortChannel0"] = {"tagging_mode": "tagged"}


def idle_channel(config: Config) -> None:
    del config["VLAN_MEMBER"]["Vlan110|PortChannel0"]


def default_vlan(config: Config) -> None:
    text = json.dumps(config).replace("Vlan110", "Vlan1").replace('"vlanid": "110"', '"vlanid": "1"')
    config.clear()
    config.update(json.loads(text))


def mixed(config: Config) -> None:
    del config["PORTCHANNEL_MEMBER"]["PortChannel0|Ethernet4"]
    config["VLAN_MEMBER"]["Vlan110|Ethernet4"] = {"tagging_mode": "untagged"}


def unknown_neighbor(config: Config) -> None:
    del config["DEVICE_NEIGHBOR"]["Ethernet4"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (last_gateway, "FG871 10.224.0.6/29 of Vlan110 of in-band-su00-leaf-00 is not the first address of its subnet"),
        (narrow, "FG871 the subnet 10.224.0.0/30 of Vlan110 of in-band-su00-leaf-00 has too few addresses for 2 host"),
        (without_gateway, "FG871 Vlan110 of in-band-su00-leaf-00 has no address"),
        (two_bonds, "FG871 the VLANs and port channels of gpu-000 stay overrides: it has several bonds"),
        (tagged_only, "overrides: PortChannel0 is untagged in 0 VLANs, and the ports of `access` in one"),
        (idle_channel, "overrides: PortChannel0 has neither a VLAN nor an address"),
        (default_vlan, "overrides: PortChannel0 is in VLAN 1, and `access` has VLANs from 2 to 4094"),
        (mixed, "overrides: its ports are connected in different ways"),
        (
            unknown_neighbor,
            "FG872 in-band-su00-leaf-00 Ethernet4 is in a VLAN or port channel, and no file names its",
        ),
    ],
)
def test_what_access_cannot_describe(change: Callable[[Config], None], said: str, cli: Cli, tmp_path: Path) -> None:
    assert said in taken_over(cli, tmp_path, NAMED, change)


def without_domain(config: Config) -> None:
    del config["MCLAG_DOMAIN"], config["MCLAG_INTERFACE"]


def without_peer(config: Config) -> None:
    ports = [key.partition("|")[2] for key in config["PORTCHANNEL_MEMBER"] if "PortChannel496" in key]
    for port in ports:
        del config["DEVICE_NEIGHBOR"][port]


@pytest.mark.parametrize(
    ("change", "said"),
    [(without_domain, "its bond ends at several switches that are not a pair (MCLAG)")],
)
def test_bonds_at_two_leaves_need_a_pair(change: Callable[[Config], None], said: str, cli: Cli, tmp_path: Path) -> None:
    assert said in taken_over(cli, tmp_path, PAIRS, change)


def test_an_access_that_cannot_be_rendered_is_left_out(cli: Cli, tmp_path: Path) -> None:
    long = TRUNK.replace("kind: bond", "kind: vlan").replace("bond: bond0, ", "")
    said = taken_over(cli, tmp_path, long, with_long_port)
    assert "FG143 overrides replace `access`: 'a-port-with-a-long-name.120' is longer than the 15 characters" in said
    assert "access" not in imported(tmp_path)["planes"]["compute"]


def with_long_port(config: Config) -> None:
    config["DEVICE_NEIGHBOR"]["Ethernet0"]["port"] = "a-port-with-a-long-name"
