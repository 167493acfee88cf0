"""Several planes judged together, and networks without PFC that come without fabric.json."""

import dataclasses
import json
from collections.abc import Callable

import pytest

from fabricgen.bundle.link_sources import find_links
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Severity
from fabricgen.rules.run import run
from fabricgen.rules.view.fabric import Fabric
from tests.rules.clean import CleanFabric, Config, broken, clean_fabric

LOSSLESS_TABLES = (
    "PORT_QOS_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "PFC_WD",
    "CABLE_LENGTH",
)


def copy_qos(configs: dict[str, Config]) -> None:
    """A compute leaf's QoS on the in-band leaf."""
    for table in LOSSLESS_TABLES:
        configs["inband1"][table] = configs["leaf1"][table]


def moved(fabric: CleanFabric, device: str, plane: str) -> CleanFabric:
    """The same files, where fabric.json has a switch on another plane."""
    wiring = fabric.wiring
    assert wiring
    devices = [dataclasses.replace(one, plane=plane) if one.name == device else one for one in wiring.devices]
    return CleanFabric(fabric.configs, dataclasses.replace(wiring, devices=tuple(devices)))


def with_purpose(fabric: CleanFabric, purpose: str) -> CleanFabric:
    """The same files, where the plane without PFC is for something else."""
    wiring = fabric.wiring
    assert wiring
    compute, other = wiring.planes
    planes = (compute, dataclasses.replace(other, purpose=purpose))
    return CleanFabric(fabric.configs, dataclasses.replace(wiring, planes=planes))


def test_lossless_settings_of_management_are_reported() -> None:
    found = broken("planes", copy_qos).judge("FG595")
    assert {one.device for one in found} == {"inband1"}
    assert {one.path.partition("|")[0] for one in found} == {"PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE"}
    assert all(one.severity is Severity.ERROR and "in-band management" in one.message for one in found)


@pytest.mark.parametrize("purpose", ["storage", ""])
def test_a_plane_without_pfc_for_anything_else_is_judged_by_its_classes(purpose: str) -> None:
    assert with_purpose(clean_fabric("planes"), purpose).judge() == []
    found = with_purpose(broken("planes", copy_qos), purpose).judge("FG51", "FG59")
    assert {"FG512", "FG513", "FG514", "FG515"} <= {one.code for one in found if one.device == "inband1"}
    assert "FG595" not in {one.code for one in found}


def test_a_switch_on_the_wrong_plane_joins_two() -> None:
    found = moved(clean_fabric("planes"), "spine1", "in-band").judge("FG596")
    assert {one.device for one in found} == {"leaf1", "leaf2", "leaf3", "spine1"}
    assert {one.path.partition("|")[0] for one in found} == {"DEVICE_NEIGHBOR", "BGP_NEIGHBOR"}


def test_planes_without_common_hosts_may_use_the_same_prefixes() -> None:
    fabric = clean_fabric("planes")
    fabric.configs["inband1"]["STATIC_ROUTE"]["default|10.0.0.0/29"] = {"blackhole": "true"}
    assert [one.device for one in fabric.judge("FG328")] == ["inband1"]
    assert fabric.wiring
    apart = [dataclasses.replace(host, nics=host.nics[:3]) for host in fabric.wiring.hosts]
    fabric.wiring = dataclasses.replace(fabric.wiring, hosts=tuple(apart))
    assert fabric.judge("FG328") == []


def test_a_route_to_the_outside_may_cover_everything() -> None:
    fabric = clean_fabric("planes")
    fabric.configs["inband1"]["STATIC_ROUTE"]["default|10.0.0.0/8"] = {"nexthop": "10.64.6.1"}
    assert fabric.judge("FG328") == []


def loose(fabric: CleanFabric) -> Bundle:
    """The files without fabric.json: links are those of DEVICE_NEIGHBOR."""
    fabric.wiring = None
    whole = fabric.bundle()
    found = find_links({name: device.table for name, device in whole.devices.items()}, {})
    return dataclasses.replace(whole, links=found.links, links_from=found.sources, contradictions=found.contradictions)


def codes(bundle: Bundle, device: str) -> set[str]:
    return {one.code for one in run(bundle) if one.device == device}


def test_loose_files_without_pfc_are_a_network_of_their_own() -> None:
    bundle = loose(clean_fabric("planes"))
    assert [name for name, switch in Fabric(bundle).switches.items() if switch.is_lossy] == ["inband1"]
    assert codes(bundle, "inband1") == set()


@pytest.mark.parametrize(
    ("table", "key", "row"),
    [
        ("PORT_QOS_MAP", "Ethernet0", {"pfc_enable": "3"}),
        ("PORT_QOS_MAP", "Ethernet0", {"pfcwd_sw_enable": "3"}),
        ("PFC_WD", "Ethernet0", {"action": "drop"}),
        ("BUFFER_PG", "Ethernet0|3", {"profile": "NULL"}),
        ("BUFFER_QUEUE", "Ethernet0|3", {"profile": "egress_lossless_profile"}),
        ("CABLE_LENGTH", "AZURE", {"Ethernet4": "5m"}),
    ],
)
def test_any_sign_of_a_lossless_class_makes_a_loose_file_one_of_the_others(
    table: str, key: str, row: dict[str, str]
) -> None:
    def change(configs: dict[str, Config]) -> None:
        configs["inband1"].setdefault(table, {}).setdefault(key, {}).update(row)

    bundle = loose(broken("planes", change))
    assert not any(switch.is_lossy for switch in Fabric(bundle).switches.values())
    assert "FG511" in codes(bundle, "inband1")


def renamed(fabric: CleanFabric, ending: str) -> dict[str, Config]:
    """The same files of switches that are called otherwise."""
    text = json.dumps(fabric.configs)
    for name in fabric.configs:
        text = text.replace(f'"{name}"', f'"{name}{ending}"')
    renamed_configs: dict[str, Config] = json.loads(text)
    return renamed_configs


def loose_planes(change: Callable[[dict[str, Config]], object]) -> Bundle:
    """Six switches, and six others with one class fewer that no cable joins to them."""

    def one_class(configs: dict[str, Config]) -> None:
        for config in configs.values():
            config["DSCP_TO_TC_MAP"]["AZURE"]["34"] = "0"

    fabric = clean_fabric()
    fabric.configs.update(renamed(broken("traditional", one_class), "-storage"))
    change(fabric.configs)
    return loose(fabric)


def test_loose_files_that_no_cable_joins_are_not_compared() -> None:
    found = run(loose_planes(lambda configs: None), ("FG59", "FG318"))
    assert found == []


def test_a_loose_file_is_compared_with_those_that_cables_join_it_to() -> None:
    def change(configs: dict[str, Config]) -> None:
        configs["leaf1-storage"]["DSCP_TO_TC_MAP"]["AZURE"]["34"] = "4"  # as on all switches of the other plane

    found = run(loose_planes(change), ("FG591",))
    assert [one.device for one in found] == ["leaf1-storage"]


@pytest.mark.parametrize("unnumbered", [False, True])
def test_a_spine_without_file_joins_its_leaves(unnumbered: bool) -> None:
    def change(configs: dict[str, Config]) -> None:
        for spine in [name for name in configs if name.startswith("spine")]:
            del configs[spine]
        for config in configs.values() if unnumbered else ():
            for row in config["BGP_NEIGHBOR"].values():
                del row["name"]  # as of sessions that are named by their port

    parts = {name: switch.part for name, switch in Fabric(loose_planes(change)).switches.items()}
    assert parts == {"leaf1": 1, "leaf2": 1, "leaf3": 1, "leaf1-storage": 2, "leaf2-storage": 2, "leaf3-storage": 2}


def test_a_lossy_switch_that_cables_join_to_lossless_ones_is_compared_with_them() -> None:
    def forget(configs: dict[str, Config]) -> None:
        lossy = clean_fabric("planes").configs["inband1"]
        for table in ("PORT_QOS_MAP", "BUFFER_PG", "BUFFER_QUEUE", "DSCP_TO_TC_MAP", "CABLE_LENGTH"):
            configs["leaf1"][table] = lossy[table]
        del configs["leaf1"]["PFC_WD"]

    bundle = loose(broken("traditional", forget))
    assert not any(switch.is_lossy for switch in Fabric(bundle).switches.values())
    assert {"FG511", "FG591", "FG593"} <= codes(bundle, "leaf1")
