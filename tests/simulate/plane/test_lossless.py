"""The lossless priorities of each link, if switches share some of their QoS tables and not others."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.simulate.plane.lossless import LosslessLinks, lossless_links
from tests.bgp_fabric import ConfigDbs, Fabric, open_configs

LEAVES = ("l0", "l1", "l2")


def star() -> ConfigDbs:
    asn = {"s": 65000, **{name: 65101 + number for number, name in enumerate(LEAVES)}}
    return Fabric(
        asn, [(name, "s") for name in LEAVES], {f"10.{i}.0.0/24": name for i, name in enumerate(asn)}
    ).configs()


def judged(configs: ConfigDbs, folder: Path) -> tuple[RoutedFabric, LosslessLinks]:
    bundle = open_configs(configs, folder)
    fabric = read_fabric(bundle, list(bundle.devices))
    return fabric, lossless_links(fabric)


def from_leaves(fabric: RoutedFabric, per_link: Any) -> dict[str, int]:
    """A leaf -> the value of its link to the spine."""
    near = [fabric.names[switch] for switch in fabric.network.source]
    return {name: int(per_link[near.index(name)]) for name in LEAVES}


def test_equal_tables_do_not_hide_a_different_map(tmp_path: Path) -> None:
    configs = star()
    configs["l1"]["TC_TO_QUEUE_MAP"] = {"AZURE": {str(tc): str(7 - tc) for tc in range(8)}}
    fabric, lossless = judged(configs, tmp_path)
    departure = from_leaves(fabric, lossless.departure)
    assert departure["l0"] == departure["l2"] != departure["l1"]
    assert not lossless.uniform
    assert lossless.priorities == (3, 4)


@pytest.mark.parametrize(("members", "mask"), [({"PortChannel1|Ethernet0": {}}, 0b11000), ({}, 0)])
def test_members_of_a_port_channel_have_its_priorities(members: dict[str, Any], mask: int, tmp_path: Path) -> None:
    """PORT_QOS_MAP is the same on all leaves; PORTCHANNEL_MEMBER is not."""
    configs = star()
    rows = configs["l1"]["INTERFACE"]
    configs["l1"]["PORTCHANNEL_INTERFACE"] = {key.replace("Ethernet0", "PortChannel1"): rows[key] for key in rows}
    configs["l1"]["INTERFACE"] = {}
    configs["l1"]["PORTCHANNEL_MEMBER"] = members
    fabric, lossless = judged(configs, tmp_path)
    assert from_leaves(fabric, lossless.mask) == {"l0": 0b11000, "l1": mask, "l2": 0b11000}


def test_the_global_map_holds_where_a_port_names_none(tmp_path: Path) -> None:
    configs = star()
    for name in ("l0", "l1"):
        del configs[name]["PORT_QOS_MAP"]["Ethernet0"]["dscp_to_tc_map"]
    configs["l0"]["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": "AZURE"}
    fabric, lossless = judged(configs, tmp_path)
    arrival = from_leaves(fabric, lossless.arrival[fabric.network.reverse])
    assert arrival["l0"] == arrival["l2"] != arrival["l1"]
