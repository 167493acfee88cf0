"""The options of opensm.conf: virtual lanes, prefixes, failover."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.control_plane.managers import plan_managers
from fabricgen.control_plane.opensm_options import PlaneManagers, plan_options
from fabricgen.control_plane.partitions import plan_partitions
from fabricgen.design.subnets import split_subnets
from fabricgen.inventory.infiniband import Membership
from fabricgen.render.plans import Plans, make_plans
from tests.inventories import Tree, grid, grouped, write
from tests.render.infiniband.test_files import subnet_tree

FILES = ["partitions.conf", "node-name-map"]


def infiniband(tree: Tree, **settings: Any) -> Tree:
    plane = {**tree["planes"]["compute"], "technology": "infiniband", "infiniband": settings}
    return {key: value for key, value in tree.items() if key != "management"} | {"planes": {"compute": plane}}


def planned(folder: Path, tree: Tree) -> tuple[Plans, list[PlaneManagers]]:
    """The plans of an InfiniBand plane and the options of each subnet."""
    plans = make_plans(write(folder, tree))
    assert [one for one in plans.findings if one.severity == "error"] == []
    options = [
        plan_options(subnet, plans.subnets["compute"], plans.allocation, [], FILES)
        for subnet in split_subnets(plans.fabric.planes[0])
    ]
    return plans, options


def test_lanes_of_a_torus(tmp_path: Path) -> None:
    """torus-2QoS programs SL2VL itself; adapters use 2 VLs, and switches weigh all VLs equally."""
    _, (options,) = planned(tmp_path, infiniband(grid("torus", [4, 4]), vls=4))
    assert options.qos == "TRUE" and options.qos_sl2vl is None
    assert options.qos_vlarb_high == options.qos_vlarb_low == "0:64,1:64,2:64,3:64"
    assert options.qos_ca_vlarb == "0:64,1:64"


@pytest.mark.parametrize(("vls", "repeated"), [(8, "0,1,2,3,4,5,6,7"), (4, "0,1,2,3")])
def test_sixteen_service_levels_are_spread_over_the_lanes(vls: int, repeated: str, tmp_path: Path) -> None:
    tree = infiniband(grouped("dragonfly", {"switches": 4, "global_links": 2}, 72, 8), vls=vls)
    tree["planes"]["compute"]["purpose"] = "storage"  # without collectives, paths spread over all lanes
    _, (options,) = planned(tmp_path, tree)
    assert options.qos_sl2vl == ",".join([repeated] * (16 // vls)) and options.qos_ca_vlarb is None


def test_one_lane_needs_no_qos(tmp_path: Path) -> None:
    _, (options,) = planned(tmp_path, subnet_tree())
    assert options.qos == "FALSE" and options.qos_vlarb_high is None and options.qos_sl2vl is None


def test_a_standby_takes_over_after_three_seconds(tmp_path: Path) -> None:
    _, (options,) = planned(tmp_path, subnet_tree())
    assert int(options.sminfo_polling_timeout) * int(options.polling_retry_number) == 3000


def rails(**settings: Any) -> Tree:
    tree = subnet_tree(infiniband=settings)
    tree["planes"]["compute"]["design"] = "rail-only"
    del tree["planes"]["compute"]["spine"]
    return tree


def test_subnets_have_site_local_prefixes_with_their_number(tmp_path: Path) -> None:
    _, options = planned(tmp_path, rails())
    assert [one.subnet_prefix for one in options] == [f"0xfec000000000000{number}" for number in range(1, 9)]


def test_a_configured_prefix_counts_up_over_the_subnets(tmp_path: Path) -> None:
    _, options = planned(tmp_path, rails(subnet_prefix=0xFE80_0000_0000_0100))
    assert [one.subnet_prefix for one in options] == [f"0xfe800000000001{number:02x}" for number in range(8)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_master_has_the_highest_priority_below_15(count: int, tmp_path: Path) -> None:
    plans, _ = planned(tmp_path, subnet_tree(infiniband={"managers": [f"gpu/{number}" for number in range(count)]}))
    (subnet,) = split_subnets(plans.fabric.planes[0])
    managers = plan_managers(subnet, plans.allocation)
    assert [int(one.priority) for one in managers] == [14, 13, 12][:count]
    assert [one.folder for one in managers] == ["", "standby-1", "standby-2"][:count]


def partitions(folder: Path, *tenants: dict[str, Any]) -> Any:
    plans, _ = planned(folder, subnet_tree(partitions=list(tenants)))
    (subnet,) = split_subnets(plans.fabric.planes[0])
    return plan_partitions(subnet, plans.allocation, [])


def test_a_pkey_is_its_low_15_bits(tmp_path: Path) -> None:
    default, blue = partitions(tmp_path, {"name": "blue", "pkey": 0x8005, "members": ["gpu"]})
    assert (default.pkey, blue.pkey) == (0x7FFF, 5)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("limited", "limited", Membership.LIMITED),
        ("limited", "full", Membership.FULL),
        ("full", "limited", Membership.FULL),
        ("both", "limited", Membership.BOTH),
        ("full", "both", Membership.BOTH),
    ],
)
def test_a_port_that_is_named_twice(one: str, other: str, expected: Membership, tmp_path: Path) -> None:
    members = [{"member": "gpu/0/rail0", "membership": word} for word in (one, other)]
    members.append({"member": "gpu/1", "membership": "both" if expected is Membership.BOTH else "full"})
    _, blue = partitions(tmp_path, {"name": "blue", "pkey": 5, "members": members})
    assert next(iter(blue.members.values())) is expected


@pytest.mark.parametrize(("rate", "expected"), [("400G", []), ("600G", ["FG885"]), ("100G", [])])
def test_every_member_supports_the_rate_of_its_group(rate: str, expected: list[str], tmp_path: Path) -> None:
    tenant = {"name": "blue", "pkey": 5, "members": ["gpu"], "ipoib": True, "rate": rate}
    plans = make_plans(write(tmp_path, subnet_tree(partitions=[tenant])))
    assert [one.code for one in plans.findings if one.severity == "error"] == expected


def test_a_member_with_both_keys_needs_two_entries(tmp_path: Path) -> None:
    tenants = [
        {"name": f"t{number}", "pkey": number, "members": [{"member": "gpu/0/rail0", "membership": "both"}]}
        for number in range(1, 65)
    ]
    for count, expected in ((63, []), (64, ["FG886"])):
        plans = make_plans(write(tmp_path, subnet_tree(partitions=tenants[:count])))
        assert [one.code for one in plans.findings if one.severity == "error"] == expected
