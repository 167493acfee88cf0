"""Faults of one switch's tables that were run on the daemons of SONiC 202505, as edits of a file.

The outcome of each is in the data with which tests/rules/test_new_faults.py compares the findings.
"""

from collections.abc import Mapping
from typing import Any

from tests.rules.daemon_faults import (
    FAULTS,
    Change,
    Config,
    Ports,
    added_row,
    both,
    rekeyed,
    removed,
    row_like,
    set_value,
)

_WRED, _SCHEDULER, _MAP = ("WRED_PROFILE", "{WRED}"), ("SCHEDULER", "{SCHEDULER}"), "PORT_QOS_MAP"
_PG, _QUEUE, _POOL, _PROFILE = "BUFFER_PG", "BUFFER_QUEUE", "BUFFER_POOL", "BUFFER_PROFILE"
_LOSSY, _WD, _DSCP, _METADATA = (_PROFILE, "{LOSSY}"), "PFC_WD", "DSCP_TO_TC_MAP", ("DEVICE_METADATA", "localhost")
_DEFAULT, _PATTERN = "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "LOSSLESS_TRAFFIC_PATTERN"
_COLOURS = ("green", "yellow", "red")
_Rows = Mapping[str, Change]


def _sku(**fields: str) -> Change:
    """Fields of the headroom profiles of the SKU."""

    def change(config: Config, _: Ports) -> None:
        for name, row in config[_PROFILE].items():
            if name.startswith("pg_lossless_"):
                row.update(fields)

    return change


def _lanes(edit: Any) -> Change:
    def change(config: Config, ports: Ports) -> None:
        for port in ports:
            row = config["PORT"][port]
            row["lanes"] = edit(row["lanes"].split(","))

    return change


def _pairs(table: str, rest: str) -> Change:
    """One row for two ports in place of two rows."""

    def change(config: Config, ports: Ports) -> None:
        users = [port for port in config[_MAP] if port != "global"]
        for one, other in zip(users[::2][: len(ports)], users[1::2], strict=False):
            row = config[table].pop(f"{one}{rest}")
            del config[table][f"{other}{rest}"]
            config[table][f"{one},{other}{rest}"] = row

    return change


def _fields(table: str, key: str, *fields: str) -> Change:
    return both(*(removed(table, key, field) for field in fields))


def _free(config: Config) -> str:
    return next(port for port, row in config["PORT"].items() if row.get("admin_status") == "down")


def _address(config: Config, port: str) -> str:
    return next(key for key in config["INTERFACE"] if key.startswith(f"{port}|"))


def _without_length(config: Config, ports: Ports) -> None:
    for port in ports:
        key = _address(config, port)
        config["INTERFACE"][key.partition("/")[0]] = config["INTERFACE"].pop(key)


def _same_address(config: Config, ports: Ports) -> None:
    one, other = list(config["DEVICE_NEIGHBOR"])[:2]
    del config["INTERFACE"][_address(config, other)]
    config["INTERFACE"][f"{other}|{_address(config, one).partition('|')[2]}"] = {}


def _wd_unused(config: Config, _: Ports) -> None:
    config[_WD][_free(config)] = {"action": "drop", "detection_time": "1000", "restoration_time": "1000"}


def _queue_three(config: Config, ports: Ports) -> None:
    for port in ports:
        config["QUEUE"][f"{port}|three"] = dict(config["QUEUE"][f"{port}|3"])


def _without_scheduler(config: Config, ports: Ports) -> None:
    for key, row in config["QUEUE"].items():
        if key.partition("|")[0] in ports:
            row.pop("scheduler", None)


def _loopback_24(config: Config, _: Ports) -> None:
    key = next(key for key in config["LOOPBACK_INTERFACE"] if key.endswith("/32"))
    config["LOOPBACK_INTERFACE"][key.replace("/32", "/24")] = config["LOOPBACK_INTERFACE"].pop(key)


def _lower_loopback(config: Config, _: Ports) -> None:
    config["LOOPBACK_INTERFACE"] = {key.lower(): row for key, row in config["LOOPBACK_INTERFACE"].items()}


def _pool_renamed(config: Config, _: Ports) -> None:
    config[_POOL]["ingress_pool"] = config[_POOL].pop("ingress_lossless_pool")
    for row in config[_PROFILE].values():
        if row["pool"] == "ingress_lossless_pool":
            row["pool"] = "ingress_pool"


def _cables_renamed(config: Config, _: Ports) -> None:
    config["CABLE_LENGTH"]["CABLES"] = config["CABLE_LENGTH"].pop("AZURE")


def _min_is_max(config: Config, _: Ports) -> None:
    for row in config["WRED_PROFILE"].values():
        row["green_min_threshold"] = row["green_max_threshold"]


def _pair_key(config: Config, ports: Ports) -> None:
    _pairs(_WD, "")(config, ports)


def _port_case(config: Config, ports: Ports) -> None:
    for port in ports:
        config["PORT"][port.lower()] = config["PORT"].pop(port)


def _other_index(config: Config, ports: Ports) -> None:
    names = list(config["PORT"])
    for port in ports:
        config["PORT"][port]["index"] = config["PORT"][names[names.index(port) + 2]]["index"]


def _twice(config: Config, ports: Ports) -> None:
    for port in ports:
        config.setdefault("BUFFER_PORT_INGRESS_PROFILE_LIST", {})[port] = {
            "profile_list": "ingress_lossy_profile,ingress_lossy_profile"
        }


NEW: _Rows = {
    "alias_missing": removed("PORT", "{P}", "alias"),
    "alias_blank": set_value("PORT", "{P}", "alias", ""),
    "index_missing": removed("PORT", "{P}", "index"),
    "index_text": set_value("PORT", "{P}", "index", "one"),
    "tpid_bad": set_value("PORT", "{P}", "tpid", "0x1234"),
    "pfc_asym": set_value("PORT", "{P}", "pfc_asym", "yes"),
    "adv_speeds": both(set_value("PORT", "{P}", "autoneg", "on"), set_value("PORT", "{P}", "adv_speeds", "400G")),
    "interface_type": both(
        set_value("PORT", "{P}", "autoneg", "on"), set_value("PORT", "{P}", "interface_type", "CR9")
    ),
    "lt_true": set_value("PORT", "{P}", "link_training", "true"),
    "lanes_space": _lanes(", ".join),
    "lanes_order": _lanes(lambda lanes: ",".join(reversed(lanes))),
    "lanes_short": _lanes(lambda lanes: ",".join(lanes[: len(lanes) // 2])),
    "mtu_9217": set_value("PORT", "{P}", "mtu", "9217"),
    "fec_fc400": set_value("PORT", "{P}", "fec", "fc"),
    "fec_none400": set_value("PORT", "{P}", "fec", "none"),
    "intf_noport": both(
        added_row("INTERFACE", "Ethernet999", {}), added_row("INTERFACE", "Ethernet999|10.9.9.0/31", {})
    ),
    "intf_nolen": _without_length,
    "intf_nobase": removed("INTERFACE", "{P}"),
    "intf_overlap": _same_address,
    "intf_vrf": set_value("INTERFACE", "{P}", "vrf_name", "Vrf-gpu"),
    "lo_nobase": removed("LOOPBACK_INTERFACE", "Loopback0"),
    "pfc2q_swap": both(
        set_value("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "3", "4"),
        set_value("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "4", "3"),
    ),
    "pfc2pg_swap": set_value("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", "3", "4"),
    "pfc2q_absent": removed(_MAP, "{P}", "pfc_to_queue_map"),
    "queue_empty": added_row("QUEUE", "{P}|3", {}),
    "sched_weight_text": set_value(*_SCHEDULER, "weight", "15.5"),
    "sched_weight_neg": set_value(*_SCHEDULER, "weight", "-5"),
    "sched_pir_text": both(set_value(*_SCHEDULER, "meter_type", "bytes"), set_value(*_SCHEDULER, "pir", "10G")),
    "wred_nomax": removed(*_WRED, "green_max_threshold"),
    "wred_neg": set_value(*_WRED, "green_min_threshold", "-1"),
    "wred_hex": set_value(*_WRED, "green_max_threshold", "0x40000"),
    "wred_kib": set_value(*_WRED, "green_max_threshold", "256KiB"),
    "wred_noecn": removed(*_WRED, "ecn"),
    "wred_minmaxeq": _min_is_max,
    "pool_size0": set_value(_POOL, "egress_lossless_pool", "size", "0"),
    "pool_static": set_value(_POOL, "ingress_lossless_pool", "mode", "static"),
    "pool_kib": set_value(_POOL, "egress_lossless_pool", "size", "100MiB"),
    "pg_profile_egresspool": _sku(pool="egress_lossless_pool"),
    "th_float": set_value(*_LOSSY, "dynamic_th", "0.5"),
    "th_plus": set_value(*_LOSSY, "dynamic_th", "+1"),
    "xon_offset_neg": _sku(xon_offset="-1"),
    "profile_field": set_value(*_LOSSY, "xoff_th", "1"),
    "wd_unused": _wd_unused,
    "wd_noport": added_row(_WD, "Ethernet999", {"action": "drop", "detection_time": "400", "restoration_time": "400"}),
    "wd_upper": set_value(_WD, "{P}", "action", "DROP"),
    "wd_det6000": set_value(_WD, "{P}", "detection_time", "6000"),
    "wd_rest50": set_value(_WD, "{P}", "restoration_time", "50"),
    "wd_det_text": set_value(_WD, "{P}", "detection_time", "400ms"),
    "wd_listkey": _pair_key,
    "wd_poll0": set_value(_WD, "GLOBAL", "POLL_INTERVAL", "0"),
    "wd_global_lower": both(removed(_WD, "GLOBAL"), added_row(_WD, "global", {"POLL_INTERVAL": "1000"})),
    "cable_rowname": _cables_renamed,
    "cable_upper": set_value("CABLE_LENGTH", "AZURE", "{P}", "5M"),
    "flex_text": set_value("FLEX_COUNTER_TABLE", "PFCWD", "FLEX_COUNTER_STATUS", "enabled"),
    "flex_poll_text": set_value("FLEX_COUNTER_TABLE", "QUEUE", "POLL_INTERVAL", "fast"),
    "pfc_empty": set_value(_MAP, "{P}", "pfc_enable", ""),
    "pfc_dup": set_value(_MAP, "{P}", "pfc_enable", "3,3"),
    "pfcwd_bits9": set_value(_MAP, "{P}", "pfcwd_sw_enable", "3,9"),
    "pfcwd_other": set_value(_MAP, "{P}", "pfcwd_sw_enable", "5"),
    "qosmap_field": set_value(_MAP, "{P}", "foo", "bar"),
    "tcpg_key8": set_value("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "8", "0"),
    "dscp_neg": set_value(_DSCP, "AZURE", "-1", "0"),
    "dscp_space": both(removed(_DSCP, "AZURE", "26"), set_value(_DSCP, "AZURE", " 26", "3")),
    "queue_range_wide": row_like("QUEUE", "{P}|3-40", "{P}|3"),
    "queue_sched_absent": _without_scheduler,
    "bq_hole": removed(_QUEUE, "{P}|3-4"),
    "hwsku_other": set_value(*_METADATA, "hwsku", "DellEMC-Z9664f-O64"),
    "static_route_noif": added_row(
        "STATIC_ROUTE", "default|192.168.9.0/24", {"nexthop": "10.9.9.1", "ifname": "Ethernet999"}
    ),
    "vlan_member_l3": both(
        added_row("VLAN", "Vlan100", {"vlanid": "100"}),
        added_row("VLAN_MEMBER", "Vlan100|{P}", {"tagging_mode": "untagged"}),
    ),
    "portchannel_l3": both(
        added_row("PORTCHANNEL", "PortChannel1", {"admin_status": "up"}),
        added_row("PORTCHANNEL_MEMBER", "PortChannel1|{P}", {}),
    ),
    "autoneg_dac": set_value("PORT", "{P}", "autoneg", "on"),
    "pattern_text": set_value(_PATTERN, "AZURE", "mtu", "4K"),
    "pattern_nosmall": removed(_PATTERN, "AZURE", "small_packet_percentage"),
    "pattern_small200": set_value(_PATTERN, "AZURE", "small_packet_percentage", "0"),
    "default_th_text": set_value(_DEFAULT, "AZURE", "default_dynamic_th", "zero"),
    "elist_missing": removed("BUFFER_PORT_EGRESS_PROFILE_LIST", "{P}"),
    "elist_unknown": set_value("BUFFER_PORT_EGRESS_PROFILE_LIST", "{P}", "profile_list", "nope"),
    "pg0_missing": removed(_PG, "{P}|0"),
    "pg0_missing_T": removed(_PG, "{P}|0"),
    "pool_percent_all": both(
        set_value(_POOL, "ingress_lossless_pool", "percentage", "60"),
        set_value(_POOL, "ingress_lossy_pool", "percentage", "60"),
    ),
    "model_case": set_value(*_METADATA, "buffer_model", "Traditional"),
    "switch_type": set_value(*_METADATA, "switch_type", "tor"),
    "lo_24": _loopback_24,
    "flex_pfcwd_poll": set_value("FLEX_COUNTER_TABLE", "PFCWD", "POLL_INTERVAL", "20000"),
    "flex_queue_poll1": set_value("FLEX_COUNTER_TABLE", "QUEUE", "POLL_INTERVAL", "1"),
    "flex_bulk": set_value("FLEX_COUNTER_TABLE", "PORT", "BULK_CHUNK_SIZE", "many"),
    "qos_global_missing": removed(_MAP, "global"),
    "queue_listkey": _pairs("QUEUE", "|3"),
    "bq_listkey": _pairs(_QUEUE, "|3-4"),
    "wred_off": both(*(set_value(*_WRED, f"wred_{colour}_enable", "false") for colour in _COLOURS)),
    "wred_noprob": _fields(*_WRED, *(f"{colour}_drop_probability" for colour in _COLOURS)),
    "pg_null_T": set_value(_PG, "{P}|3-4", "profile", "NULL"),
    "cable_unknown_port": set_value("CABLE_LENGTH", "AZURE", "Ethernet999", "5m"),
    "wd_history": set_value(_WD, "{P}", "pfc_stat_history", "yes"),
    "wd_history_on": set_value(_WD, "{P}", "pfc_stat_history", "enable"),
    "lossless_size0": _sku(size="0"),
    "lossless_xoff0": _sku(xoff="0"),
    "tc3_to_q1": set_value("TC_TO_QUEUE_MAP", "AZURE", "3", "1"),
    "cnp_lossless": set_value(_DSCP, "AZURE", "48", "3"),
    "sched_lossless_strict": set_value(*_SCHEDULER, "type", "STRICT"),
    "index_dup": _other_index,
    "subport_text": set_value("PORT", "{P}", "subport", "a"),
    "port_key_case": _port_case,
    "queue7_missing": removed("QUEUE", "{P}|7"),
    "hash_empty": added_row("SWITCH_HASH", "GLOBAL", {"ecmp_hash": []}),
    "hash_lag_dup": added_row("SWITCH_HASH", "GLOBAL", {"ecmp_hash": ["DST_IP", "DST_IP"]}),
    "trim_symm": added_row("SWITCH_TRIMMING", "GLOBAL", {"size": "50", "dscp_value": "70", "queue_index": "6"}),
    "ilist_T": _twice,
    "pool_name": _pool_renamed,
    "k_size_empty": set_value(*_LOSSY, "size", ""),
    "k_th_text": set_value(*_LOSSY, "dynamic_th", "one"),
    "k_wred_text": set_value(*_WRED, "green_min_threshold", "many"),
    "k_weight_text": set_value(*_SCHEDULER, "weight", "heavy"),
    "k_map_text": set_value("TC_TO_QUEUE_MAP", "AZURE", "3", "three"),
    "k_pfc_text": set_value(_MAP, "{P}", "pfc_enable", "three"),
    "k_pgkey_text": row_like(_PG, "{P}|three", "{P}|0"),
    "k_queuekey_text": _queue_three,
}
# Kinds of the earlier runs under the names of the later ones.
_OLD = {fault.kind: fault.change for fault in FAULTS}
AGAIN: _Rows = {
    "k_wred_2e31": _OLD["wred_2e31"],
    "k_both_th": _OLD["profile_both_th"],
    "k_sched_priority": _OLD["sched_priority"],
    "k_pg0_egress": _OLD["pg0_egress"],
    "k_ref_pool": _OLD["ref_pool"],
    "k_pool_nosize": _OLD["pool_no_size"],
    "k_wd_mixed": _OLD["wd_mixed"],
    "k_wd_poll_text": _OLD["wd_poll_text"],
    "k_prof_nosize": _OLD["profile_size_text"],
    "k_own_noxon": _OLD["own_noxon"],
    "k_no_pattern": _OLD["no_traffic_pattern"],
    "k_no_default": _OLD["no_default_lossless"],
}
# silent_faults_202505.json
SILENT: _Rows = {
    "D_bq02_noprofile": removed(_QUEUE, "{P}|0-2", "profile"),
    "bq02_noprofile": removed(_QUEUE, "{P}|0-2", "profile"),
    "D_pg0_noprofile": removed(_PG, "{P}|0", "profile"),
    "pg0_noprofile": removed(_PG, "{P}|0", "profile"),
    "D_pg_43": rekeyed(_PG, "{P}|3-4", "{P}|4-3"),
    "D_queue_three": _queue_three,
    "D_wred_red_max": removed(*_WRED, "red_max_threshold"),
    "wred_red_max_none": removed(*_WRED, "red_max_threshold"),
    "wred_yellow_max_none": removed(*_WRED, "yellow_max_threshold"),
    "wred_green_prob_none": removed(*_WRED, "green_drop_probability"),
    "wred_red_prob_none": removed(*_WRED, "red_drop_probability"),
    "wred_red_enable_none": removed(*_WRED, "wred_red_enable"),
    "flex_status_missing": removed("FLEX_COUNTER_TABLE", "QUEUE", "FLEX_COUNTER_STATUS"),
    "loopback_lower": _lower_loopback,
    "mtu_none": removed("PORT", "{P}", "mtu"),
    "profile_blank": added_row(_PROFILE, "{LOSSY}", {}),
    "qosmap_nodscp": removed(_MAP, "{P}", "dscp_to_tc_map"),
    "queue3_blank": added_row("QUEUE", "{P}|3", {}),
}
