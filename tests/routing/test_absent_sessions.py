"""BGP rows whose sessions cannot come up: the reason, and which end is wrong."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.routing.fabric import read_fabric
from fabricgen.routing.spoken import AbsentSession
from tests.bgp_fabric import ConfigDbs, Fabric, open_configs
from tests.routing.test_sessions import opened, two_spines


def pair() -> ConfigDbs:
    """One session, l1 172.16.0.0 and s1 172.16.0.1."""
    return Fabric({"l1": 1, "s1": 2}, [("l1", "s1")], {"10.1.0.0/24": "l1"}).configs()


def row(configs: ConfigDbs, name: str) -> dict[str, Any]:
    [found] = configs[name]["BGP_NEIGHBOR"].values()
    assert isinstance(found, dict)
    return found


def other_asn(configs: ConfigDbs) -> None:
    row(configs, "l1")["asn"] = "77"


def asn_of_far_row(configs: ConfigDbs) -> None:
    row(configs, "s1")["asn"] = "77"


def same_asn(configs: ConfigDbs) -> None:
    configs["s1"]["DEVICE_METADATA"]["localhost"]["bgp_asn"] = "1"


def same_router_id(configs: ConfigDbs) -> None:
    for name in configs:
        configs[name]["DEVICE_METADATA"]["localhost"]["bgp_router_id"] = "9.9.9.9"


def own_port_down(configs: ConfigDbs) -> None:
    configs["l1"]["PORT"] = {"Ethernet0": {"admin_status": "down"}}


def far_port_down(configs: ConfigDbs) -> None:
    configs["s1"]["PORT"] = {"Ethernet0": {"admin_status": "down"}}


def unknown_address(configs: ConfigDbs) -> None:
    configs["l1"]["BGP_NEIGHBOR"] = {"172.16.9.9": row(configs, "l1")}


def own_address(configs: ConfigDbs) -> None:
    configs["l1"]["BGP_NEIGHBOR"] = {"172.16.0.0": row(configs, "l1")}


def no_base_row(configs: ConfigDbs) -> None:
    del configs["s1"]["INTERFACE"]["Ethernet0"]


def no_common_subnet(configs: ConfigDbs) -> None:
    configs["l1"]["INTERFACE"] = {"Ethernet0": {}, "Ethernet0|172.16.8.0/31": {}}
    row(configs, "l1").pop("local_addr")


def no_far_row(configs: ConfigDbs) -> None:
    configs["s1"]["BGP_NEIGHBOR"] = {}


def cabled_elsewhere(configs: ConfigDbs) -> None:
    for name in configs:
        configs[name]["DEVICE_NEIGHBOR"]["Ethernet0"]["port"] = "Ethernet4"


@pytest.mark.parametrize(
    ("change", "reason", "inside"),
    [
        (other_asn, "the row has ASN 77, s1 has 2", True),
        (asn_of_far_row, "the row at s1 has ASN 77, this switch has 1", True),
        (same_asn, "s1 has the same ASN 1: internal sessions are not modelled", True),
        (same_router_id, "s1 has the same router id 9.9.9.9", True),
        (own_port_down, "l1 Ethernet0 is shut down", True),
        (far_port_down, "s1 Ethernet0 is shut down", True),
        (unknown_address, "no other judged switch has the address 172.16.9.9", False),
        (own_address, "no other judged switch has the address 172.16.0.0", True),
        (no_base_row, "s1 Ethernet0 has 172.16.0.1 but no base row", True),
        (no_common_subnet, "no interface shares a subnet with 172.16.0.1", True),
        (no_far_row, "s1 has no BGP_NEIGHBOR 172.16.0.0", True),
        (cabled_elsewhere, "Ethernet0 is cabled to s1 Ethernet4, not to s1 Ethernet0", True),
    ],
)
def test_reason(change: Callable[[ConfigDbs], None], reason: str, inside: bool, tmp_path: Path) -> None:
    configs = pair()
    change(configs)
    fabric = opened(configs, tmp_path)
    assert fabric.sessions == ()
    [found] = [one for one in fabric.spoken.absent if one.switch == "l1"]
    assert (found.reason, found.inside, found.follows) == (reason, inside, False)


def test_the_row_that_answers_a_wrong_one_follows_it(tmp_path: Path) -> None:
    configs = pair()
    row(configs, "s1")["admin_status"] = "down"
    found = {one.switch: one for one in opened(configs, tmp_path).spoken.absent}
    reason = found["s1"].reason
    assert not found["s1"].follows
    assert found["l1"] == AbsentSession("l1", "172.16.0.1", f"held down by the far end s1: {reason}", True, True)


def test_a_session_is_found_from_either_end(tmp_path: Path) -> None:
    """The first switch of a session is the one whose name comes first, whichever file is read first."""
    fabric = opened(Fabric({"s1": 2, "l1": 1}, [("s1", "l1")], {}).configs(), tmp_path)
    bundle = open_bundle([tmp_path])
    for order in (["l1", "s1"], ["s1", "l1"]):
        [session] = read_fabric(bundle, order).sessions
        assert [(end.switch, end.interface, end.key) for end in session] == [
            ("l1", "Ethernet0", "172.16.0.0"),
            ("s1", "Ethernet0", "172.16.0.1"),
        ]
    assert fabric.spoken.absent == ()


def test_addresses_in_a_vrf_are_not_of_the_default_one(tmp_path: Path) -> None:
    configs = pair()
    configs["s1"]["INTERFACE"]["Ethernet0"] = {"vrf_name": "Vrf1"}
    reasons = {one.switch: one.reason for one in opened(configs, tmp_path).spoken.absent}
    assert reasons["l1"] == "s1 Ethernet0 has 172.16.0.1 in VRF Vrf1, not in the default VRF"
    assert reasons["s1"] == "Ethernet0, which has local_addr 172.16.0.1, is in VRF Vrf1"


def test_a_wider_subnet_of_the_far_address_will_do(tmp_path: Path) -> None:
    """l1 has a /30 where s1 has a /31: FRR takes the interface whose subnet covers the neighbor."""
    configs = pair()
    configs["l1"]["INTERFACE"] = {"Ethernet0": {}, "Ethernet0|172.16.0.0/30": {}}
    [session] = opened(configs, tmp_path).sessions
    assert session.a.interface == "Ethernet0"


def test_loopbacks_share_no_subnet_with_a_neighbor(tmp_path: Path) -> None:
    configs = pair()
    configs["l1"]["INTERFACE"] = {}
    configs["l1"]["LOOPBACK_INTERFACE"] |= {"Loopback0|172.16.0.0/31": {}}
    reasons = {one.switch: one.reason for one in opened(configs, tmp_path).spoken.absent}
    assert reasons["l1"] == "no interface shares a subnet with 172.16.0.1"


@pytest.mark.parametrize(
    ("changes", "reason", "inside"),
    [
        (
            [("l1", "DEVICE_NEIGHBOR", "Ethernet8"), ("s1", "DEVICE_NEIGHBOR", "Ethernet8")],
            "no cable of Ethernet8 is known",
            False,
        ),
        ([("s1", "BGP_NEIGHBOR", "default|Ethernet8")], "s1 has no unnumbered BGP_NEIGHBOR on Ethernet8", True),
    ],
)
def test_unnumbered_reason(changes: list[tuple[str, str, str]], reason: str, inside: bool, tmp_path: Path) -> None:
    configs = two_spines((65000, 65000))
    for name, table, key in changes:
        del configs[name][table][key]
    found = [one for one in opened(configs, tmp_path).spoken.absent if one.switch == "l1"]
    assert [(one.key, one.reason, one.inside) for one in found] == [("default|Ethernet8", reason, inside)]


def test_an_unnumbered_session_with_a_switch_that_is_not_judged(tmp_path: Path) -> None:
    bundle = open_configs(two_spines((65000, 65000)), tmp_path)
    fabric = read_fabric(bundle, ["l1", "l2", "s2"])
    reasons = {one.reason for one in fabric.spoken.absent}
    assert reasons == {"Ethernet8 is cabled to s1, which is not a judged switch"}
    assert all(one.inside for one in fabric.spoken.absent)


def test_without_known_cables_addresses_are_enough(tmp_path: Path) -> None:
    configs = pair()
    for config in configs.values():
        del config["DEVICE_NEIGHBOR"]
    fabric = opened(configs, tmp_path)
    assert len(fabric.sessions) == 1
    assert fabric.spoken.absent == ()
