"""Faults that a template makes on all switches are found as on one switch: no rule needs a peer that is right."""

from collections.abc import Callable

import pytest

from fabricgen.findings import Severity
from tests.rules.clean import Config, broken

LEAF_TO_SPINE, SPINE_TO_LEAF = "Ethernet256", "Ethernet0"


def _rows(table: str, rows: dict[str, dict[str, object]]) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        for key, row in rows.items():
            config.setdefault(table, {}).setdefault(key, {}).update(row)

    return change


def _acl(service: str, **fields: str) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        config["ACL_TABLE"] = {"ONLY": {"type": "CTRLPLANE", "policy_desc": "x", "services": [service]}}
        config["ACL_RULE"] = {"ONLY|R1": {"PRIORITY": "9", "PACKET_ACTION": "ACCEPT", **fields}}

    return change


def no_probability(config: Config) -> None:
    for row in config["WRED_PROFILE"].values():
        row.pop("green_drop_probability")


def no_subports(config: Config) -> None:
    for row in config["PORT"].values():
        row.pop("subport")


def port_shaper(config: Config) -> None:
    config["SCHEDULER"]["shaper"] = {"type": "STRICT", "cir": "1", "pir": "2500000000"}
    for row in config["PORT_QOS_MAP"].values():
        if row.get("pfc_enable"):
            row["scheduler"] = "shaper"


def one_port_without_map(config: Config) -> None:
    config["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": "AZURE"}
    next(row for row in config["PORT_QOS_MAP"].values() if row.get("pfc_enable")).pop("dscp_to_tc_map")


def other_map_of_the_switch(config: Config) -> None:
    config["DSCP_TO_TC_MAP"]["OTHER"] = {**config["DSCP_TO_TC_MAP"]["AZURE"], "26": "1"}
    config["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": "OTHER"}


def fast_counters(config: Config) -> None:
    config["FLEX_COUNTER_TABLE"]["QUEUE"]["POLL_INTERVAL"] = "1"


KINDS: list[tuple[str, Callable[[Config], None]]] = [
    ("FG300", _rows("COPP_GROUP", {"queue4_group1": {"trap_action": "deny"}})),
    ("FG300", _rows("COPP_GROUP", {"queue4_group1": {"green_action": "drop"}})),
    ("FG300", _rows("COPP_TRAP", {"bgp": {"NULL": "NULL"}})),
    ("FG301", _acl("SNMP", SRC_IP="10.0.0.0/8")),
    ("FG301", _acl("SSH", SRC_IP="0.0.0.0/0", PACKET_ACTION="DROP")),
    ("FG303", _acl("HTTP", SRC_IP="10.0.0.0/8")),
    ("FG559", _rows("MIRROR_SESSION", {"m": {"src_ip": "10.0.0.1", "dst_ip": "10.64.0.9", "dscp": "34"}})),
    ("FG560", _rows("MIRROR_SESSION", {"m": {"type": "SPAN", "dst_port": "Ethernet0", "src_port": "Ethernet4"}})),
    ("FG550", port_shaper),
    ("FG542", no_probability),
    ("FG279", _rows("BGP_DEVICE_GLOBAL", {"STATE": {"idf_isolation_state": "isolated_withdraw_all"}})),
    ("FG357", _rows("FEATURE", {"pmon": {"state": "always_disabled"}})),
    ("FG357", _rows("FEATURE", {"swss": {"state": "disabled"}})),
    ("FG357", _rows("FEATURE", {"lldp": {"state": "disabled"}})),
    ("FG362", _rows("FEATURE", {"bgp": {"state": "disabled"}})),
    ("FG232", no_subports),
    ("FG414", other_map_of_the_switch),
    ("FG511", one_port_without_map),
    ("FG406", fast_counters),
    ("FG305", _rows("BGP_PEER_RANGE", {"ALL": {"src_address": "10.0.0.1", "ip_range": ["10.0.0.0/8"]}})),
    ("FG305", _rows("BGP_GLOBALS_LISTEN_PREFIX", {"default|0.0.0.0/0": {"peer_group": "x"}})),
    ("FG415", _rows("NAT_POOL", {"pool1": {"nat_ip": "192.0.2.1"}})),
]


@pytest.mark.parametrize("everywhere", [False, True], ids=["one", "all"])
@pytest.mark.parametrize(("code", "change"), KINDS, ids=[f"{code}-{n}" for n, (code, _) in enumerate(KINDS)])
def test_a_fault_is_found_on_one_switch_and_on_all(
    code: str, change: Callable[[Config], None], everywhere: bool
) -> None:
    def changed(configs: dict[str, Config]) -> None:
        for name, config in configs.items():
            if everywhere or name == "leaf1":
                change(config)

    found = [one for one in broken("traditional", changed).judge(code) if one.code == code]
    assert {name for one in found for name in (one.devices or (one.device,))} >= {"leaf1"}
    assert code == "FG415" or {one.severity for one in found} <= {Severity.ERROR, Severity.WARNING}


@pytest.mark.parametrize("everywhere", [False, True], ids=["one", "all"])
def test_macsec_at_one_end_of_every_link(everywhere: bool) -> None:
    profile = {"priority": "64", "primary_cak": "${secret:cak}", "primary_ckn": "1" * 64, "policy": "security"}

    def changed(configs: dict[str, Config]) -> None:
        for name in ("leaf1", "leaf2", "leaf3") if everywhere else ("leaf1",):
            configs[name]["MACSEC_PROFILE"] = {"p1": dict(profile)}
            configs[name]["PORT"][LEAF_TO_SPINE]["macsec"] = "p1"

    found = [one for one in broken("traditional", changed).judge("FG277") if one.code == "FG277"]
    assert [one.device for one in found] == ["spine1"] * (3 if everywhere else 1)
    assert found[0].path == f"PORT|{SPINE_TO_LEAF}|macsec"
