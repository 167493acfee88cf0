"""Route maps on links: which prefixes pass in which direction."""

from pathlib import Path

from fabricgen.routing.fabric import RoutedFabric
from tests.bgp_fabric import ConfigDbs
from tests.routing.networks import link_between
from tests.routing.test_sessions import opened, two_spines


def denied(fabric: RoutedFabric) -> set[tuple[str, str, str]]:
    """(switch, neighbor, prefix) of the prefixes that a switch does not learn from a neighbor because of filters."""
    assert fabric.policy.filters is not None
    names, network = fabric.names, fabric.network
    return {
        (names[network.source[link]], names[network.target[link]], one.prefixes[0])
        for link in range(network.links)
        for one in fabric.destinations
        if fabric.policy.filters[link] in one.barred
    }


def with_map(configs: ConfigDbs, switch: str, port: str, direction: str, *operations: str) -> None:
    """Another route map on one session of a switch."""
    for number, operation in enumerate(operations):
        configs[switch]["ROUTE_MAP"][f"OTHER|{10 * number}"] = {"route_operation": operation}
    rows = configs[switch]["BGP_NEIGHBOR_AF"]
    rows[f"default|{port}|ipv4_unicast"] = {**rows[f"default|{port}|ipv4_unicast"], direction: ["OTHER"]}


def test_open_maps_bar_nothing(tmp_path: Path) -> None:
    fabric = opened(two_spines((65000, 65000)), tmp_path)
    assert all(not one.barred for one in fabric.destinations)


def test_a_map_of_one_direction_of_one_session(tmp_path: Path) -> None:
    """l1 refuses everything from s1; s2 sends nothing to l2. Prefixes are those of l1, l2, s1 and s2 in order."""
    configs = two_spines((65000, 65000))
    with_map(configs, "l1", "Ethernet8", "route_map_in", "deny")
    with_map(configs, "s2", "Ethernet16", "route_map_out", "deny")
    fabric = opened(configs, tmp_path)
    every = [f"10.0.{number}.0/24" for number in range(4)]
    assert denied(fabric) == {("l1", "s1", one) for one in every} | {("l2", "s2", one) for one in every}
    hops = fabric.next_hops()
    assert (hops["l1"]["10.0.1.0/24"], hops["l2"]["10.0.0.0/24"]) == (["s2"], ["s1"])


def test_only_the_prefixes_of_a_set_are_denied(tmp_path: Path) -> None:
    configs = two_spines((65000, 65000))
    with_map(configs, "l1", "Ethernet8", "route_map_in", "deny", "permit")
    configs["l1"]["PREFIX_SET"] = {"FAR": {"mode": "IPv4"}}
    configs["l1"]["PREFIX"] = {"FAR|10|10.0.1.0/24|exact": {"action": "permit"}}
    configs["l1"]["ROUTE_MAP"]["OTHER|0"]["match_prefix_set"] = "FAR"
    fabric = opened(configs, tmp_path)
    assert denied(fabric) == {("l1", "s1", "10.0.1.0/24")}
    assert fabric.next_hops()["l1"]["10.0.1.0/24"] == ["s2"]


def test_equal_filters_have_one_number(tmp_path: Path) -> None:
    """l1 and s1 learn nothing; the filters of l2 permit all."""
    configs = two_spines((65000, 65000))
    for port in ("Ethernet8", "Ethernet16"):
        with_map(configs, "l1", port, "route_map_in", "deny")
        with_map(configs, "s1", port, "route_map_in", "deny")
    for name in ("l2", "s2"):
        configs[name]["ROUTE_MAP"]["OTHER|0"] = {"route_operation": "deny"}
    fabric = opened(configs, tmp_path)
    assert fabric.policy.filters is not None
    numbers, index = fabric.policy.filters.tolist(), {name: number for number, name in enumerate(fabric.names)}

    def number(a: str, b: str) -> int:
        return int(numbers[link_between(fabric.network, index[a], index[b])])

    closed = {number("l1", "s1"), number("l1", "s2"), number("s1", "l1"), number("s1", "l2")}
    assert len(closed) == 1
    assert {number("l2", "s1"), number("l2", "s2"), number("s2", "l1")}.isdisjoint(closed)
    assert {one.barred for one in fabric.destinations} == {frozenset(closed)}
