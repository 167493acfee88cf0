"""Sessions in the framework's mode, over IPv6, over parallel and mis-plugged cables."""

from pathlib import Path
from typing import Any

from fabricgen.routing.fabric import RoutedFabric, read_fabric
from tests.bgp_fabric import ConfigDbs, Fabric, open_configs


def opened(configs: ConfigDbs, folder: Path) -> RoutedFabric:
    bundle = open_configs(configs, folder)
    return read_fabric(bundle, list(bundle.devices))


def unnumbered(name: str, asn: int, ports: dict[str, tuple[str, str]], prefix: str) -> dict[str, Any]:
    policy = {"admin_status": "true", "route_map_in": ["ALL"], "route_map_out": ["ALL"]}
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": name, "frr_mgmt_framework_config": "true"}},
        "DEVICE_NEIGHBOR": {port: {"name": far, "port": other} for port, (far, other) in ports.items()},
        "INTERFACE": {port: {"ipv6_use_link_local_only": "enable"} for port in ports},
        "BGP_GLOBALS": {"default": {"local_asn": str(asn), "router_id": f"1.1.1.{asn % 256}"}},
        "BGP_GLOBALS_AF_NETWORK": {f"default|ipv4_unicast|{prefix}": {}},
        "BGP_NEIGHBOR": {f"default|{port}": {"peer_type": "external"} for port in ports},
        "BGP_NEIGHBOR_AF": {f"default|{port}|ipv4_unicast": policy for port in ports},
        "ROUTE_MAP": {"ALL|10": {"route_operation": "permit"}},
    }


def two_spines(spine_asns: tuple[int, int]) -> ConfigDbs:
    ports = {"l1": {}, "l2": {}, "s1": {}, "s2": {}}
    for leaf in (1, 2):
        for spine in (1, 2):
            up, down = f"Ethernet{8 * spine}", f"Ethernet{8 * leaf}"
            ports[f"l{leaf}"][up] = (f"s{spine}", down)
            ports[f"s{spine}"][down] = (f"l{leaf}", up)
    asn = {"l1": 65101, "l2": 65102, "s1": spine_asns[0], "s2": spine_asns[1]}
    return {name: unnumbered(name, asn[name], ports[name], f"10.0.{i}.0/24") for i, name in enumerate(ports)}


def test_unnumbered_framework_fabric(tmp_path: Path) -> None:
    fabric = opened(two_spines((65000, 65000)), tmp_path)
    assert fabric.spoken.absent == ()
    assert fabric.next_hops()["l1"]["10.0.1.0/24"] == ["s1", "s2"]
    assert fabric.routes().ambiguous_sets == 0


def test_without_relax_distinct_spine_asns_leave_one_next_hop_open(tmp_path: Path) -> None:
    """FRR then uses only paths of the best one's neighbor AS: which one that is depends on history."""
    routes = opened(two_spines((65000, 65001)), tmp_path).routes()
    assert routes.ambiguous_sets > 0


def test_without_policies_nothing_is_learned(tmp_path: Path) -> None:
    configs = two_spines((65000, 65000))
    for key in configs["l1"]["BGP_NEIGHBOR_AF"]:
        configs["l1"]["BGP_NEIGHBOR_AF"][key] = {"admin_status": "true", "route_map_out": ["ALL"]}
    found = opened(configs, tmp_path).next_hops()
    assert found["l1"] == {}
    assert found["l2"]["10.0.0.0/24"] == ["s1", "s2"]


def test_ipv6_sessions_carry_ipv6_prefixes_only(tmp_path: Path) -> None:
    configs = Fabric({"l1": 1, "s1": 2, "l2": 3}, [("l1", "s1"), ("l2", "s1")], {"10.1.0.0/24": "l1"}).configs()
    configs["l1"]["VLAN_INTERFACE"]["Vlan10|fd00:1::1/64"] = {}
    for number, leaf in enumerate(("l1", "l2")):
        port, near, far = f"Ethernet{4 * number}", f"fd00:ff::{number}:0", f"fd00:ff::{number}:1"
        configs[leaf]["INTERFACE"][f"Ethernet0|{near}/127"] = {}
        configs["s1"]["INTERFACE"][f"{port}|{far}/127"] = {}
        configs[leaf]["BGP_NEIGHBOR"][far] = {"asn": "2", "local_addr": near}
        configs["s1"]["BGP_NEIGHBOR"][near] = {"asn": configs[leaf]["DEVICE_METADATA"]["localhost"]["bgp_asn"]}
    assert opened(configs, tmp_path).next_hops()["l2"] == {"10.1.0.0/24": ["s1"], "fd00:1::/64": ["s1"]}
    for name in configs:
        configs[name]["BGP_NEIGHBOR"] = {key: row for key, row in configs[name]["BGP_NEIGHBOR"].items() if ":" in key}
    assert opened(configs, tmp_path).next_hops()["l2"] == {"fd00:1::/64": ["s1"]}


def test_parallel_cables_are_links_of_their_own(tmp_path: Path) -> None:
    fabric = opened(Fabric({"l1": 1, "s1": 2}, [("l1", "s1")] * 3, {"10.1.0.0/24": "l1"}).configs(), tmp_path)
    assert fabric.network.links == 6
    assert sorted(fabric.port(link) for link in range(3)) == ["Ethernet0", "Ethernet4", "Ethernet8"]


def test_cables_that_cross_take_sessions_down(tmp_path: Path) -> None:
    """l1's two uplinks swapped at the far end: addresses agree, wires do not."""
    configs = Fabric({"l1": 1, "s1": 2}, [("l1", "s1")] * 2, {"10.1.0.0/24": "l1"}).configs()
    for config in configs.values():
        config["DEVICE_NEIGHBOR"]["Ethernet0"]["port"] = "Ethernet4"
        config["DEVICE_NEIGHBOR"]["Ethernet4"]["port"] = "Ethernet0"
    fabric = opened(configs, tmp_path)
    assert fabric.sessions == ()
    assert all("is cabled to" in absent.reason for absent in fabric.spoken.absent)
