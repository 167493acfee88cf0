"""Routes in the files, in addition to the wiring: policies, destinations and the rows they come from."""

from pathlib import Path

import numpy as np
import pytest

from fabricgen.routing import bits
from fabricgen.routing.fabric import RoutedFabric
from tests.bgp_fabric import ConfigDbs, Fabric, add_discards, add_ways_out
from tests.routing.networks import link_between
from tests.routing.test_sessions import opened, two_spines


def star(**fields: object) -> ConfigDbs:
    prefixes = {"10.1.0.0/24": "l1", "10.254.0.1/32": "l1", "10.2.0.0/24": "l2"}
    return Fabric({"l1": 1, "l2": 2, "s1": 9}, [("l1", "s1"), ("l2", "s1")], prefixes, **fields).configs()  # type: ignore[arg-type]


def destinations(fabric: RoutedFabric) -> dict[str, tuple[tuple[int, ...], int, bool]]:
    return {prefix: (one.origins, one.family, one.loopback) for one in fabric.destinations for prefix in one.prefixes}


def test_policy_by_switch_and_link(tmp_path: Path) -> None:
    kinds = {"l1": "ToRRouter", "l2": "LeafRouter", "s1": "SpineRouter"}
    fabric = opened(star(kinds=kinds, isolated=("s1",)), tmp_path)
    policy, network = fabric.policy, fabric.network
    assert policy.asn.tolist() == [1, 2, 9]
    assert policy.isolated.tolist() == [False, False, True]
    assert policy.multipath_relax.all()
    assert (policy.maximum_paths == 514).all()
    assert (policy.hears == 1).all(), "IPv4 over IPv4 sessions"
    lenient = {switch: int(policy.allowas_in[link_between(network, switch, 2)]) for switch in (0, 1)}
    assert lenient == {0: 1, 1: 0}, "bgpcfgd lets a ToRRouter accept its own ASN once"


def test_a_switch_without_bgp_gets_an_asn_that_no_other_has(tmp_path: Path) -> None:
    configs = star()
    for name in ("l1", "l2"):
        configs[name]["DEVICE_METADATA"]["localhost"]["bgp_asn"] = "none"
    fabric = opened(configs, tmp_path)
    assert fabric.policy.asn.tolist() == [-1, -2, 9]
    assert fabric.sessions == ()
    assert destinations(fabric) == {}


def test_prefixes_of_equal_origins_are_one_destination(tmp_path: Path) -> None:
    configs = star()
    for name in ("l1", "l2"):
        configs[name]["VLAN_INTERFACE"] |= {"Vlan99": {}, "Vlan99|10.99.0.0/24": {}, "Vlan99|fd99::/64": {}}
    fabric = opened(configs, tmp_path)
    assert destinations(fabric) == {
        "10.1.0.0/24": ((0,), 4, False),
        "10.254.0.1/32": ((0,), 4, False),
        "10.2.0.0/24": ((1,), 4, False),
        "10.99.0.0/24": ((0, 1), 4, False),
        "fd99::/64": ((0, 1), 6, False),
    }
    assert len(fabric.destinations) == 4, "the prefix and the loopback of l1 are one class"
    assert fabric.announced["l1", "10.254.0.1/32"] == ("LOOPBACK_INTERFACE", "Loopback0|10.254.0.1/32")
    assert fabric.announced["l2", "10.99.0.0/24"][0] == "VLAN_INTERFACE"


def test_loopbacks_of_an_isolated_switch_are_apart(tmp_path: Path) -> None:
    fabric = opened(star(isolated=("l1",)), tmp_path)
    found = destinations(fabric)
    assert found["10.254.0.1/32"] == ((0,), 4, True)
    assert found["10.1.0.0/24"] == ((0,), 4, False)
    assert fabric.next_hops()["l2"] == {"10.254.0.1/32": ["s1"]}


def test_default_routes_from_outside_begin_at_the_border(tmp_path: Path) -> None:
    configs = star()
    add_ways_out(configs, ["l2"])
    fabric = opened(configs, tmp_path)
    assert destinations(fabric)["0.0.0.0/0"][0] == (1,)
    assert fabric.next_hops()["l1"]["0.0.0.0/0"] == ["s1"]
    assert "192.0.2.1" in {key for (_, prefix), (_, key) in fabric.announced.items() if prefix == "0.0.0.0/0"}
    assert all(one.key != "192.0.2.1" for one in fabric.spoken.absent)


def test_discards_by_switch(tmp_path: Path) -> None:
    configs = star()
    add_discards({"l2": configs["l2"]}, "10.0.0.0/8")
    fabric = opened(configs, tmp_path)
    assert [[str(one) for one in switch] for switch in fabric.discards] == [[], ["10.0.0.0/8"], []]


def test_rows_and_ports_of_links(tmp_path: Path) -> None:
    """A link from u to v belongs to the interface of u, and to the row by which u hears v."""
    fabric = opened(star(), tmp_path)
    network = fabric.network
    found = {
        (fabric.names[network.source[link]], fabric.names[network.target[link]]): (fabric.port(link), fabric.row(link))
        for link in range(network.links)
    }
    assert found == {
        ("l1", "s1"): ("Ethernet0", "172.16.0.1"),
        ("s1", "l1"): ("Ethernet0", "172.16.0.0"),
        ("l2", "s1"): ("Ethernet0", "172.16.0.3"),
        ("s1", "l2"): ("Ethernet4", "172.16.0.2"),
    }


@pytest.mark.parametrize(("sends", "accepts", "heard"), [(True, True, 1), (True, False, 0), (False, True, 0)])
def test_a_family_passes_if_one_end_sends_and_the_other_accepts(
    sends: bool, accepts: bool, heard: int, tmp_path: Path
) -> None:
    configs = two_spines((65000, 65000))
    for name, key, field, kept in (
        ("s1", "Ethernet8", "route_map_out", sends),
        ("l1", "Ethernet8", "route_map_in", accepts),
    ):
        if not kept:
            configs[name]["BGP_NEIGHBOR_AF"][f"default|{key}|ipv4_unicast"].pop(field)
    fabric = opened(configs, tmp_path)
    link = link_between(fabric.network, fabric.names.index("l1"), fabric.names.index("s1"))
    assert fabric.policy.hears[link] == heard
    assert fabric.policy.hears[fabric.network.reverse[link]] == 1


def test_sessions_of_both_families_share_a_link(tmp_path: Path) -> None:
    """What either session allows holds for the link: its families together, the larger allowas-in."""
    configs = Fabric({"l1": 1, "s1": 2}, [("l1", "s1")], {"10.1.0.0/24": "l1"}).configs()
    configs["l1"]["INTERFACE"]["Ethernet0|fd00::0/127"] = {}
    configs["s1"]["INTERFACE"]["Ethernet0|fd00::1/127"] = {}
    configs["l1"]["BGP_NEIGHBOR"]["fd00::1"] = {"asn": "2", "local_addr": "fd00::"}
    configs["s1"]["BGP_NEIGHBOR"]["fd00::"] = {"asn": "1", "local_addr": "fd00::1"}
    fabric = opened(configs, tmp_path)
    assert (len(fabric.spoken.sessions), len(fabric.sessions), fabric.network.links) == (2, 1, 2)
    assert fabric.policy.hears.tolist() == [3, 3]
    assert [fabric.port(link) for link in range(2)] == ["Ethernet0", "Ethernet0"]


def test_reached_and_plain(tmp_path: Path) -> None:
    fabric = opened(star(), tmp_path)
    routes = fabric.routes()
    assert [bits.columns_of(row) for row in routes.reached] == [[0, 1], [0, 1], [0, 1]]
    assert routes.plain
    assert not np.any(routes.ambiguous)


def test_each_family_needs_both_ends(tmp_path: Path) -> None:
    """l1 accepts IPv6 that s1 does not send, and sends IPv6 that s1 does not accept."""
    configs = two_spines((65000, 65000))
    both = {"admin_status": "true", "route_map_in": ["ALL"], "route_map_out": ["ALL"]}
    configs["l1"]["BGP_NEIGHBOR_AF"]["default|Ethernet8|ipv6_unicast"] = dict(both)
    fabric = opened(configs, tmp_path)
    link = link_between(fabric.network, fabric.names.index("l1"), fabric.names.index("s1"))
    back = fabric.network.reverse[link]
    assert fabric.policy.hears[[link, back]].tolist() == [1, 1]
    configs["s1"]["BGP_NEIGHBOR_AF"]["default|Ethernet8|ipv6_unicast"] = {**both, "route_map_in": []}
    fabric = opened(configs, tmp_path)
    assert fabric.policy.hears[[link, back]].tolist() == [3, 1]
