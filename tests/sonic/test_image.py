"""What the SONiC image adds: announcements, allowas-in, and neighbors that never come up."""

from typing import Any

import pytest

from fabricgen.sonic.addresses import parse_address
from fabricgen.sonic.bgpcfgd import speaker
from fabricgen.sonic.frr_framework import framework_speaker
from fabricgen.sonic.image import allowas_in


def config(**localhost: str) -> dict[str, Any]:
    return {
        "DEVICE_METADATA": {"localhost": {"bgp_asn": "65100", "type": "LeafRouter", **localhost}},
        "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.0.0.1/32": {}, "Loopback0|fc00:0:0:1::1/128": {}},
        "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.1.0.0/31": {}, "Ethernet8": {}, "Ethernet8|10.2.0.0/31": {}},
        "BGP_NEIGHBOR": {"10.1.0.1": {"asn": "65000", "name": "s1", "local_addr": "10.1.0.0"}},
    }


def announced(tables: dict[str, Any]) -> list[str]:
    return sorted(entry.prefix for entry in speaker(tables).announcements)


def test_announced_prefixes() -> None:
    tables = config()
    tables["LOOPBACK_INTERFACE"] |= {"Loopback1": {}, "Loopback1|10.9.9.9/32": {}}
    tables["VLAN_INTERFACE"] = {
        "Vlan10": {}, "Vlan10|10.3.0.1/24": {}, "Vlan11": {"vnet_name": "Vnet1"}, "Vlan11|10.4.0.1/24": {},
    }  # fmt: skip
    tables["STATIC_ROUTE"] = {
        "default|10.2.0.0/24": {"blackhole": "true"}, "10.5.0.0/24": {"nexthop": "10.1.0.1"},
        "default|10.6.0.0/24": {"blackhole": "true", "advertise": "false"}, "Vrf1|10.7.0.0/24": {"blackhole": "true"},
    }  # fmt: skip
    assert announced(tables) == ["10.0.0.1/32", "10.2.0.0/24", "10.3.0.0/24", "10.5.0.0/24", "fc00:0:0:1::/64"]
    tables["DEVICE_METADATA"]["localhost"]["bgp_adv_lo_prefix_as_128"] = "true"
    assert "fc00:0:0:1::1/128" in announced(tables)


@pytest.mark.parametrize(
    ("kind", "bbr", "expected"),
    [("ToRRouter", "", 1), ("LeafRouter", "", 0), ("LeafRouter", "enabled", 1), ("SpineRouter", "enabled", 0)],
)
def test_allowas_in(kind: str, bbr: str, expected: int) -> None:
    assert allowas_in({**config(type=kind), "BGP_BBR": {"all": {"status": bbr}}}) == expected


def test_default_bgp_status_and_row() -> None:
    tables = config(default_bgp_status="down")
    assert speaker(tables).neighbors[0].obstacle == "the neighbor is shut down"
    tables["BGP_NEIGHBOR"]["10.1.0.1"]["admin_status"] = "up"
    assert speaker(tables).neighbors[0].obstacle == ""


def test_router_id_and_unnumbered() -> None:
    tables = config()
    del tables["LOOPBACK_INTERFACE"]["Loopback0|10.0.0.1/32"]
    assert "no router ID" in speaker(tables).neighbors[0].obstacle
    tables["DEVICE_METADATA"]["localhost"]["bgp_router_id"] = "1.1.1.1"
    assert speaker(tables).neighbors[0].obstacle == ""
    tables["BGP_NEIGHBOR"] = {"Ethernet0": {"asn": "65000"}, "Vrf1|10.1.0.1": {"asn": "65000"}}
    [neighbor] = speaker(tables).neighbors
    assert "unnumbered" in neighbor.obstacle


@pytest.mark.parametrize("wrong", [None, [], "text", {"localhost": []}, {"localhost": {"bgp_asn": ["1"]}}])
def test_wrong_shapes_are_no_crash(wrong: object) -> None:
    tables = dict.fromkeys((*config(), "STATIC_ROUTE", "BGP_BBR", "VLAN_INTERFACE", "BGP_DEVICE_GLOBAL"), wrong)
    assert speaker(tables).asn is None  # type: ignore[arg-type]
    assert framework_speaker(tables).neighbors == ()  # type: ignore[arg-type]


def framework() -> dict[str, Any]:
    return {
        "BGP_GLOBALS": {"default": {"local_asn": "65100", "router_id": "1.1.1.1", "load_balance_mp_relax": "true"}},
        "BGP_GLOBALS_AF": {"default|ipv4_unicast": {"max_ebgp_paths": "64"}},
        "BGP_GLOBALS_AF_NETWORK": {"default|ipv4_unicast|10.3.0.0/24": {}},
        "ROUTE_REDISTRIBUTE": {"default|connected|bgp|ipv4": {}},
        "INTERFACE": {
            "Ethernet0": {"ipv6_use_link_local_only": "enable"},
            "Ethernet8": {},
            "Ethernet8|10.2.0.0/31": {},
        },
        "BGP_PEER_GROUP": {"default|FABRIC": {"peer_type": "external"}},
        "BGP_PEER_GROUP_AF": {"default|FABRIC|ipv4_unicast": {"admin_status": "true", "route_map_in": ["ALL"]}},
        "BGP_NEIGHBOR": {"default|Ethernet0": {"peer_group_name": "FABRIC"}, "10.1.0.1": {"asn": "1"}},
        "BGP_NEIGHBOR_AF": {"default|Ethernet0|ipv4_unicast": {"route_map_out": ["ALL"], "allow_as_in": "true"}},
    }


def test_framework_mode_implies_nothing() -> None:
    one = framework_speaker(framework())
    assert (one.asn, one.multipath_relax, one.maximum_paths) == (65100, True, 64)
    assert sorted(entry.prefix for entry in one.announcements) == ["10.2.0.0/31", "10.3.0.0/24"]
    [neighbor] = one.neighbors
    assert (neighbor.interface, neighbor.asn, neighbor.terms.allowas_in, neighbor.obstacle) == (
        "Ethernet0",
        None,
        3,
        "",
    )
    assert neighbor.terms.accepts == neighbor.terms.sends == {4}


def test_framework_mode_needs_a_policy_each_way() -> None:
    tables = framework()
    del tables["BGP_NEIGHBOR_AF"]
    [neighbor] = framework_speaker(tables).neighbors
    assert (neighbor.terms.accepts, neighbor.terms.sends) == ({4}, frozenset())


def test_addresses() -> None:
    link = parse_address("10.0.0.1/31")
    assert link is not None
    assert (str(link), str(link.network), link.ip) == ("10.0.0.1/31", "10.0.0.0/31", "10.0.0.1")
    assert str(parse_address("FC00::0:1")) == "fc00::1/128"
    for text in ("10.0.0.1/33", "10.0.0/8", "10.0.0.1/", "Ethernet0", "fe80::1%eth0", "010.0.0.1/x", ""):
        assert parse_address(text) is None
