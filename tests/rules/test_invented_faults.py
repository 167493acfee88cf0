"""Forty faults of tables and fields that no list of faults had when the rules were written, on one switch and on all.

Each is what a person or a template may write: SONiC takes it without a message, or with one that is only in a log.
The comment beside a fault names the reader in SONiC. Two more are not judged: the coverage line says so.
"""

from collections.abc import Callable, Mapping
from functools import cache

import pytest

from fabricgen.findings import Severity
from tests.rules.clean import Config, broken
from tests.rules.fabrics import framework

Change = Callable[[Config], object]
UPLINKS = {"leaf": "Ethernet256", "spin": "Ethernet0"}


def uplink(config: Config) -> str:
    """A port to another switch."""
    return UPLINKS[str(config["DEVICE_METADATA"]["localhost"]["hostname"])[:4]]


def put(table: str, key: str, **row: object) -> Change:
    return lambda config: config.setdefault(table, {}).setdefault(key, {}).update(row)


def at_port(table: str, key: str = "{}", **row: object) -> Change:
    """A row of an uplink."""
    return lambda config: config.setdefault(table, {}).setdefault(key.format(uplink(config)), {}).update(row)


def each(table: str, **row: object) -> Change:
    """Fields of all rows."""
    return lambda config: [fields.update(row) for key, fields in config[table].items() if key != "global"]


def several(*changes: Change) -> Change:
    return lambda config: [change(config) for change in changes]


def metadata(**row: str) -> Change:
    return put("DEVICE_METADATA", "localhost", **row)


def acl(stage: str, **rule: str) -> Change:
    return several(
        lambda config: config.update(
            ACL_TABLE={"D": {"type": "L3", "stage": stage, "ports": [uplink(config)], "policy_desc": "d"}}
        ),
        put("ACL_RULE", "D|1", PRIORITY="10", PACKET_ACTION="DROP", **rule),
    )


def copies(**row: str) -> Change:
    return put("MIRROR_SESSION", "m", **{"type": "ERSPAN", "src_ip": "10.0.0.1", "dst_ip": "10.0.0.3", **row})


NUMBERED: Mapping[str, Change] = {
    "copies with a TTL of 1": copies(ttl="1"),  # mirrororch, at each router
    "a collector without a route": copies(dst_ip="172.16.0.9"),  # mirrororch getNeighborInfo
    "copies with the source of another switch": copies(src_ip="10.0.0.2"),
    "parameters of the dynamic model": put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", default_dynamic_th="0"),
    "a traffic pattern of the dynamic model": put("LOSSLESS_TRAFFIC_PATTERN", "AZURE", mtu="1024"),
    "a session of frrcfgd under bgpcfgd": put("BGP_GLOBALS", "default", local_asn="65000"),
    "a route map under bgpcfgd": several(
        put("ROUTE_MAP_SET", "X"), put("ROUTE_MAP", "X|10", route_operation="deny")
    ),
    "an uplink in a VLAN": several(
        put("VLAN", "Vlan10", vlanid="10"), at_port("VLAN_MEMBER", "Vlan10|{}", tagging_mode="untagged")
    ),
    "an uplink with an address in a LAG": several(
        put("PORTCHANNEL", "PortChannel1", admin_status="up", mtu="9100"),
        at_port("PORTCHANNEL_MEMBER", "PortChannel1|{}"),
    ),
    "an ACL drops RoCE": acl("ingress", IP_PROTOCOL="17", L4_DST_PORT="4791"),  # aclorch
    "an ACL drops a DSCP at egress": acl("egress", DSCP="26"),
    "an ACL drops BGP": acl("ingress", IP_PROTOCOL="6", L4_DST_PORT="179"),
    "all neighbors down": each("BGP_NEIGHBOR", admin_status="down"),  # bgpcfgd
    "neighbors down by default": several(  # bgpcfgd instance.conf.j2
        metadata(default_bgp_status="down"),
        lambda config: [row.pop("admin_status", "") for row in config["BGP_NEIGHBOR"].values()],
    ),
    "FRR with separate files": metadata(docker_routing_config_mode="split"),  # docker_init.sh
    "one router id": metadata(bgp_router_id="10.0.0.2"),
    "a chip of a fabric card": metadata(switch_type="fabric"),  # orchagent main.cpp
    "no counters for the watchdog": put("FLEX_COUNTER_TABLE", "PFCWD", FLEX_COUNTER_STATUS="disable"),
    "the big red switch": put("PFC_WD", "GLOBAL", BIG_RED_SWITCH="enable"),  # pfcwdorch
    "a front port as an internal one": at_port("PORT", role="Int"),  # xcvrd leaves it out
    "asymmetric PFC": at_port("PORT", pfc_asym="on"),  # portsorch setPortPfcAsym
    "DSCP is rewritten": several(  # qosorch
        put("TC_TO_DSCP_MAP", "AZURE", **{"3": "0"}), at_port("PORT_QOS_MAP", tc_to_dscp_map="AZURE")
    ),
    "classes by 802.1p": several(
        put("DOT1P_TO_TC_MAP", "AZURE", **{"3": "1"}), at_port("PORT_QOS_MAP", dot1p_to_tc_map="AZURE")
    ),
    "a gateway outside of its subnet": each("MGMT_INTERFACE", gwaddr="192.0.2.1"),  # interfaces.j2
    "a small MTU": each("PORT", mtu="1500"),
    "a login without a server": put("AAA", "authentication", login="radius"),  # hostcfgd AaaCfg
    "an SNMP address of no interface": put("SNMP_AGENT_ADDRESS_CONFIG", "192.0.2.44|161|"),  # snmpd.conf.j2
    "bgp stays down after a crash": put("FEATURE", "bgp", auto_restart="disabled"),  # featured
    "trimmed packets in a lossless queue": put(
        "SWITCH_TRIMMING", "GLOBAL", size="256", dscp_value="26", queue_index="3"
    ),
    "one flow hash for all": put("SWITCH_HASH", "GLOBAL", ecmp_hash=["IP_PROTOCOL"]),  # switchorch
}  # fmt: skip
FRAMEWORK: Mapping[str, Change] = {
    "a limit of one prefix": each("BGP_NEIGHBOR_AF", max_prefix_limit="1"),  # frrcfgd, and so on
    "new neighbors are shut down": put("BGP_GLOBALS", "default", default_shutdown="true"),
    "no link-local address": each("INTERFACE", ipv6_use_link_local_only="disable"),
    "leaves hide the ASN of spines": each("BGP_NEIGHBOR_AF", as_override="true"),
    "routes of no use": each("BGP_GLOBALS_AF", ebgp_route_distance="255"),
    "no route for zebra": several(
        put("ROUTE_MAP_SET", "NO"),
        put("ROUTE_MAP", "NO|10", route_operation="deny"),
        each("BGP_GLOBALS_AF", route_download_filter="NO"),
    ),
    "changes after ten minutes": each("BGP_NEIGHBOR", min_adv_interval="600"),
    "an hour of silence": put("BGP_GLOBALS", "default", max_delay="3600", establish_wait="3600"),
    "last choice": put("BGP_GLOBALS", "default", graceful_shutdown="true"),
    "a default route from everywhere": each("BGP_NEIGHBOR_AF", send_default_route="true"),
}  # fmt: skip
NOT_JUDGED: Mapping[str, Change] = {
    "NEIGH": at_port("NEIGH", "{}|10.128.0.12", neigh="00:11:22:33:44:55", family="IPv4"),
    "MUX_CABLE": at_port("MUX_CABLE", state="standby", server_ipv4="10.64.0.1/32"),
}
FAULTS = {name: (change, False) for name, change in NUMBERED.items()} | {
    name: (change, True) for name, change in FRAMEWORK.items()
}


def found(change: Change, *, everywhere: bool, unnumbered: bool) -> set[tuple[str, Severity]]:
    """Code and severity of the findings at leaf1, or everywhere."""

    def changed(configs: dict[str, Config]) -> None:
        for name, config in configs.items():
            if everywhere or name == "leaf1":
                change(config)

    findings = broken("traditional", framework(changed) if unnumbered else changed).judge()
    return {(one.code, one.severity) for one in findings if everywhere or "leaf1" in (one.device, *one.devices)}


@pytest.mark.parametrize("everywhere", [False, True], ids=["one", "all"])
@pytest.mark.parametrize("name", FAULTS)
def test_an_invented_fault_is_found(name: str, everywhere: bool) -> None:
    change, unnumbered = FAULTS[name]
    new = found(change, everywhere=everywhere, unnumbered=unnumbered) - usual(everywhere, unnumbered)
    assert {code for code, severity in new if severity is not Severity.NOTE} - {"FG592", "FG593", "FG594"}


@cache
def usual(everywhere: bool, unnumbered: bool) -> frozenset[tuple[str, Severity]]:
    """What is found without a fault."""
    return frozenset(found(lambda config: None, everywhere=everywhere, unnumbered=unnumbered))


@pytest.mark.parametrize("everywhere", [False, True], ids=["one", "all"])
@pytest.mark.parametrize("table", NOT_JUDGED)
def test_what_no_rule_reads_is_said(table: str, everywhere: bool) -> None:
    new = found(NOT_JUDGED[table], everywhere=everywhere, unnumbered=False)
    assert ("FG415", Severity.NOTE) in new


def test_forty() -> None:
    assert len(FAULTS) == 40
