"""Changes that were applied to the real daemons while they ran (sonic-swss @6079a435), as edits of a leaf.

`LIVE` has those that other tests do not have; `MEASURED` says which kind stands for each recorded change.
"""

from typing import Any

from tests.diff import measured

Config = dict[str, Any]


def wred_renamed(config: Config) -> None:
    (name,) = config["WRED_PROFILE"]
    config["WRED_PROFILE"]["OTHER"] = config["WRED_PROFILE"].pop(name)
    for row in config["QUEUE"].values():
        if "wred_profile" in row:
            row["wred_profile"] = "OTHER"


def scheduler_strict(config: Config) -> None:
    config["SCHEDULER"]["LOSSLESS2"] = {"type": "STRICT"}
    for key, row in config["QUEUE"].items():
        if key.endswith("|3"):
            row["scheduler"] = "LOSSLESS2"


def scheduler_type(config: Config) -> None:
    config["SCHEDULER"]["LOSSY"]["type"] = "WRR"


def queue_map(config: Config) -> None:
    config["TC_TO_QUEUE_MAP"]["AZURE"]["7"] = "6"


def group_map(config: Config) -> None:
    config["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["7"] = "7"


def group_split(config: Config) -> None:
    for port in measured.up_ports(config):
        row = config["BUFFER_PG"].pop(f"{port}|3-4")
        config["BUFFER_PG"] |= {f"{port}|3": row, f"{port}|4": dict(row)}


def watchdog_action(config: Config) -> None:
    measured.every("PFC_WD", action="forward")(config)


def poll_interval(config: Config) -> None:
    config["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = "150"


def xoff(config: Config) -> None:
    for row in config["BUFFER_PROFILE"].values():
        if "xoff" in row:
            row["xoff"] = str(int(row["xoff"]) + 1000)


def trimming(config: Config) -> None:
    config["BUFFER_PROFILE"]["egress_lossy_profile"]["packet_discard_action"] = "trim"


def admin_down(config: Config) -> None:
    config["PORT"][measured.host_ports(config)[0]]["admin_status"] = "down"


def hash_fields(config: Config) -> None:
    config["SWITCH_HASH"] = {"GLOBAL": {"ecmp_hash": ["DST_IP", "SRC_IP"], "ecmp_hash_algorithm": "CRC"}}


def profile_list(config: Config) -> None:
    for row in config.get("BUFFER_PORT_EGRESS_PROFILE_LIST", {}).values():
        row["profile_list"] = "egress_lossless_profile"


def counters_off(config: Config) -> None:
    config["FLEX_COUNTER_TABLE"]["PFCWD"]["FLEX_COUNTER_STATUS"] = "disable"


def scheduler_off(config: Config) -> None:
    del config["QUEUE"][f"{measured.host_ports(config)[0]}|5"]["scheduler"]


def classes_swapped(config: Config) -> None:
    dscp = config["DSCP_TO_TC_MAP"]["AZURE"]
    dscp["26"], dscp["34"] = dscp["34"], dscp["26"]


def global_map_off(config: Config) -> None:
    config["PORT_QOS_MAP"].pop("global", None)


LIVE: dict[str, measured.Edit] = {
    "WRED renamed": wred_renamed,
    "scheduler strict": scheduler_strict,
    "scheduler type": scheduler_type,
    "queue map": queue_map,
    "group map": group_map,
    "group range split": group_split,
    "watchdog action": watchdog_action,
    "poll interval": poll_interval,
    "xoff": xoff,
    "trimming": trimming,
    "admin down": admin_down,
    "hash": hash_fields,
    "profile list": profile_list,
    "watchdog counters off": counters_off,
    "scheduler off a queue": scheduler_off,
    "classes swapped": classes_swapped,
    "global map off": global_map_off,
}
MEASURED = {
    "admin_down": "admin down", "admin_up": "admin down, back", "alpha": "alpha", "cable": "cable",
    "cable_new": "cable of all hosts", "class_add": "class added", "class_drop": "class dropped", "dscp": "DSCP map",
    "fec": "FEC", "flexpfcwd": "watchdog counters off", "hash": "hash", "list": "profile list",
    "map_rename": "map renamed", "mtu": "MTU", "pfc_off_port": "PFC off a port", "pfc_on_port": "PFC off a port, back",
    "pg_split": "group range split", "port_add": "host removed, back", "port_drop": "host removed",
    "profile_rename": "profile renamed", "q_class_swap": "classes swapped", "qos_global_off": "global map off",
    "queue_split": "queue range split", "sched_off_queue": "scheduler off a queue", "sched_strict": "scheduler strict",
    "sched_type": "scheduler type", "speed": "speed", "tcpg": "group map", "tcq": "queue map", "trim": "trimming",
    "wd_action": "watchdog action", "wd_add": "watchdog off a port, back", "wd_bits": "watched priorities",
    "wd_poll": "poll interval", "wd_remove": "watchdog off a port", "wd_time": "watchdog times",
    "weight": "scheduler weight", "wred": "ECN", "wred_off_queue": "WRED off a queue", "wred_rename": "WRED renamed",
    "xoff": "xoff",
}  # fmt: skip
