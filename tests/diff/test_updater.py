"""What the generic config updater does with changes: its own rules, one by one."""

from typing import Any

import jsonpatch
import pytest

from fabricgen.diff.changes import changes
from fabricgen.sonic.updater.verdicts import Cost

ARISTA, DELL = "Arista-7060X6-64PE-O128S2", "DellEMC-Z9664f-O64"
WATCHDOG = {"action": "drop", "detection_time": "400", "restoration_time": "400"}
BASE: dict[str, Any] = {
    "ACL_RULE": {"DATA|R1": {"PRIORITY": "1"}, "CTRL|R1": {"PRIORITY": "1"}},
    "ACL_TABLE": {"DATA": {"type": "L3"}, "CTRL": {"type": "CTRLPLANE"}},
    "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65001", "admin_status": "up"}},
    "BREAKOUT_CFG": {"Ethernet0": {"brkout_mode": "1x800G"}},
    "BUFFER_PG": {"Ethernet0|3-4": {"profile": "p"}, "Ethernet8|3-4": {"profile": "p"}},
    "BUFFER_POOL": {"pool": {"mode": "dynamic", "size": "1"}},
    "BUFFER_PROFILE": {"p": {"dynamic_th": "0", "xoff": "1", "size": "1"}},
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
    "DEVICE_METADATA": {"localhost": {"hwsku": ARISTA, "buffer_model": "traditional", "platform": "x"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "4096"}},
    "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.0.0.9/32": {}},
    "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": WATCHDOG},
    "PORT": {
        "Ethernet0": {"admin_status": "up", "lanes": "1", "mtu": "9100", "speed": "400000"},
        "Ethernet8": {"admin_status": "down", "lanes": "2"},
    },
    "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "A"}, "Ethernet0": {"pfc_enable": "3,4"}},
    "WRED_PROFILE": {"W": {"green_min_threshold": "1"}},
}

# (TABLE, key, field or None for the row, new value or None to remove, cost, part of the reason) on release 202511
CASES: list[tuple[str, str, str | None, Any, Cost, str]] = [
    ("BGP_NEIGHBOR", "10.0.0.3", None, {"asn": "65002"}, Cost.CHEAP, ""),
    ("BGP_NEIGHBOR", "10.0.0.1", "asn", "65009", Cost.CHEAP, "10.0.0.1 is removed and added again"),
    ("BGP_NEIGHBOR", "10.0.0.1", "admin_status", "down", Cost.CHEAP, ""),
    ("WRED_PROFILE", "W", "green_min_threshold", "2", Cost.CHEAP, ""),
    ("PORT", "Ethernet0", "mtu", "9000", Cost.CHEAP, ""),
    ("PORT", "Ethernet0", "fec", "rs", Cost.PORT_FLAP, "takes the port down"),
    ("PORT", "Ethernet0", "fec", "turbo", Cost.RELOAD, "port_config_update_validator"),
    ("PORT", "Ethernet0", "speed", "800000", Cost.PORT_FLAP, "takes the port down"),
    ("PORT", "Ethernet0", "lanes", "5", Cost.RELOAD, "get their lanes"),
    ("PORT", "Ethernet16", None, {"lanes": "9"}, Cost.RELOAD, "ports are created"),
    ("BREAKOUT_CFG", "Ethernet0", "brkout_mode", "2x400G", Cost.CHEAP, "only `config interface breakout` reads it"),
    ("BUFFER_PG", "Ethernet0|3-4", "profile", "q", Cost.PORT_FLAP, "Ethernet0 goes down and up"),
    ("BUFFER_PG", "Ethernet8|3-4", "profile", "q", Cost.CHEAP, ""),  # down already
    ("PORT_QOS_MAP", "Ethernet0", "pfc_enable", "3", Cost.PORT_FLAP, "Ethernet0"),
    ("PORT_QOS_MAP", "global", "dscp_to_tc_map", "B", Cost.CHEAP, ""),
    ("QUEUE", "Ethernet0|3", None, {"scheduler": "S"}, Cost.PORT_FLAP, "Ethernet0"),
    ("BUFFER_POOL", "pool", "size", "2", Cost.RELOAD, "add up only together"),
    ("BUFFER_PROFILE", "p", "dynamic_th", "1", Cost.GUARDED, "accepts it on th5"),
    ("BUFFER_PROFILE", "p", "xoff", "2", Cost.GUARDED, "accepts it on th5"),
    ("BUFFER_PROFILE", "p", "xoff", None, Cost.RELOAD, "refuses to remove BUFFER_PROFILE|p xoff"),
    ("BUFFER_PROFILE", "p", "size", "2", Cost.RELOAD, "refuses to replace BUFFER_PROFILE|p size"),
    ("BUFFER_PROFILE", "q", None, {"size": "1"}, Cost.GUARDED, "accepts it"),
    ("BUFFER_PROFILE", "p", None, None, Cost.RELOAD, "whole table BUFFER_PROFILE"),
    ("PFC_WD", "Ethernet0", "detection_time", "200", Cost.CHEAP, ""),
    ("PFC_WD", "Ethernet0", "action", "forward", Cost.RELOAD, "refuses action forward while drop is set"),
    ("PFC_WD", "Ethernet8", None, WATCHDOG, Cost.CHEAP, ""),
    ("PFC_WD", "Ethernet8", None, WATCHDOG | {"action": "alert"}, Cost.RELOAD, "alert while drop is set"),
    ("PFC_WD", "Ethernet0", None, None, Cost.CHEAP, ""),
    ("PFC_WD", "GLOBAL", "POLL_INTERVAL", "300", Cost.CHEAP, ""),
    ("PFC_WD", "GLOBAL", "POLL_INTERVAL", None, Cost.RELOAD, "remove PFC_WD|GLOBAL POLL_INTERVAL"),
    ("PFC_WD", "GLOBAL", None, None, Cost.RELOAD, "remove PFC_WD|GLOBAL"),
    ("PFC_WD", "GLOBAL", "BIG_RED_SWITCH", "enable", Cost.RELOAD, "BIG_RED_SWITCH"),
    ("DEVICE_METADATA", "localhost", "buffer_model", "dynamic", Cost.RELOAD, "services start"),
    ("DEVICE_METADATA", "localhost", "hostname", "other", Cost.CHEAP, "hostcfgd"),
    ("DEVICE_METADATA", "localhost", "timezone", "Asia/Tokyo", Cost.CHEAP, "restarts rsyslog"),
    ("DEVICE_METADATA", "localhost", "cloudtype", "Public", Cost.CHEAP, "no program"),
    ("DEVICE_METADATA", "localhost", "bgp_asn", "65009", Cost.RELOAD, "services start"),
    ("DEVICE_METADATA", "localhost", "syslog_with_osversion", "true", Cost.CHEAP, "rsyslog-config"),
    ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "over_subscribe_ratio", "2", Cost.CHEAP, "shared headroom"),
    ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "default_dynamic_th", "1", Cost.RELOAD, "profiles that exist"),
    ("LOSSLESS_TRAFFIC_PATTERN", "AZURE", "mtu", "9216", Cost.RELOAD, "headroom script"),
    ("SNMP_COMMUNITY", "public", None, {"TYPE": "RO"}, Cost.CHEAP, "systemctl restart snmp"),
    ("DEVICE_METADATA", "localhost", "hwsku", "other", Cost.REBOOT, "boot"),
    ("LOOPBACK_INTERFACE", "Loopback0", None, None, Cost.RELOAD, "remove LOOPBACK_INTERFACE|Loopback0"),
    ("LOOPBACK_INTERFACE", "Loopback0", "vrf_name", "Vrf1", Cost.CHEAP, "added again"),
    ("NO_SUCH_TABLE", "x", None, {}, Cost.RELOAD, "no YANG model"),
]


def edited(base: dict[str, Any], table: str, key: str, field: str | None, value: Any) -> dict[str, Any]:
    new: dict[str, Any] = {name: {row: dict(fields) for row, fields in rows.items()} for name, rows in base.items()}
    row = new.setdefault(table, {})
    where, name = (row, key) if field is None else (row.setdefault(key, {}), field)
    if value is None:
        del where[name]
    else:
        where[name] = value
    return new


@pytest.mark.parametrize(("table", "key", "field", "value", "cost", "reason"), CASES)
def test_cost(table: str, key: str, field: str | None, value: Any, cost: Cost, reason: str) -> None:
    (change,) = changes(BASE, edited(BASE, table, key, field, value), 202511)
    assert change.verdict.cost is cost and reason in change.verdict.reason


@pytest.mark.parametrize(
    ("table", "key", "field", "value"),
    [("PFC_WD", "Ethernet0", "detection_time", "200"), ("BUFFER_PROFILE", "p", "xoff", "2")],
)
def test_an_unknown_asic_makes_it_a_reload(table: str, key: str, field: str, value: str) -> None:
    base = edited(BASE, "DEVICE_METADATA", "localhost", "hwsku", DELL)
    (change,) = changes(base, edited(base, table, key, field, value))
    assert change.verdict.cost is Cost.RELOAD and DELL in change.verdict.reason


def test_the_first_watchdog_row_is_refused_and_the_last_is_not() -> None:
    without = {table: rows for table, rows in BASE.items() if table != "PFC_WD"}
    assert {change.verdict.cost for change in changes(without, BASE)} == {Cost.RELOAD}
    assert {change.verdict.cost for change in changes(BASE, without)} == {Cost.CHEAP}


@pytest.mark.parametrize(("acl", "other", "cost"), [("DATA", "L3V6", Cost.RELOAD), ("CTRL", "L3", Cost.CHEAP)])
def test_a_data_acl_may_not_change_type_and_rules_at_once(acl: str, other: str, cost: Cost) -> None:
    new = edited(edited(BASE, "ACL_TABLE", acl, "type", other), "ACL_RULE", f"{acl}|R1", "PRIORITY", "2")
    assert {change.verdict.cost for change in changes(BASE, new)} == {cost}
    (alone,) = changes(BASE, edited(BASE, "ACL_TABLE", acl, "type", other))
    assert alone.verdict.cost is Cost.CHEAP


def test_costs_have_an_order() -> None:
    assert sorted(Cost, key=lambda cost: cost.rank) == ["cheap", "port flap", "guarded", "reload", "reboot"]


def test_trimming_of_the_profile_of_an_egress_list_needs_a_reload_with_dynamic_buffers() -> None:
    base = edited(BASE, "BUFFER_PORT_EGRESS_PROFILE_LIST", "Ethernet0", None, {"profile_list": "p,q"})
    trimmed = ("BUFFER_PROFILE", "p", "packet_discard_action", "trim")
    (change,) = changes(base, edited(base, *trimmed), 202511)
    assert change.verdict.cost is Cost.GUARDED
    dynamic = edited(base, "DEVICE_METADATA", "localhost", "buffer_model", "dynamic")
    (change,) = changes(dynamic, edited(dynamic, *trimmed), 202511)
    assert change.verdict.cost is Cost.RELOAD and "egress list" in change.verdict.reason


@pytest.mark.parametrize(
    ("table", "old", "new", "row"),
    [("PFC_WD", "Ethernet0", "Ethernet8", WATCHDOG), ("BUFFER_PROFILE", "p", "q", {"size": "1", "xoff": "1"})],
)
def test_a_row_under_another_key_is_a_move_that_no_validator_accepts(
    table: str, old: str, new: str, row: dict[str, str]
) -> None:
    before = edited(edited(BASE, table, old, None, row), table, "stays", None, row | {"xoff": "7"})
    after = edited(edited(before, table, old, None, None), table, new, None, row)
    assert {operation["op"] for operation in jsonpatch.make_patch(before, after)} == {"move"}
    assert [change.verdict.cost for change in changes(before, after, 202511) if change.op == "add"] == [Cost.RELOAD]
    apart = edited(before, table, new, None, row)
    assert Cost.RELOAD not in {change.verdict.cost for change in changes(before, apart, 202511)}


def test_the_running_configuration_names_its_release() -> None:
    old = BASE | {"VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}}}
    (change,) = changes(old, edited(old, "BUFFER_PROFILE", "q", None, {"size": "1"}), 202605)
    assert change.verdict.refused_by == "rdma_config_update_validator" and "release 202505" in change.verdict.reason
