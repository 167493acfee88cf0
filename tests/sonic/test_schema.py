"""The built-in schema check: every kind of violation, every table, and any JSON."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.growth import calls
from fabricgen.resources import resource
from fabricgen.sonic.dump import dump
from fabricgen.sonic.load import TableLoader
from fabricgen.sonic.schema import Clean, Violation, check, field_names, table_names
from fabricgen.sonic.schema.tables import table_schema
from tests.examples import examples

Config = dict[str, dict[str, dict[str, Any]]]
SCHEMA = json.loads(resource("schemas", "config_db.json").read_text())


def leaf_switch(ports: int = 2) -> Config:
    """A small file with the tables that carry lossless traffic."""
    names = [f"Ethernet{8 * n}" for n in range(ports)]
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "type": "ToRRouter", "mac": "00:11:22:33:44:55"}},
        "PORT": {
            name: {"lanes": f"{2 * n},{2 * n + 1}", "alias": f"etp{n}", "speed": "400000", "fec": "rs", "mtu": "9100"}
            for n, name in enumerate(names)
        },
        "INTERFACE": {name: {} for name in names} | {f"{name}|10.0.{n}.0/31": {} for n, name in enumerate(names)},
        "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.1.0.1/32": {}},
        "MGMT_PORT": {"eth0": {"alias": "eth0"}},
        "MGMT_INTERFACE": {"eth0|10.255.0.2/20": {"gwaddr": "10.255.0.1"}},
        "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "1000"}},
        "BUFFER_PROFILE": {"p": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "-2"}},
        "BUFFER_PG": {f"{name}|3-4": {"profile": "p"} for name in names},
        "DSCP_TO_TC_MAP": {"AZURE": {"26": "3", "48": "6"}},
        "PORT_QOS_MAP": {name: {"dscp_to_tc_map": "AZURE", "pfc_enable": "3,4"} for name in names},
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(names, "40m")},
        "WRED_PROFILE": {"w": {"ecn": "ecn_all", "green_min_threshold": "1", "green_max_threshold": "2"}},
        "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, names[0]: {"detection_time": "200", "restoration_time": "200"}},
        "SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["SRC_IP", "DST_IP"]}},
        "NTP": {"global": {"vrf": "default"}},
        "VLAN": {"Vlan10": {"vlanid": "10"}},
    }


def violations(table: str, key: str, **fields: Any) -> list[Violation]:
    """What the check says once these fields of one row are changed; None removes a field."""
    config = leaf_switch()
    row = config.setdefault(table, {}).setdefault(key, {})
    row.update(fields)
    for name, value in fields.items():
        if value is None:
            del row[name]
    return check(config)


def test_a_good_file_has_no_violation() -> None:
    assert check(leaf_switch()) == []


@pytest.mark.parametrize(
    ("table", "key", "fields", "kind"),
    [
        ("PORT", "Ethernet0", {"fec": "rs544"}, "bad-enum"),
        ("PORT", "Ethernet0", {"mtu": "99999"}, "out-of-range"),
        ("PORT", "Ethernet0", {"mtu": " 9100"}, "wrong-type"),
        ("PORT", "Ethernet0", {"mtu": 9100}, "not-text"),
        ("PORT", "Ethernet0", {"mtu": ["9100"]}, "wrong-type"),
        ("PORT", "Ethernet0", {"mtu": "9" * 5000}, "wrong-type"),
        ("PORT", "Ethernet0", {"speed": None}, "missing-field"),
        ("PORT", "Ethernet0", {"lanes": None}, "missing-field"),
        ("PORT", "Ethernet0", {"adv_speeds": "all,400000"}, "must"),
        ("DEVICE_METADATA", "localhost", {"mac": "001122334455"}, "bad-pattern"),
        ("DEVICE_METADATA", "localhost", {"hostname": "x" * 64}, "out-of-range"),
        ("DEVICE_METADATA", "localhost", {"frr_mgmt_framework_config": True}, "wrong-type"),
        ("PORT", "Ethernet0", {"mtu": 99999}, "wrong-type"),
        ("DEVICE_METADATA", "local", {}, "wrong-key"),
        ("INTERFACE", "Ethernet999", {}, "dangling-reference"),
        ("INTERFACE", "Ethernet0|10.0.0.0/31", {"family": "IPv6"}, "must"),
        ("INTERFACE", "Ethernet0|10.0.0.0/33", {}, "wrong-key"),
        ("INTERFACE", "Ethernet0|10.0.0.0/31|x", {}, "wrong-key"),
        ("LOOPBACK_INTERFACE", "Loopback1|10.1.0.2/32", {}, "dangling-reference"),
        ("MGMT_INTERFACE", "eth0|10.255.0.2/20", {"gwaddr": "fc00::1"}, "must"),
        ("MGMT_INTERFACE", "eth0|10.255.0.2/20", {"gwaddr": None}, "must"),
        ("BUFFER_POOL", "ingress_lossless_pool", {"size": "14MB"}, "wrong-type"),
        ("BUFFER_POOL", "ingress_lossless_pool", {"percentage": "50"}, "must"),
        ("BUFFER_PROFILE", "p", {"pool": "[BUFFER_POOL|ingress_lossless_pool]"}, "dangling-reference"),
        ("BUFFER_PROFILE", "p", {"dynamic_th": "99"}, "out-of-range"),
        ("BUFFER_PG", "Ethernet0|3-4", {"profile": "q"}, "dangling-reference"),
        ("BUFFER_PG", "Ethernet0|9", {"profile": "p"}, "wrong-key"),
        ("DSCP_TO_TC_MAP", "AZURE", {"64": "1"}, "bad-pattern"),
        ("DSCP_TO_TC_MAP", "AZURE", {"26": "x"}, "wrong-type"),
        ("PORT_QOS_MAP", "Ethernet0", {"pfc_enable": "3,9"}, "bad-pattern"),
        ("PORT_QOS_MAP", "Ethernet0", {"pfc_watchdog_status": "enable"}, "unknown-field"),
        ("PORT_QOS_MAP", "Ethernet0", {"dscp_to_tc_map": "AZUER"}, "dangling-reference"),
        ("CABLE_LENGTH", "AZURE", {"Ethernet0": "0.5m"}, "bad-pattern"),
        ("WRED_PROFILE", "w", {"green_max_threshold": "0"}, "must"),
        ("WRED_PROFILE", "w", {"green_min_threshold": None}, "must"),
        ("WRED_PROFILE", "w", {"green_drop_probability": "150"}, "out-of-range"),
        ("PFC_WD", "Ethernet0", {"detection_time": "100"}, "must"),
        ("PFC_WD", "Ethernet0", {"POLL_INTERVAL": "200"}, "must"),
        ("PFC_WD", "GLOBAL", {"action": "drop"}, "must"),
        ("SWITCH_HASH", "GLOBAL", {"ecmp_hash": "SRC_IP"}, "wrong-type"),
        ("SWITCH_HASH", "GLOBAL", {"ecmp_hash": ["SRC_IPS"]}, "bad-enum"),
        ("NTP", "global", {"vrf": "mgmt"}, "must"),
        ("SYSLOG_SERVER", "10.0.0.1", {"vrf": "mgmt"}, "must"),
        ("SYSLOG_SERVER", "10.0.0.1", {"source": "fc00::1"}, "must"),
        ("VLAN", "Vlan10", {"vlanid": "11"}, "must"),
        ("VLAN_MEMBER", "Vlan10|Ethernet0", {"tagging_mode": "untagged"}, "must"),
        ("BGP_NEIGHBOR", "10.0.0.1", {"asn": "0"}, "must"),
        ("BGP_PEER_RANGE", "hosts", {"name": "host", "ip_range": ["10.0.0.0/24"]}, "must"),
        ("SCHEDULER", "s", {"type": "DWRR", "weight": "300"}, "out-of-range"),
        ("SCHEDULER", "s", {"pir": "100"}, "must"),
        ("CRM", "Config", {"acl_group_high_threshold": "70", "acl_group_low_threshold": "85"}, "must"),
        ("AAA", "authentication", {"login": "tacacs+,local"}, "must"),
        ("PORTS", "Ethernet0", {}, "unknown-table"),
    ],
)
def test_one_defect_one_violation(table: str, key: str, fields: dict[str, Any], kind: str) -> None:
    found = violations(table, key, **fields)
    assert [(violation.kind, violation.table) for violation in found] == [(kind, table)]
    assert found[0].field in ("", *fields, "green_max_threshold")
    assert found[0].message
    if kind != "unknown-table":
        assert found[0].key == key


@pytest.mark.parametrize(
    ("table", "key", "fields", "hint"),
    [
        ("PORT", "Ethernet0", {"fec": "rss"}, "did you mean 'rs'?"),
        ("PORT_QOS_MAP", "Ethernet0", {"pfc_wd_sw_enable": "3"}, "did you mean 'pfcwd_sw_enable'?"),
        ("PORT_QOS_MAP", "Ethernet0", {"dscp_to_tc_map": "AZUER"}, "did you mean 'AZURE'?"),
        ("PORTS", "Ethernet0", {}, "did you mean 'PORT'?"),
        ("DEVICE_METADATA", "localhos", {}, "did you mean 'localhost'?"),
        ("PORT", "Ethernet0", {"mtu": 9100}, 'write "9100"'),
        ("PORT", "Ethernet0", {"mux_cable": True}, 'write "true"'),
        # swss cfgmgr/intfmgr.cpp reads vrf_name in the row of the interface alone
        ("INTERFACE", "Ethernet0|10.0.0.0/31", {"vrf_name": "Vrf1"}, "write it into the row Ethernet0"),
    ],
)
def test_hints_name_the_nearest_word(table: str, key: str, fields: dict[str, Any], hint: str) -> None:
    assert [violation.hint for violation in violations(table, key, **fields)] == [hint]


def test_a_type_that_allows_only_the_empty_text() -> None:
    found = violations("ACL_TABLE", "A", ports=["Ethernet999"], type="L3", stage="ingress")
    assert found and found[0].message.endswith("and 'Ethernet999' is not the empty text")


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ({"QUEUE": {"leaf1|asic0|Ethernet0|0": {}}}, ("QUEUE", "leaf1|asic0|Ethernet0|0", "")),
        ({"CRM": {"Config": {"dash_eni_threshold_type": "used"}}}, ("CRM", "Config", "dash_eni_threshold_type")),
        ({"POLICER": {"p": {"meter_type": "bytes", "mode": "sr_tcm", "pir": "1"}}}, ("POLICER", "p", "pir")),
        ({"MIRROR_SESSION": {"m": {"dst_port": "Ethernet0"}}}, ("MIRROR_SESSION", "m", "dst_port")),
    ],
)
def test_fields_and_rows_that_are_only_for_some_cases(rows: Config, place: tuple[str, str, str]) -> None:
    found = check(leaf_switch() | rows)
    assert place in [
        (violation.table, violation.key, violation.field) for violation in found if violation.kind == "must"
    ]


def test_a_chassis_has_queues_of_its_own_kind() -> None:
    config = leaf_switch() | {"QUEUE": {"Ethernet0|0": {}}}
    assert check(config) == []
    config["DEVICE_METADATA"]["localhost"]["switch_type"] = "voq"
    del config["PORT"]["Ethernet0"]["lanes"], config["PORT"]["Ethernet8"]["lanes"]
    assert [(violation.kind, violation.key) for violation in check(config)] == [("must", "Ethernet0|0")]


def test_what_one_file_has_says_nothing_about_the_next() -> None:
    """The check remembers clean keys and rows; references, and defects, are judged in every file."""
    config = leaf_switch()
    assert check(config) == []
    del config["DSCP_TO_TC_MAP"], config["BUFFER_PROFILE"]
    missing = [(violation.kind, violation.table, violation.field) for violation in check(config)]
    assert (
        missing
        == [("dangling-reference", "BUFFER_PG", "profile")] * 2
        + [("dangling-reference", "PORT_QOS_MAP", "dscp_to_tc_map")] * 2
    )
    assert check(config) == check(config)
    assert check(leaf_switch()) == []
    assert {violation.kind for violation in check({"INTERFACE": leaf_switch()["INTERFACE"]})} == {"dangling-reference"}


def test_base_row_of_an_address() -> None:
    config = leaf_switch()
    del config["INTERFACE"]["Ethernet8"]
    assert [(violation.kind, violation.key) for violation in check(config)] == [("must", "Ethernet8|10.0.1.0/31")]


def test_row_limit_and_unique_fields() -> None:
    servers = {f"10.0.0.{n}": {} for n in range(1, 13)}
    assert [violation.key for violation in check({"NTP_SERVER": servers})] == ["10.0.0.11"]
    agents: Config = {"SNMP_AGENT_ADDRESS_CONFIG": {"10.0.0.1|161|mgmt": {}, "10.0.0.1|161|": {}}}
    assert any("agent_ip, port" in violation.message for violation in check(agents))


def test_a_defect_in_equal_rows_is_found_in_each() -> None:
    config = leaf_switch()
    for row in config["PORT_QOS_MAP"].values():
        row["pfc_enable"] = "3;4"
    assert [violation.key for violation in check(config)] == ["Ethernet0", "Ethernet8"]


@pytest.mark.parametrize("rows", [None, [], "x", 1, {"a": None}, {"a": []}, {"a": {"b": {}}}, {"a": {"b": [1]}}])
@pytest.mark.parametrize("table", ["PORT", "INTERFACE", "DEVICE_METADATA", "DSCP_TO_TC_MAP", "PFC_WD", "VLAN_MEMBER"])
def test_tables_of_any_shape_are_judged(table: str, rows: Any) -> None:
    assert all(isinstance(violation, Violation) for violation in check({table: rows}))
    if not isinstance(rows, dict):
        assert [violation.kind for violation in check({table: rows})] == ["wrong-type"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_never_raises(data: st.DataObject) -> None:
    """Any table, any kind of row, known and unknown fields, any JSON as value."""
    table = data.draw(st.sampled_from(sorted(table_names())))
    names = st.sampled_from(sorted(field_names(table) | {"x"}))
    row = st.dictionaries(names | st.text(max_size=5), json_values, max_size=4)
    keys = st.sampled_from(["", "a", "a|b", "a|b|c", "|", "GLOBAL", "Config", "localhost", "Ethernet0|10.0.0.0/31"])
    config = {table: data.draw(st.dictionaries(keys, row | json_values, max_size=3) | json_values)}
    before = copy.deepcopy(config)
    assert all(violation.table == table for violation in check(config))
    assert config == before


@pytest.mark.parametrize("table", sorted(SCHEMA["tables"]))
def test_schema_line_compiles(table: str) -> None:
    """Patterns, types and key leaves exist; every reference ends at a table, a kind of row and a leaf of it."""
    schema = table_schema(table)
    assert schema
    targets: list[str] = []

    def known_values(target: str) -> list[str]:
        targets.append(target)
        return []

    for kind in [*schema.by_key_length.values(), *schema.by_name.values()]:
        assert set(kind.required) <= set(kind.fields)
        assert {name for name, _ in kind.keys} <= set(kind.fields)
        for judge in [spec.judge for spec in kind.fields.values()] + list(kind.entries or ()):
            judge("\x00", known_values)
    for target in targets:
        other, name, leaf = target.split("/")
        found = table_schema(other)
        assert found, target
        kinds = {kind.name: kind for kind in [*found.by_key_length.values(), *found.by_name.values()]}
        assert leaf in kinds[name].fields, target


def test_the_work_on_a_switch_grows_with_its_ports() -> None:
    """A bundle has hundreds of files of 128 ports: four times the ports take four times the calls, not more."""

    def work(ports: int) -> int:
        config = leaf_switch(ports)
        queues = {f"{port}|{queue}": {"scheduler": "s"} for port in config["PORT"] for queue in range(8)}
        config |= {"SCHEDULER": {"s": {"type": "DWRR", "weight": "15"}}, "QUEUE": queues}
        assert check(config) == []
        return calls(lambda: check(config))

    assert work(128) < 4.1 * work(32)


def test_clean_tables_of_one_file_are_not_trusted_in_another_with_other_rows() -> None:
    """The same text of INTERFACE is valid only where PORT has the ports that it refers to."""
    loader, clean = TableLoader(), Clean()
    config = leaf_switch()
    assert check(loader.load(dump(config)), clean) == []
    assert clean.tables and clean.musts
    del config["PORT"]["Ethernet8"]
    text = dump(config)
    assert check(loader.load(text), clean) == check(json.loads(text)) != []


def test_clean_tables_are_not_checked_again() -> None:
    loader, clean = TableLoader(), Clean()
    text = dump(leaf_switch())
    check(loader.load(text), clean)
    known = dict(clean.tables)
    assert "PORT" in {table for table, _ in known}
    check(loader.load(text), clean)
    assert clean.tables == known
    check(TableLoader().load(text), clean)  # another loader, other objects
    assert len(clean.tables) == 2 * len(known)


_ODD = st.sampled_from(
    ["", "x", "Ethernet0", "Ethernet99", "10.0.0.1", "10.0.0.0/31", "10.0.0.300/31", "up", 1, True, ["up"], None]
)
_EDITS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), _ODD), max_size=3)


@given(_EDITS)
@settings(max_examples=examples(60), deadline=None)
def test_columns_find_what_rows_show(edits: list[tuple[int, int, int, Any]]) -> None:
    """A table is accepted by its columns only if no row has a violation, whatever a file contains."""
    config = leaf_switch()
    for table, row, field, value in edits:
        rows = [*config.values()][table % len(config)]
        key = [*rows][row % len(rows)] if rows else "Ethernet0"
        if field % 5 == 0:
            rows[key if isinstance(value, str) and not value else f"{key}|{value}"] = {}
        elif field % 5 == 1 or not isinstance(rows.get(key), dict):
            rows[key] = value
        else:
            rows[key][([*rows[key], "mtu", "zzz"])[field % (len(rows[key]) + 2)]] = value
    found = check(config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fabricgen.sonic.schema.judge.columns", lambda _schema, _rows: None)
        assert check(config) == found


@pytest.mark.parametrize(
    ("table", "key", "field"),
    [
        ("MACSEC_PROFILE", "p1", "primary_cak"),
        ("SNMP_USER", "nms", "SNMP_USER_AUTH_PASSWORD"),
        ("TACPLUS", "global", "passkey"),
        ("BGP_NEIGHBOR", "default|10.0.0.1", "auth_password"),
    ],
)
def test_the_content_of_a_secret_is_not_judged(table: str, key: str, field: str) -> None:
    broken = "$ " * 200
    problems = {one.field for one in check({table: {key: {field: broken}}})}
    kept = {one.field for one in check({table: {key: {field: "${secret:path/of/it}"}}})}
    assert field not in kept and kept == problems - {field}
