"""A rule that follows most switches or most ports needs more than half of them: two of four are not enough."""

import copy
import dataclasses
from collections.abc import Callable

import pytest

from tests.rules.clean import CleanFabric, Config, clean_fabric
from tests.rules.fabrics import ipv6_sessions, without_wiring

LEAVES = ("leaf1", "leaf2", "leaf3", "leaf4")
HOST_PORTS = ("Ethernet0", "Ethernet4")
UPLINKS = ("Ethernet256", "Ethernet260", "Ethernet264")


def four_leaves() -> CleanFabric:
    """leaf4 has the configuration of leaf3, and no cable."""
    fabric = clean_fabric()
    assert fabric.wiring
    fabric.configs["leaf4"] = copy.deepcopy(fabric.configs["leaf3"])
    fabric.configs["leaf4"]["DEVICE_METADATA"]["localhost"]["hostname"] = "leaf4"
    third = next(one for one in fabric.wiring.devices if one.name == "leaf3")
    added = dataclasses.replace(third, name="leaf4", identity="compute/leaf4")
    fabric.wiring = dataclasses.replace(fabric.wiring, devices=(*fabric.wiring.devices, added))
    return fabric


def other_metadata(config: Config) -> None:
    config["DEVICE_METADATA"]["localhost"]["synchronous_mode"] = "disable"


def other_map(config: Config) -> None:
    config["DSCP_TO_TC_MAP"]["AZURE"]["46"] = "1"


def other_timer(config: Config) -> None:
    for row in config["BGP_NEIGHBOR"].values():
        row["holdtime"] = "30"


@pytest.mark.parametrize(
    ("code", "change", "table"),
    [
        ("FG592", other_metadata, "DEVICE_METADATA"),
        ("FG594", other_timer, "BGP_NEIGHBOR"),
    ],
)
def test_peers(code: str, change: Callable[[Config], None], table: str) -> None:
    def names(count: int) -> set[str]:
        fabric = four_leaves()
        for name in LEAVES[:count]:
            change(fabric.configs[name])
        return {one.device or "" for one in fabric.judge(code) if one.path.startswith(table)}

    assert names(1) == {"leaf1"}
    assert names(2) == set()
    assert names(3) == {"leaf4"}


def test_management_addresses() -> None:
    def names(count: int) -> set[str]:
        fabric = four_leaves()
        for name in LEAVES[:count]:
            del fabric.configs[name]["MGMT_INTERFACE"]
        return {one.device or "" for one in fabric.judge("FG594") if one.path.startswith("MGMT")}

    assert [names(count) for count in (0, 1, 2, 3)] == [set(), {"leaf1"}, set(), set()]


def other_speed(config: Config, port: str) -> None:
    config["PORT"][port]["fec"] = "none"


def other_scheduler(config: Config, port: str) -> None:
    config["QUEUE"][f"{port}|0"] = {"scheduler": "scheduler.9"}


@pytest.mark.parametrize("change", [other_speed, other_scheduler])
def test_ports(change: Callable[[Config, str], None]) -> None:
    """The six ports to hosts."""

    def found(count: int) -> int:
        fabric = clean_fabric()
        for leaf, port in [(leaf, port) for leaf in LEAVES[:3] for port in HOST_PORTS][:count]:
            change(fabric.configs[leaf], port)
        return sum(any(port in one.path for port in HOST_PORTS) for one in fabric.judge("FG593"))

    assert found(0) == 0
    assert found(2) > 0
    assert found(3) == 0


def test_families_of_sessions() -> None:
    """The nine unnumbered sessions of the leaves, without IPv6 on the first `count` of them."""

    def found(count: int) -> bool:
        fabric = clean_fabric()
        ipv6_sessions(*[f"{leaf}|{port}" for leaf in LEAVES[:3] for port in UPLINKS][:count])(fabric.configs)
        return any(one.path.endswith("ipv6_unicast") for one in fabric.judge("FG594"))

    assert [found(count) for count in (0, 1, 4, 5)] == [False, True, True, False]


def test_descriptions() -> None:
    def found(wrong: int) -> bool:
        fabric = clean_fabric()
        ports = (*HOST_PORTS[:1], *UPLINKS)
        config = fabric.configs["leaf1"]
        for link in fabric.bundle().links:
            for end, far in ((link.a, link.b), (link.b, link.a)):
                if end[0] == "leaf1":
                    config["PORT"][end[1]]["description"] = ":".join(far)
        for port in ports[:wrong]:
            config["PORT"][port]["description"] = "another:port"
        return any(one.device == "leaf1" for one in fabric.judge("FG250"))

    assert [found(wrong) for wrong in range(5)] == [False, True, True, False, False]


def test_a_missing_definition() -> None:
    """Sixteen ports of leaves have queues."""

    def found(count: int) -> bool:
        fabric = clean_fabric()
        queues = fabric.configs["leaf1"]["QUEUE"]
        queues |= {f"Ethernet8|{number}": dict(queues[f"Ethernet0|{number}"]) for number in range(8)}
        ports = [(leaf, port) for leaf in LEAVES[:3] for port in (*HOST_PORTS, *UPLINKS)]
        for leaf, port in [("leaf1", "Ethernet8"), *ports][:count]:
            fabric.configs[leaf]["QUEUE"][f"{port}|0"] = {"scheduler": "missing"}
        return any(one.path == "SCHEDULER|missing" for one in fabric.judge("FG518"))

    assert [found(8), found(9)] == [False, True]


@pytest.mark.parametrize(
    ("code", "change", "planned", "found"),
    [
        ("FG591", other_map, False, {"leaf1", "leaf2"}),
        ("FG592", other_metadata, False, set()),
        ("FG592", other_metadata, True, {"leaf1", "leaf2"}),
    ],
)
def test_two_switches(code: str, change: Callable[[Config], None], planned: bool, found: set[str]) -> None:
    """Maps must be equal on all switches; other differences of two equal switches count if fabric.json has both."""
    fabric = clean_fabric()
    for name in ("leaf3", "spine2", "spine3"):
        del fabric.configs[name]
    if code == "FG591":
        del fabric.configs["spine1"]
    if not planned:
        without_wiring(fabric)
    change(fabric.configs["leaf1"])
    assert {one.device for one in fabric.judge(code) if not one.path.startswith("PORT")} == found
