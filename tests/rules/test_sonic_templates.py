"""Files that SONiC's templates and daemons make are right. Each test names the file of sonic-buildimage @086b03bd."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.findings import Finding, Severity
from fabricgen.rules.run import run
from fabricgen.sonic.dump import dump
from tests.rules.clean import CleanFabric, broken, clean_fabric
from tests.rules.fabrics import without_wiring

Config = dict[str, Any]
RECIRCULATION = {"lanes": "621", "speed": "400000", "alias": "Recirc0", "index": "600", "role": "Rec", "fec": "none"}


def errors(fabric: CleanFabric) -> list[str]:
    return [f"{one.code} {one.message}" for one in fabric.judge() if one.severity is Severity.ERROR]


def of_code(found: list[Finding], code: str) -> set[tuple[Severity, str]]:
    return {(one.severity, one.message) for one in found if one.code == code}


def without_headroom(config: Config) -> None:
    """files/build_templates/buffers_config.j2 of the traditional model: buffermgrd writes profiles and rows."""
    config["BUFFER_PG"] = {key: row for key, row in config["BUFFER_PG"].items() if not key.endswith("|3-4")}
    profiles = config["BUFFER_PROFILE"]
    config["BUFFER_PROFILE"] = {key: row for key, row in profiles.items() if not key.startswith("pg_lossless_")}


def test_buffermgrd_writes_headroom_of_the_traditional_model() -> None:
    fabric = clean_fabric("traditional")
    without_wiring(fabric)
    for config in fabric.configs.values():
        without_headroom(config)
    assert errors(fabric) == []
    message = "lossless priority group 3-4 has no BUFFER_PG row: buffermgrd writes it"
    assert of_code(fabric.judge(), "FG514") == {(Severity.NOTE, message)}


def test_planned_headroom_has_rows(small: Path, tmp_path: Path) -> None:
    """The plan of fabric.json has sizes, and buffermgrd would take those of the SKU's table."""
    root = shutil.copytree(small / "bundle", tmp_path / "bundle")
    for file in root.glob("sonic/*/config_db.json"):
        config: Config = json.loads(file.read_bytes())
        without_headroom(config)
        file.write_bytes(dump(config))
    found = {one.severity for one in run(open_bundle([root])) if one.code == "FG514"}
    assert found == {Severity.ERROR}


@pytest.mark.parametrize(
    ("table", "key", "field", "value", "code"),
    [
        ("CABLE_LENGTH", "AZURE", "Ethernet0", None, "FG531"),  # doSpeedUpdateTask retries for ever
        ("CABLE_LENGTH", "AZURE", "Ethernet0", "0m", "FG531"),
        ("CABLE_LENGTH", "AZURE", "Ethernet0", "9999m", "FG539"),  # no row of pg_profile_lookup.ini
        ("PORT", "Ethernet0", "speed", "10000", "FG514"),  # nor for another length of this speed
        ("BUFFER_POOL", "ingress_lossless_pool", "mode", None, "FG514"),  # getPgPoolMode waits for it
        ("PORT_QOS_MAP", "Ethernet0", "pfc_enable", None, "FG514"),
    ],
)
def test_buffermgrd_cannot_write_headroom(table: str, key: str, field: str, value: str | None, code: str) -> None:
    fabric = broken("traditional", lambda configs: without_headroom(configs["leaf1"]))
    without_wiring(fabric)
    row = fabric.configs["leaf1"][table][key]
    row.pop(field)
    if value:
        row[field] = value
    assert code in {one.code for one in fabric.judge() if one.severity is Severity.ERROR and one.device == "leaf1"}


def test_the_dynamic_model_writes_no_group() -> None:
    fabric = broken("dynamic", lambda configs: without_headroom(configs["leaf1"]))
    assert "FG514" in {line.split()[0] for line in errors(fabric)}


def test_traditional_buffers_of_a_switch_that_can_compute_them() -> None:
    """device/mellanox/x86_64-mlnx_msn4700-r0/Mellanox-SN4700-V64/buffers.json.j2: pools have sizes and zero pools."""
    fabric = clean_fabric("dynamic")
    without_wiring(fabric)
    config = fabric.configs["spine1"]
    config["DEVICE_METADATA"]["localhost"]["buffer_model"] = "traditional"
    for pool in config["BUFFER_POOL"].values():
        pool["size"] = "45907968"
    config["BUFFER_POOL"]["ingress_zero_pool"] = {"mode": "static", "type": "ingress", "size": "0"}
    codes = {one.code for one in fabric.judge() if one.device == "spine1"}
    assert "FG225" in codes and not codes & {"FG521", "FG522"}


def test_maps_of_tunnels() -> None:
    """device/mellanox/x86_64-mlnx_msn4700-r0/Mellanox-SN4700-V64/qos.json.j2: TC 8, and uplinks with another map."""
    fabric = clean_fabric()
    for config in fabric.configs.values():
        maps, rows = config["DSCP_TO_TC_MAP"], config["PORT_QOS_MAP"]
        config["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["8"] = "0"
        maps["AZURE_UPLINK"] = {**maps["AZURE"], "2": "5"}
        for port in list(rows)[:2]:
            rows[port]["dscp_to_tc_map"] = "AZURE_UPLINK"
    assert not {one.code for one in fabric.judge()} & {"FG414", "FG441"}


def test_a_port_inside_the_chip_has_one_lane_of_any_speed() -> None:
    """device/nexthop/x86_64-nexthop_5010-r0/NH-5010-F-O32-C32/port_config.ini."""
    fabric = clean_fabric()
    fabric.configs["leaf1"]["PORT"]["Ethernet-Rec0"] = dict(RECIRCULATION)
    assert not {one.code for one in fabric.judge()} & {"FG235", "FG238"}
    fabric.configs["leaf1"]["PORT"]["Ethernet-Rec0"].pop("role")
    assert {"FG235", "FG238"} <= {one.code for one in fabric.judge()}


def test_eth0_with_addresses_of_both_ip_versions() -> None:
    """src/sonic-config-engine/tests/sample-dell-9332-t1-minigraph.xml: ManagementIPInterfaces with IPv4 and IPv6."""
    fabric = clean_fabric()
    rows = fabric.configs["leaf1"]["MGMT_INTERFACE"]
    rows["eth0|fc00:2::32/64"] = {"gwaddr": "fc00:2::1"}
    assert "FG320" not in {one.code for one in fabric.judge()}
    rows["eth0|10.255.0.77/20"] = dict(rows["eth0|10.255.0.10/20"])
    found = of_code(fabric.judge(), "FG320")
    assert found == {(Severity.ERROR, "eth0 has 10.255.0.77, but the allocated address is 10.255.0.10")}
