"""Bonds that end at two leaves (MCLAG): the rows of both leaves, the links between them, and what cannot be."""

import json
from pathlib import Path

import pytest
import yaml

from fabricgen.render.plans import make_plans
from tests.conftest import Cli
from tests.inventories import MANAGEMENT
from tests.render.hosts.rendered import files_of
from tests.render.test_access import findings, switch
from tests.rules.access import FIRST, PAIRED, SECOND

UNNUMBERED = PAIRED.replace("    speed: 400G\n", "    speed: 400G\n    bgp: unnumbered\n").replace(
    "links: 10.192.0.0/11, ", ""
)
TABLES = ("VLAN", "VLAN_INTERFACE", "VLAN_MEMBER", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "MCLAG_INTERFACE", "FEATURE")


def test_both_leaves_have_the_same_rows() -> None:
    first, second = switch(PAIRED), switch(PAIRED, SECOND)
    assert {table: first[table] for table in TABLES} == {table: second[table] for table in TABLES}
    assert list(first["VLAN_INTERFACE"]) == ["Vlan110", "Vlan110|10.224.0.1/29"]
    assert first["VLAN_MEMBER"] == {
        "Vlan110|PortChannel0": {"tagging_mode": "untagged"},
        "Vlan110|PortChannel4": {"tagging_mode": "untagged"},
        "Vlan110|PortChannel496": {"tagging_mode": "tagged"},
    }
    assert list(first["PORTCHANNEL_MEMBER"]) == [
        "PortChannel0|Ethernet0", "PortChannel4|Ethernet4", "PortChannel496|Ethernet496", "PortChannel496|Ethernet500"
    ]  # fmt: skip
    assert first["MCLAG_INTERFACE"] == {f"1|PortChannel{port}": {"if_type": "PortChannel"} for port in (0, 4)}
    assert first["FEATURE"] == {"iccpd": {"state": "enabled"}}


def test_the_session_runs_between_the_loopbacks() -> None:
    first, second = switch(PAIRED)["MCLAG_DOMAIN"]["1"], switch(PAIRED, SECOND)["MCLAG_DOMAIN"]["1"]
    assert first == {"source_ip": "10.1.0.3", "peer_ip": "10.1.0.4", "peer_link": "PortChannel496"}
    assert second == {"source_ip": "10.1.0.4", "peer_ip": "10.1.0.3", "peer_link": "PortChannel496"}
    assert "Loopback0|10.1.0.3/32" in switch(PAIRED)["LOOPBACK_INTERFACE"]


@pytest.mark.parametrize("text", [PAIRED, UNNUMBERED])
def test_the_peer_link_has_no_address_and_no_session(text: str) -> None:
    leaf = switch(text)
    assert not {"Ethernet496", "Ethernet500"} & {key.partition("|")[0] for key in leaf["INTERFACE"]}
    assert not any("Ethernet49" in key or "Ethernet500" in key for key in leaf["BGP_NEIGHBOR"])
    assert len(leaf["BGP_NEIGHBOR"]) == 2
    assert leaf["DEVICE_NEIGHBOR"]["Ethernet496"] == {"name": SECOND, "port": "Ethernet496"}


def test_a_host_has_one_bond_with_one_address() -> None:
    network = yaml.safe_load(files_of(PAIRED)["hosts/gpu/netplan/gpu-001.yaml"])["network"]
    bond = network["bonds"]["bond-in-band"]
    assert (bond["interfaces"], bond["parameters"]["mode"]) == (["inband0", "inband1"], "802.3ad")
    assert bond["addresses"] == ["10.224.0.3/29"]
    links = json.loads(files_of(PAIRED)["fabric.json"])["links"]
    own = [link["b"] for link in links if link["a"][0] == "gpu-001"]
    assert own == [[FIRST, "Ethernet4"], [SECOND, "Ethernet4"]]


def test_capacity_counts_the_links_between_the_leaves(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "fabric.yaml").write_text(PAIRED.replace("mclag: {}", "mclag: {peer_links: 4}"))
    (plane,) = json.loads(cli("capacity", str(tmp_path), "--format", "json").out)["capacity"]["planes"]
    assert plane["links"]["peer"] == 8
    assert next(one for one in plane["ports"] if one["role"] == "leaf")["used"] == 6 + 8 + 16


def test_an_explicit_design_lists_its_peer_links() -> None:
    leaf, spine = "{name: leaf%d}", "{name: spine1}"
    text = (
        PAIRED.partition("    design:")[0]
        + f"""\
    design: explicit
    hosts: [gpu]
    speed: 400G
    access: {{kind: bond, vlan: 110, mclag: {{domain: 7}}}}
    leaf: {{platform: arista-7060x6-64pe}}
    spine: {{platform: arista-7060x6-64pe}}
    leaves: [{leaf % 1}, {leaf % 2}]
    spines: [{spine}]
    links:
      - {{ends: ["gpu/0:inband0", "leaf1:Ethernet8"]}}
      - {{ends: ["gpu/0:inband1", "leaf2:Ethernet0"]}}
      - {{ends: ["gpu/1:inband0", "leaf1:Ethernet0"]}}
      - {{ends: ["gpu/1:inband1", "leaf2:Ethernet8"]}}
      - {{ends: ["gpu/2:inband0", "leaf2:Ethernet16"]}}
      - {{ends: ["gpu/2:inband1", "leaf1:Ethernet16"]}}
      - {{ends: ["leaf2:Ethernet64", "leaf1:Ethernet96"]}}
      - {{ends: ["leaf1:Ethernet128", "spine1:Ethernet0"]}}
      - {{ends: ["leaf2:Ethernet128", "spine1:Ethernet4"]}}
    addressing: {{loopbacks: 10.1.0.0/16, links: 10.192.0.0/11, hosts: 10.224.0.0/12}}
"""
    )
    first, second = switch(text, "leaf1"), switch(text, "leaf2")
    assert first["MCLAG_DOMAIN"]["7"]["peer_link"] == second["MCLAG_DOMAIN"]["7"]["peer_link"] == "PortChannel96"
    assert list(first["PORTCHANNEL_MEMBER"]) == [
        "PortChannel0|Ethernet0", "PortChannel8|Ethernet8", "PortChannel16|Ethernet16", "PortChannel96|Ethernet96"
    ]  # fmt: skip
    assert list(second["PORTCHANNEL_MEMBER"]) == [
        "PortChannel0|Ethernet8", "PortChannel8|Ethernet0", "PortChannel16|Ethernet16", "PortChannel96|Ethernet64"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("kind: bond", "kind: vlan", "FG680", "`mclag` is for bonds, and no hosts of plane in-band have one"),
        ("\n    leaves_per_unit: 2", "", "FG680", "the bond of gpu/0 ends at 1 leaf"),
        ("mclag: {}", "mclag: {}, dhcp: 10.9.0.5", "FG681", "SONiC has no DHCP relay for bonds at two leaves"),
        ("mclag: {}", "mclag: {}, fallback: true", "FG681", "without LACP a host uses one port"),
        ("hosts: 2, planned", "hosts: 64, planned", "FG680", "in-band/su0/leaf0 has fewer than 2 free ports of 400G"),
        ("mclag: {}", "mclag: {peer_links: 9}", "FG105", "9"),
        ("mclag: {}", "mclag: {domain: 0}", "FG105", "0"),
        ("mclag: {}", "mclag: 2", "FG104", "mclag"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, old: str, new: str, code: str, words: str) -> None:
    assert old in PAIRED
    found = findings(tmp_path, PAIRED.replace(old, new, 1))
    assert any(one == code and words in message for one, message in found), found


def test_hosts_without_a_bond_need_another_vlan(tmp_path: Path) -> None:
    text = PAIRED.replace("mclag: {}", "mclag: {}, groups: {svc: {kind: vlan, vlan: 110}}")
    text = text.replace("count: 3}}", "count: 3}, svc: {model: dgx-b200, count: 1}}").replace("[gpu]", "[gpu, svc]")
    text = text.replace("planned: 2", "planned: 3")
    assert any("VLAN 110 of hosts svc is also that of bonds" in message for _, message in findings(tmp_path, text))
    leaf = switch(text.replace("vlan: 110}}", "vlan: 7}}"), "in-band-su02-leaf-01")
    assert leaf["VLAN_MEMBER"] == {"Vlan7|Ethernet0": {"tagging_mode": "untagged"}} and "MCLAG_DOMAIN" not in leaf


def test_leaves_without_a_spine_have_no_session(tmp_path: Path) -> None:
    text = (
        PAIRED.partition("    design:")[0]
        + """\
    design: explicit
    hosts: [gpu]
    speed: 400G
    access: {kind: bond, mclag: {}}
    leaf: {platform: arista-7060x6-64pe}
    leaves: [{name: leaf1}, {name: leaf2}]
    links:
      - {ends: ["gpu/0:inband0", "leaf1:Ethernet0"]}
      - {ends: ["gpu/0:inband1", "leaf2:Ethernet0"]}
      - {ends: ["leaf1:Ethernet64", "leaf2:Ethernet64"]}
    addressing: {loopbacks: 10.1.0.0/16, links: 10.192.0.0/11, hosts: 10.224.0.0/12}
"""
    )
    found = findings(tmp_path, text.replace("count: 3", "count: 1"))
    assert ("FG680", "no links lead from in-band/leaf/leaf1 to in-band/leaf/leaf2, apart from the peer link") in found


def test_more_hosts_and_units_change_nothing_of_others(tmp_path: Path) -> None:
    def rows(text: str) -> object:
        leaf = switch(text)
        bonds = {key: row for key, row in leaf["VLAN_MEMBER"].items() if key != "Vlan110|PortChannel4"}
        return leaf["MCLAG_DOMAIN"], leaf["VLAN_INTERFACE"], bonds

    assert rows(PAIRED) == rows(PAIRED.replace("count: 3", "count: 1")) == rows(PAIRED.replace("count: 3", "count: 4"))


@pytest.mark.parametrize("release", [202411, 202505, 202511, 202605])
def test_check_passes(tmp_path: Path, cli: Cli, release: int) -> None:
    management = yaml.safe_dump({"management": {key: MANAGEMENT[key] for key in ("addresses", "gateway")}})
    text = (
        f"{PAIRED.replace('hosts: 2, planned: 2', 'hosts: 2, planned: 4')}{management}sonic: {{release: {release}}}\n"
    )
    (tmp_path / "fabric.yaml").write_text(text)
    assert not [one for one in make_plans(tmp_path / "fabric.yaml").findings if one.severity == "error"]
    found = cli("check", str(tmp_path), "--format", "json")
    kinds = {one["code"]: one["severity"] for one in json.loads(found.out)["findings"]}
    assert found.code == 0 and "error" not in kinds.values() and kinds["FG687"] == "note"


def test_tagged_vlans_cross_the_peer_link_too() -> None:
    text = PAIRED.replace("mclag: {}", "bond: bond0, tagged: [200], mclag: {}")
    first, second = switch(text), switch(text, SECOND)
    assert first["VLAN_MEMBER"] == second["VLAN_MEMBER"]
    assert {key: row["tagging_mode"] for key, row in first["VLAN_MEMBER"].items() if key.startswith("Vlan200")} == {
        f"Vlan200|PortChannel{port}": "tagged" for port in (0, 4, 496)
    }
    assert first["VLAN_INTERFACE"] == second["VLAN_INTERFACE"]


def test_a_routed_bond_ends_at_one_leaf(tmp_path: Path) -> None:
    found = findings(tmp_path, PAIRED.replace("mclag: {}", "mclag: {}, groups: {gpu: routed-bond}"))
    assert any(code == "FG680" and "`mclag` is for bonds" in message for code, message in found), found


def test_flows_to_each_port_of_a_bond_have_a_route(tmp_path: Path, cli: Cli) -> None:
    for path, content in files_of(PAIRED).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    command = ("simulate", "congestion", str(tmp_path), "--plane", "in-band", "--pattern", "all-to-all")
    report = json.loads(cli(*command, "--format", "json").out)
    ends = {(flow["src"], flow["dst"]) for flow in report["congestion"]["flows"]}
    assert ends and not [one for one in report["findings"] if one["code"] == "FG711"]
