"""Overlapping prefixes that several switches announce: which are allowed, and which are not."""

from tests.rules.clean import clean_fabric

ON = {"nexthop": "10.64.0.1", "ifname": "Ethernet0", "advertise": "true"}  # to the first host of leaf1


def overlaps(**routes: dict[str, dict[str, str]]) -> set[tuple[str, str]]:
    """(device, prefix) of every FG342 after these routes were added: switch=prefix -> row."""
    fabric = clean_fabric()
    for switch, rows in routes.items():
        fabric.configs[switch]["STATIC_ROUTE"].update({f"default|{prefix}": row for prefix, row in rows.items()})
    return {(one.device, one.path.rpartition("|")[2]) for one in fabric.judge("FG342")}


def test_routes_with_a_next_hop_may_contain_prefixes_of_others() -> None:
    assert overlaps(leaf1={"0.0.0.0/0": ON, "10.0.0.0/8": ON}) == set()


def test_several_switches_may_announce_one_prefix_with_next_hops() -> None:
    assert overlaps(leaf1={"192.168.7.0/24": ON}, leaf2={"192.168.7.0/24": ON, "192.168.0.0/16": ON}) == set()


def test_a_route_with_a_next_hop_inside_another_leafs_prefix_attracts_its_traffic() -> None:
    assert overlaps(leaf1={"10.64.1.128/25": ON}) == {("leaf1", "10.64.1.128/25")}


def test_one_of_two_equal_prefixes_is_discarded() -> None:
    drop = {"blackhole": "true"}
    found = overlaps(leaf1={"192.168.7.0/24": ON}, leaf2={"192.168.7.0/24": drop})
    assert found == {("leaf1", "192.168.7.0/24"), ("leaf2", "192.168.7.0/24")}


def test_a_shorter_route_of_the_switch_itself_hides_no_overlap() -> None:
    inner = {"10.64.0.0/26": ON, "10.64.0.128/26": ON}
    assert overlaps(leaf2=inner) == {("leaf2", "10.64.0.0/26"), ("leaf2", "10.64.0.128/26")}
