"""Sessions, router IDs, host aggregates and external links of planned fabrics."""

import ipaddress
from pathlib import Path
from typing import Any

import pytest

from fabricgen.design.model import Host, Link
from fabricgen.render.plans import Plans, make_plans
from tests.inventories import ADDRESSING, DUAL_STACK, explicit, rail_optimized, write

WAN = {"name": "wan1", "asn": 64900, "switch": "leaf1", "port": "Ethernet320", "address": "192.0.2.1/31"}


def plans_of(folder: Path, **plane: Any) -> Plans:
    return make_plans(write(folder, explicit(**plane)))


def links(plans: Plans, *, to_hosts: bool) -> list[Link]:
    return [link for link in plans.fabric.links if isinstance(link.a, Host) is to_hosts]


def errors(plans: Plans) -> list[str]:
    return [finding.code for finding in plans.findings if finding.severity == "error"]


def test_both_ends_of_a_link_have_each_others_addresses_and_asns(tmp_path: Path) -> None:
    plans = make_plans(write(tmp_path, rail_optimized(addressing=DUAL_STACK)))
    control = plans.control
    for link in links(plans, to_hosts=False):
        low, high = control.ends[link.a.key][link.a_port], control.ends[link.b.key][link.b_port]
        assert [one.local for one in low.addresses] == [one.peer for one in high.addresses]
        assert [one.peer for one in low.addresses] == [one.local for one in high.addresses]
        assert {one.peer_asn for one in low.addresses} == {control.asns[link.b.key]}
        assert {one.peer_asn for one in high.addresses} == {control.asns[link.a.key]}
        for one in low.addresses:
            near, far = ipaddress.ip_address(one.local), ipaddress.ip_address(one.peer)
            assert int(near) % 2 == 0 and int(far) == int(near) + 1


def test_a_leaf_has_the_even_address_of_a_host_link_and_announces_its_block(tmp_path: Path) -> None:
    plans = plans_of(tmp_path, addressing=DUAL_STACK)
    for link in links(plans, to_hosts=True):
        end = plans.control.ends[link.b.key][link.b_port]
        announced = [ipaddress.ip_network(text) for text in plans.control.host_aggregates[link.b.key]]
        for address in end.addresses:
            local = ipaddress.ip_address(address.local)
            assert int(local) % 2 == 0 and address.peer_asn is None
            assert any(network.version == local.version and local in network for network in announced)
    assert all(key.startswith("compute/leaf") for key in plans.control.host_aggregates)


def test_the_router_id_is_the_ipv4_loopback_in_any_order_of_families(tmp_path: Path) -> None:
    addressing = {**DUAL_STACK, "loopbacks": list(reversed(DUAL_STACK["loopbacks"]))}
    plans = plans_of(tmp_path, addressing=addressing)
    assert plans.control.router_ids.keys() == {switch.key for switch in plans.fabric.switches}
    for key, text in plans.control.router_ids.items():
        assert ipaddress.ip_address(text).version == 4 and text in plans.allocation.loopbacks[key]


@pytest.mark.parametrize(
    ("asn", "expected"),
    [(65000, ["FG396"]), (65009, ["FG396"]), (64999, []), (65010, [])],
    ids=["first", "last", "below", "above"],
)
def test_an_external_asn_is_outside_the_range_of_the_fabric(asn: int, expected: list[str], tmp_path: Path) -> None:
    addressing = {**ADDRESSING, "asn": {"first": 65000, "last": 65009}}
    wan = {**WAN, "asn": asn, "in": "all", "out": "all"}
    assert errors(plans_of(tmp_path, addressing=addressing, external=[wan])) == expected


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [("10.64.7.0/24", ["FG397"]), ("10.64.0.0/10", ["FG397"]), ("10.0.0.0/8", []), ("192.168.7.0/24", [])],
)
def test_a_static_prefix_is_not_inside_a_pool(prefix: str, expected: list[str], tmp_path: Path) -> None:
    plans = plans_of(tmp_path, static=[{"prefix": prefix, "via": "gpu/0:rail0"}])
    assert errors(plans) == expected
    (route,) = plans.control.outside.routes["compute/leaf/leaf1"]
    link = next(link for link in links(plans, to_hosts=True) if (link.a.key, link.a_port) == ("gpu/0", "rail0"))
    assert (route.next_hop, route.port) == (plans.allocation.link_addresses(link)[0][0], link.b_port)


def test_an_external_link_takes_its_port_once(tmp_path: Path) -> None:
    external = [{**WAN, "in": "all", "out": "all"}, {**WAN, "name": "wan2", "address": "192.0.2.3/31",
                "in": "all", "out": "all"}]  # fmt: skip
    plans = plans_of(tmp_path, external=external)
    assert errors(plans) == ["FG205"]
    end = plans.control.ends["compute/leaf/leaf1"]["Ethernet320"]
    assert end.peer == "wan1" and end.peer_switch is None
    assert [(one.local, one.length, one.peer, one.peer_asn) for one in end.addresses] == [
        ("192.0.2.1", 31, "192.0.2.0", 64900)
    ]
