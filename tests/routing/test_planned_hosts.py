"""Which hosts of a planned fabric cannot reach each other: three leaves, three spines, two hosts of three rails."""

import dataclasses
from typing import Any

import pytest

from fabricgen.bundle.wiring import WiredDevice
from fabricgen.routing.endpoints import NOT_ANNOUNCED
from tests.routing.test_reachability import explained, lost, reached
from tests.rules.clean import CleanFabric, clean_fabric

IN_VRF = "Ethernet0, the port of a host, is in VRF Vrf1, not in the default VRF"


def test_counts_of_addresses() -> None:
    """Three leaves with two hosts each: the loss of one leaf's prefix is 2 senders x 2 addresses x 2 leaves."""
    fabric = clean_fabric()
    assert explained(fabric.bundle()) == []
    found = reached(fabric.bundle())
    assert [one.names for one in found.targets] == [(f"gpu1 nic{n}", f"gpu2 nic{n}") for n in range(3)]
    assert found.weights.tolist() == [2, 2, 2]
    leaf = found.fabric.names.index("leaf1")
    spine = found.fabric.names.index("spine1")
    assert (found.senders(leaf, 4), found.senders(leaf, 6), found.senders(spine, 4)) == (2, 0, 0)


WIRED_LOSSES: list[tuple[tuple[str, str, str, dict[str, str]], str, int]] = [
    (("leaf1", "INTERFACE", "Ethernet0", {"vrf_name": "Vrf1"}), IN_VRF, 4),
    (("spine1", "STATIC_ROUTE", "default|10.64.0.0/31", {"blackhole": "true", "distance": "250"}),
     "a blackhole route drops packets to 10.64.0.0/24", 8),
    (("leaf1", "STATIC_ROUTE", "default|10.64.0.1/32", {"blackhole": "true"}),
     "a blackhole route drops packets to 10.64.0.1/32", 4),
]  # fmt: skip


@pytest.mark.parametrize(("row", "reason", "pairs"), WIRED_LOSSES)
def test_losses_of_single_hosts(row: tuple[str, str, str, dict[str, str]], reason: str, pairs: int) -> None:
    """A port in a VRF loses one host of two; a longer blackhole route wins over BGP, or over the port of the host."""
    name, table, key, fields = row
    fabric = clean_fabric()
    fabric.configs[name].setdefault(table, {})[key] = fields
    place = f"{table}|{key}" + ("|vrf_name" if "vrf_name" in fields else "")
    assert explained(fabric.bundle()) == [([(name, place, reason)], pairs)]


def test_a_blackhole_route_as_long_as_the_subnet_of_the_port_drops_nothing() -> None:
    fabric = clean_fabric()
    fabric.configs["leaf1"]["STATIC_ROUTE"]["default|10.64.0.0/31"] = {"blackhole": "true"}
    assert explained(fabric.bundle()) == []


def test_hosts_without_an_announced_prefix() -> None:
    fabric = clean_fabric()
    del fabric.configs["leaf1"]["STATIC_ROUTE"]["default|10.64.0.0/24"]
    found = reached(fabric.bundle())
    assert [one.column == NOT_ANNOUNCED for one in found.targets] == [True, False, False]
    assert lost(found) == {"leaf2 to gpu1 nic0", "leaf3 to gpu1 nic0"}
    assert explained(fabric.bundle()) == [([("leaf1", "STATIC_ROUTE", "no announced prefix contains 10.64.0.1")], 8)]


def test_a_static_route_with_a_next_hop_may_reach_the_hosts() -> None:
    """The files do not show where the next hop leads, so leaf2 counts as connected; leaf3 has no such route."""
    fabric = clean_fabric()
    del fabric.configs["leaf1"]["STATIC_ROUTE"]["default|10.64.0.0/24"]
    fabric.configs["leaf2"]["STATIC_ROUTE"]["default|10.64.0.0/24"] = {"nexthop": "10.128.0.15"}
    assert lost(reached(fabric.bundle())) == {"leaf3 to gpu1 nic0"}


def with_state(fabric: CleanFabric, name: str, state: str) -> None:
    assert fabric.wiring

    def of(device: WiredDevice) -> WiredDevice:
        changed: Any = dataclasses.replace(device, state=state) if device.name == name else device
        return changed

    fabric.wiring = dataclasses.replace(fabric.wiring, devices=tuple(map(of, fabric.wiring.devices)))


def test_hosts_of_a_drained_leaf_are_not_counted() -> None:
    fabric = clean_fabric()
    with_state(fabric, "leaf1", "drained")
    fabric.configs["leaf1"]["BGP_NEIGHBOR"] = {}
    found = reached(fabric.bundle())
    assert [one.names[0] for one in found.targets] == ["gpu1 nic1", "gpu1 nic2"]
    assert lost(found) == set()
