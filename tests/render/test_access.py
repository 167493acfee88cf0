"""`access` of a plane: VLANs and bonds in the files of switches and hosts, and what cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.render.plans import make_plans
from tests.conftest import Cli
from tests.inventories import MANAGEMENT, Tree
from tests.render.hosts.rendered import files_of
from tests.rules.access import BONDED, LEAF0, SPEAKING

OUT_OF_BAND = """\
  out-of-band:
    design: fat-tree
    hosts: [gpu]
    scalable_unit: {hosts: 4}
    leaf: {platform: nvidia-sn2201}
    spine: {platform: nvidia-sn4600c}
    speed: 1G
    uplink_speed: 100G
    access: vlan
    addressing: {loopbacks: 10.11.0.0/24, links: [10.12.0.0/20, "fd12::/64"], hosts: [10.13.0.0/20, "fd13::/64"]}
"""


def switch(text: str, name: str = LEAF0) -> Tree:
    tree: Tree = json.loads(files_of(text)[f"sonic/{name}/config_db.json"])
    return tree


def findings(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    (tmp_path / "fabric.yaml").write_text(text)
    found = make_plans(tmp_path / "fabric.yaml").findings
    return [(one.code, one.message) for one in found if one.severity != "note"]


def test_a_bond_is_a_port_channel_in_the_vlan_of_its_leaf() -> None:
    leaf = switch(BONDED)
    assert leaf["VLAN"] == {"Vlan110": {"dhcp_servers": ["10.90.0.5"], "mtu": "9100", "vlanid": "110"}}
    assert leaf["VLAN_INTERFACE"] == {"Vlan110": {}, "Vlan110|10.224.0.1/29": {}}
    assert leaf["VLAN_MEMBER"] == {"Vlan110|PortChannel0": {"tagging_mode": "untagged"}}
    assert leaf["PORTCHANNEL"]["PortChannel0"] == {
        "admin_status": "up", "fallback": "true", "lacp_key": "auto", "min_links": "1", "mtu": "9100"
    }  # fmt: skip
    assert list(leaf["PORTCHANNEL_MEMBER"]) == ["PortChannel0|Ethernet0", "PortChannel0|Ethernet4"]
    assert not {"Ethernet0", "Ethernet4"} & set(leaf["INTERFACE"])
    assert "default|10.224.0.0/29" not in leaf["STATIC_ROUTE"], "BGP announces the subnet of the VLAN"
    assert "PORTCHANNEL" not in switch(BONDED, "in-band-spine-00")


def test_hosts_have_the_bond_with_the_address_of_their_ports() -> None:
    network = yaml.safe_load(files_of(BONDED)["hosts/gpu/netplan/gpu-000.yaml"])["network"]
    bond = network["bonds"]["bond-in-band"]
    assert bond["interfaces"] == ["inband0", "inband1"] and bond["parameters"]["mode"] == "802.3ad"
    assert bond["addresses"] == ["10.224.0.2/29"]
    assert {"to": "10.224.0.0/29", "scope": "link", "table": 110} in bond["routes"]
    assert all("addresses" not in one for one in network["ethernets"].values())
    assert b"conf/bond-in-band/arp_ignore" in files_of(BONDED)["hosts/gpu/sysctl.conf"]
    host = json.loads(files_of(BONDED)["fabric.json"])["hosts"][0]
    assert host["bonds"] == [{"name": "bond-in-band", "nics": ["inband0", "inband1"]}]
    assert [nic["addresses"] for nic in host["nics"]] == [["10.224.0.2/29"], []]


def test_ports_without_a_bond_and_both_families_share_the_vlan() -> None:
    leaf = switch(BONDED + OUT_OF_BAND, "out-of-band-su00-leaf-00")
    assert leaf["VLAN_MEMBER"] == {f"Vlan100|Ethernet{port}": {"tagging_mode": "untagged"} for port in (0, 1)}
    assert list(leaf["VLAN_INTERFACE"]) == ["Vlan100", "Vlan100|10.13.0.1/29", "Vlan100|fd13::1/125"]
    assert leaf["VLAN"] == {"Vlan100": {"mtu": "9100", "vlanid": "100"}}


def test_a_group_is_connected_otherwise(tmp_path: Path) -> None:
    text = BONDED.replace(
        "{kind: bond, vlan: 110, dhcp: 10.90.0.5}", "{kind: bond, groups: {svc: {kind: vlan, vlan: 7}}}"
    )
    text = text.replace("count: 2}}", "count: 2}, svc: {model: dgx-b200, count: 1}}").replace("[gpu]", "[gpu, svc]")
    text = text.replace("planned: 2", "planned: 3")
    leaf = switch(text, "in-band-su02-leaf-00")
    assert leaf["VLAN_MEMBER"] == {f"Vlan7|{port}": {"tagging_mode": "untagged"} for port in ("Ethernet0", "Ethernet4")}
    assert list(switch(text)["VLAN"]) == ["Vlan100"]


TRUNK = BONDED.replace("vlan: 110, dhcp: 10.90.0.5", "bond: bond0, vlan: 110, tagged: [120, 130]")


def test_a_trunk_has_one_native_vlan_and_tagged_ones() -> None:
    leaf = switch(TRUNK)
    modes = {"Vlan110": "untagged", "Vlan120": "tagged", "Vlan130": "tagged"}
    assert leaf["VLAN_MEMBER"] == {f"{vlan}|PortChannel0": {"tagging_mode": mode} for vlan, mode in modes.items()}
    assert [key for key in leaf["VLAN_INTERFACE"] if "|" in key] == [
        "Vlan110|10.224.0.1/29", "Vlan120|10.224.0.9/29", "Vlan130|10.224.0.17/29"
    ]  # fmt: skip
    network = yaml.safe_load(files_of(TRUNK)["hosts/gpu/netplan/gpu-000.yaml"])["network"]
    vlan = network["vlans"]["bond0.120"]
    assert (vlan["id"], vlan["link"], vlan["mtu"], vlan["addresses"]) == (120, "bond0", 9100, ["10.224.0.10/29"])
    assert vlan["routing-policy"] == [{"from": "10.224.0.10/32", "table": 110120, "priority": 3000}]
    assert b"conf/bond0.130/arp_ignore" in files_of(TRUNK)["hosts/gpu/sysctl.conf"]
    host = json.loads(files_of(TRUNK)["fabric.json"])["hosts"][0]
    assert host["vlans"][0] == {"name": "bond0.120", "link": "bond0", "number": 120, "addresses": ["10.224.0.10/29"]}


def test_each_port_of_a_trunk_without_a_bond_has_its_interfaces() -> None:
    text = TRUNK.replace("kind: bond, bond: bond0", "kind: vlan")
    network = yaml.safe_load(files_of(text)["hosts/gpu/netplan/gpu-000.yaml"])["network"]
    assert list(network["vlans"]) == ["inband0.120", "inband0.130", "inband1.120", "inband1.130"]
    tables = [one["routing-policy"][0]["table"] for one in network["vlans"].values()]
    assert len(set(tables)) == 4
    members = [key for key, row in switch(text)["VLAN_MEMBER"].items() if row["tagging_mode"] == "tagged"]
    assert members == [f"Vlan{vlan}|Ethernet{port}" for vlan in (120, 130) for port in (0, 4)]


def test_a_vlan_is_native_for_one_group_and_tagged_for_another() -> None:
    text = BONDED.replace(
        "{kind: bond, vlan: 110, dhcp: 10.90.0.5}",
        "{kind: vlan, vlan: 110, dhcp: 10.90.0.5, groups: {svc: {kind: vlan, vlan: 7, tagged: [110]}}}",
    )
    text = text.replace("count: 2}}", "count: 2}, svc: {model: dgx-b200, count: 1}}").replace("[gpu]", "[gpu, svc]")
    leaf = switch(text.replace("planned: 2", "planned: 3"), "in-band-su02-leaf-00")
    assert leaf["VLAN"]["Vlan110"]["dhcp_servers"] == ["10.90.0.5"] and "dhcp_servers" not in leaf["VLAN"]["Vlan7"]
    modes = {key: row["tagging_mode"] for key, row in leaf["VLAN_MEMBER"].items()}
    ports = "Ethernet0", "Ethernet4"
    assert modes == {f"Vlan7|{port}": "untagged" for port in ports} | {f"Vlan110|{port}": "tagged" for port in ports}


ROUTED_BOND = BONDED.replace("kind: bond, vlan: 110, dhcp: 10.90.0.5", "kind: routed-bond, bond: bond0")


def test_a_routed_bond_has_a_subnet_with_its_port_channel() -> None:
    leaf = switch(ROUTED_BOND)
    assert leaf["PORTCHANNEL_INTERFACE"] == {"PortChannel0": {}, "PortChannel0|10.224.0.0/31": {}}
    assert list(leaf["PORTCHANNEL_MEMBER"]) == ["PortChannel0|Ethernet0", "PortChannel0|Ethernet4"]
    assert not {"VLAN", "VLAN_MEMBER", "VLAN_INTERFACE"} & set(leaf)
    assert "default|10.224.0.0/30" in leaf["STATIC_ROUTE"], "BGP announces the host prefix of the leaf"
    network = yaml.safe_load(files_of(ROUTED_BOND)["hosts/gpu/netplan/gpu-000.yaml"])["network"]
    assert network["bonds"]["bond0"]["addresses"] == ["10.224.0.1/31"]
    assert all("addresses" not in one for one in network["ethernets"].values())


def test_more_hosts_change_no_address_of_others(tmp_path: Path) -> None:
    def addresses(text: str) -> dict[str, Any]:
        hosts = json.loads(files_of(text)["fabric.json"])["hosts"]
        return {host["name"]: host["nics"][0]["addresses"] for host in hosts}

    one_leaf = BONDED.replace("{hosts: 1, planned: 2}", "{hosts: 8}").replace(", count: 2}\n    speed", "}\n    speed")
    few, more = addresses(one_leaf), addresses(one_leaf.replace("count: 2}", "count: 7}"))
    assert few == {name: more[name] for name in few} and len(more) == 7


def test_unnumbered_bgp_lists_the_prefix_of_the_vlan() -> None:
    text = BONDED.replace(", dhcp: 10.90.0.5", "").replace(
        "    speed: 400G\n", "    speed: 400G\n    bgp: unnumbered\n"
    )
    text = text.replace("links: 10.192.0.0/11, ", "")
    assert "default|ipv4_unicast|10.224.0.0/29" in switch(text)["BGP_GLOBALS_AF_NETWORK"]


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("kind: bond", "kind: routed", "FG105", "a routed port has no DHCP relay"),
        ("10.90.0.5", "dhcp.example", "FG105", "'dhcp.example' is not an IPv4 address"),
        ("dhcp: 10.90.0.5", "groups: {gpux: vlan}", "FG107", "no hosts of group 'gpux'"),
        ("dhcp: 10.90.0.5", "bond: bond-of-the-in-band", "FG105", "bond-of-the-in-band"),
        ("dhcp: 10.90.0.5", "vlan: 4095", "FG102", "vlan"),
        (", count: 2}\n    speed", "}\n    leaves_per_unit: 2\n    speed", "FG155", "a bond of hosts gpu needs one"),
        ("    speed: 400G", "    bgp: unnumbered\n    speed: 400G", "FG156", "the uplinks have none"),
        ("dhcp: 10.90.0.5", "dhcp: 10.90.0.5, groups: {gpu: {kind: vlan, vlan: 110}}", "FG156", "other DHCP servers"),
        ("dhcp: 10.90.0.5", "tagged: [110]", "FG690", "VLAN 110 is the native VLAN of these ports"),
        ("dhcp: 10.90.0.5", "tagged: [120]", "FG690", "'bond-in-band.120' is longer than the 15 characters"),
        ("vlan: 110, dhcp: 10.90.0.5", "tagged: [1]", "FG105", "1 is less than 2"),
        ("bond, vlan: 110, dhcp: 10.90.0.5", "routed-bond, tagged: [120]", "FG105", "`tagged` is for ports in a VLAN"),
        ("kind: bond", "kind: routed-bond", "FG105", "a routed port has no DHCP relay"),
        ("    speed: 400G", "    isolation: acl\n    speed: 400G", "FG153", "tenants of hosts in a VLAN"),
        ("  in-band:\n", "  in-band-of-hall-3:\n    purpose: in-band\n", "FG154", "longer than the 15 characters"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, old: str, new: str, code: str, words: str) -> None:
    assert old in BONDED
    found = findings(tmp_path, BONDED.replace(old, new, 1))
    assert any(one == code and words in message for one, message in found), found


def test_an_infiniband_plane_has_no_access(tmp_path: Path) -> None:
    switches = "arista-7060x6-64pe", "nvidia-qm9700"
    text = BONDED.replace(*switches).replace("    speed: 400G", "    technology: infiniband\n    speed: 400G")
    assert ("FG105", "an InfiniBand plane has no `access`") in findings(tmp_path, text)


def test_nics_on_rails_have_no_bond(tmp_path: Path) -> None:
    text = BONDED.replace("  in-band:\n    design: fat-tree", "  compute:\n    design: rail-optimized")
    text = text.replace(", count: 2}\n    speed", "}\n    speed")
    assert ("FG154", "hosts gpu have NICs on rails of plane compute, which collectives use one by one") in findings(
        tmp_path, text
    )


def test_a_bond_of_one_port_is_a_warning(tmp_path: Path) -> None:
    (code, message), *_ = findings(
        tmp_path, BONDED + OUT_OF_BAND.replace("access: vlan", "access: {kind: bond, bond: oob}")
    )
    assert code == "FG155" and "a bond of one port adds nothing" in message


def test_check_passes(tmp_path: Path, cli: Cli) -> None:
    text = BONDED.replace("{hosts: 1, planned: 2}", "{hosts: 1}") + OUT_OF_BAND
    management = yaml.safe_dump({"management": {key: MANAGEMENT[key] for key in ("addresses", "gateway")}})
    (tmp_path / "fabric.yaml").write_text(text + management)
    assert cli("render", str(tmp_path), "--output", str(tmp_path / "out")).code == 0
    found = cli("check", str(tmp_path), "--format", "json")
    report = json.loads(found.out)
    assert found.code == 0 and not [one for one in report["findings"] if one["severity"] == "error"]


@pytest.mark.parametrize(
    ("bgp", "code", "words"),
    [
        ("{asn: 64600, prefixes: 10.100.0.0/16}", "FG692", "`prefixes` of hosts cannot be enforced"),
        ("{asn: 64600, prefixes: 10.100.0.0/16, filtered: false, max_prefixes: 9}", "FG692", "no limit of prefixes"),
        ("{asn: 4200000001, prefixes: 10.100.0.0/16, filtered: false}", "FG693", "in the range 4200000000-4294967294"),
        ("{asn: 64600, prefixes: 0.0.0.0/0, filtered: false}", "FG693", "must not announce a default route"),
        (
            "{asn: 64600, prefixes: 10.225.0.0/16, filtered: false}",
            "FG693",
            "overlaps 10.224.0.0/12, the pool of hosts",
        ),
        ("{asn: 64600, prefixes: 10.100.0.1/16, filtered: false}", "FG105", "is not a prefix"),
    ],
)
def test_what_hosts_must_not_announce_is_refused(tmp_path: Path, bgp: str, code: str, words: str) -> None:
    found = findings(tmp_path, BONDED.replace("dhcp: 10.90.0.5", f"bgp: {bgp}"))
    assert any(one == code and words in message for one, message in found), found


def test_the_example_of_an_asn_is_outside_of_the_switches(tmp_path: Path) -> None:
    """It was 64600 in any case, also where switches have 64512 to 65534."""
    text = BONDED.replace("dhcp: 10.90.0.5", "bgp: {asn: 64601, prefixes: 10.100.0.0/16, filtered: false}")
    for asns, free in (("{first: 64512, last: 65534}", "4200000000"), ("{first: 64601, last: 64700}", "64600")):
        (tmp_path / "fabric.yaml").write_text(text.replace("addressing: {", f"addressing: {{asn: {asns}, "))
        [hint] = [one.hint for one in make_plans(tmp_path / "fabric.yaml").findings if one.code == "FG693"]
        assert hint == f"use an ASN outside, for example {free}, or set `last` of `addressing.asn`"


def test_groups_of_one_vlan_have_one_peer_group(tmp_path: Path) -> None:
    bgp = "bgp: {asn: 64600, prefixes: 10.100.0.0/16, filtered: false}"
    other = f"groups: {{svc: {{kind: vlan, vlan: 110, {bgp.replace('64600', '64601')}}}}}"
    text = BONDED.replace("dhcp: 10.90.0.5", f"{bgp}, {other}").replace("[gpu]", "[gpu, svc]")
    text = text.replace("count: 2}}", "count: 2}, svc: {model: dgx-b200, count: 1}}").replace(
        "planned: 2", "planned: 3"
    )
    assert any(code == "FG693" and "with other BGP settings" in message for code, message in findings(tmp_path, text))


def test_leaves_accept_parts_of_the_prefixes_of_hosts() -> None:
    leaf = switch(SPEAKING)
    assert leaf["BGP_GLOBALS_LISTEN_PREFIX"] == {"default|10.224.0.0/29": {"peer_group": "HOSTS-Vlan110"}}
    assert leaf["BGP_PEER_GROUP"]["default|HOSTS-Vlan110"] == {"asn": "64600"}
    family = leaf["BGP_PEER_GROUP_AF"]["default|HOSTS-Vlan110|ipv4_unicast"]
    assert (family["route_map_in"], family["route_map_out"]) == (["HOSTS-Vlan110-in-ipv4"], ["NO-ROUTES"])
    assert list(leaf["PREFIX"]) == ["HOSTS-Vlan110-in-ipv4|10.100.0.0/16|17..32"]
    bond = yaml.safe_load(files_of(SPEAKING)["hosts/gpu/netplan/gpu-000.yaml"])["network"]["bonds"]["bond-in-band"]
    assert {"to": "10.100.0.0/16", "via": "10.224.0.1", "table": 110} in bond["routes"]
    assert "BGP_GLOBALS_LISTEN_PREFIX" not in switch(SPEAKING, "in-band-spine-00")


def test_with_bgpcfgd_the_range_is_that_of_the_hosts() -> None:
    text = BONDED.replace("dhcp: 10.90.0.5", "bgp: {asn: 64600, prefixes: 10.100.0.0/16, filtered: false}")
    assert switch(text)["BGP_PEER_RANGE"] == {
        "HOSTS-Vlan110": {
            "ip_range": ["10.224.0.0/29"], "name": "HOSTS-Vlan110", "peer_asn": "64600", "src_address": "10.1.0.3"
        }
    }  # fmt: skip


def test_many_hosts_raise_the_limit_of_sessions() -> None:
    text = (
        SPEAKING.replace("Ethernet384", "Ethernet256")
        .replace("{hosts: 1, planned: 2}", "{hosts: 30}")
        .replace(", count: 2}\n    bgp", "}\n    bgp")
    )
    assert "max_dynamic_neighbors" not in switch(text)["BGP_GLOBALS"]["default"]
    both = text.replace("hosts: 10.224.0.0/12", 'hosts: [10.224.0.0/12, "fd00::/48"]').replace(
        "kind: bond", "kind: vlan"
    )
    assert switch(both)["BGP_GLOBALS"]["default"]["max_dynamic_neighbors"] == "128"
