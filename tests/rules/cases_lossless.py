"""Bad cases of the rules on maps, buffers, headroom, ECN, schedulers and watchdog."""

from tests.rules.cases import Case, both, drop, put
from tests.rules.clean import Config

META = ("DEVICE_METADATA", "localhost")
DSCP, PROFILE = ("DSCP_TO_TC_MAP", "AZURE"), "pg_lossless_400000_40m_profile"


def low_xoff(configs: dict[str, Config]) -> str:
    """A switch of a SKU that the catalog does not know, with too little headroom."""
    configs["leaf1"]["DEVICE_METADATA"]["localhost"]["hwsku"] = "Unheard-Of"
    return put("20480", "leaf1", "BUFFER_PROFILE", PROFILE, "xoff")(configs)


CASES = [
    Case("FG501", drop("leaf1", *DSCP, "63")),
    Case("FG502", put("1", "leaf1", *DSCP, "26")),
    Case("FG502", put("4", "leaf1", *DSCP, "10")),
    Case("FG503", put("3", "leaf1", *DSCP, "48")),
    Case("FG503", put("0", "leaf1", *DSCP, "48")),
    Case("FG504", put("3", "leaf1", "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "1")),
    Case("FG504", put("0", "leaf1", "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3")),
    Case("FG504", drop("leaf1", "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "4"), model="dynamic"),
    Case("FG505", put("3", "leaf1", "TC_TO_QUEUE_MAP", "AZURE", "6")),
    Case("FG505", put("2", "leaf1", "TC_TO_QUEUE_MAP", "AZURE", "4")),
    Case("FG506", put("4", "leaf1", "MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "3")),
    Case(
        "FG507",
        put("2", "leaf1", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", "3"),
        model="dynamic",
    ),
    Case("FG507", drop("leaf1", "PORT_QOS_MAP", "Ethernet0", "pfc_to_pg_map"), model="dynamic"),
    Case(
        "FG507",
        both(
            put("AZURE", "leaf1", "PORT_QOS_MAP", "Ethernet0", "pfc_to_pg_map"),
            put({"3": "3", "4": "4"}, "leaf1", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE"),
        ),
        lenient=True,
    ),
    Case(
        "FG508",
        both(
            put("AZURE", "leaf1", "PORT_QOS_MAP", "Ethernet0", "dot1p_to_tc_map"),
            put({"3": "3"}, "leaf1", "DOT1P_TO_TC_MAP", "AZURE"),
        ),
        lenient=True,
    ),
    Case("FG521", put("186115492", "leaf1", "BUFFER_POOL", "ingress_lossless_pool", "size")),
    Case("FG521", put("static", "leaf1", "BUFFER_POOL", "egress_lossless_pool", "mode")),
    Case("FG521", put("1000", "leaf1", "BUFFER_POOL", "egress_lossy_pool", "size"), model="dynamic"),
    Case("FG522", put("3", "leaf1", "BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th")),
    Case("FG522", put("5", "spine1", "BUFFER_PROFILE", "egress_lossless_profile", "dynamic_th"), model="dynamic"),
    Case("FG523", put("NULL", "leaf1", "BUFFER_PG", "Ethernet0|3-4", "profile"), lenient=True),
    Case("FG524", put("512140", "leaf1", "BUFFER_PROFILE", PROFILE, "xoff")),
    Case("FG524", put("1", "leaf1", "BUFFER_PROFILE", PROFILE, "dynamic_th")),
    Case("FG524", drop("leaf1", "BUFFER_PROFILE", PROFILE), also=("FG408",)),
    Case("FG525", drop("leaf1", "BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet0"), model="dynamic"),
    Case(
        "FG525",
        put("egress_lossless_profile", "leaf1", "BUFFER_PORT_EGRESS_PROFILE_LIST", "Ethernet0", "profile_list"),
        model="dynamic",
    ),
    Case("FG526", put("1024", "leaf1", "LOSSLESS_TRAFFIC_PATTERN", "AZURE", "mtu"), model="dynamic"),
    Case("FG531", drop("leaf1", "CABLE_LENGTH", "AZURE", "Ethernet0")),
    Case("FG531", put("0m", "leaf1", "CABLE_LENGTH", "AZURE", "Ethernet0"), model="dynamic"),
    Case("FG532", put("5m", "leaf1", "CABLE_LENGTH", "AZURE", "Ethernet256")),
    Case("FG532", put("300m", "spine1", "CABLE_LENGTH", "AZURE", "Ethernet0")),
    Case("FG533", put("pg_lossless_400000_5m_profile", "leaf1", "BUFFER_PG", "Ethernet256|3-4", "profile")),
    Case("FG534", low_xoff, lenient=True),
    Case("FG541", drop("leaf1", "QUEUE", "Ethernet0|3", "wred_profile")),
    Case("FG542", put("false", "leaf1", "WRED_PROFILE", "AZURE_LOSSLESS", "wred_green_enable")),
    Case("FG542", put("ecn_none", "leaf1", "WRED_PROFILE", "AZURE_LOSSLESS", "ecn")),
    Case("FG543", put("120000000", "leaf1", "WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold")),
    Case("FG544", put("AZURE_LOSSLESS", "leaf1", "QUEUE", "Ethernet0|6", "wred_profile")),
    Case("FG551", drop("leaf1", "QUEUE", "Ethernet0|6")),
    Case("FG552", put("scheduler.2", "leaf1", "QUEUE", "Ethernet0|3", "scheduler")),
    Case("FG552", put("STRICT", "leaf1", "SCHEDULER", "scheduler.1", "type")),
    Case("FG553", put("scheduler.0", "leaf1", "QUEUE", "Ethernet0|6", "scheduler")),
    Case(
        "FG553",
        put({"type": "DWRR", "weight": "20"}, "leaf1", "SCHEDULER", "scheduler.2"),
        "SCHEDULER|scheduler.2|type",
        also=("FG592",),
    ),
    Case("FG555", put({"scheduler": "scheduler.0"}, "leaf1", "QUEUE", "Ethernet0|40")),
    Case("FG554", drop("leaf1", "SCHEDULER", "scheduler.1", "weight")),
    Case("FG561", drop("leaf1", "PFC_WD", "Ethernet0")),
    Case("FG561", drop("leaf1", "PFC_WD", "Ethernet0", "restoration_time")),
    Case("FG562", put("400", "leaf1", "PFC_WD", "GLOBAL", "POLL_INTERVAL")),
    Case("FG563", drop("leaf1", "PFC_WD", "GLOBAL")),
    Case("FG564", put("forward", "leaf1", "PFC_WD", "Ethernet0", "action")),
    Case("FG565", put("disable", "leaf1", "FLEX_COUNTER_TABLE", "PFCWD", "FLEX_COUNTER_STATUS")),
    Case("FG565", drop("leaf1", "FLEX_COUNTER_TABLE", "QUEUE")),
    Case(
        "FG566",
        put({"action": "drop", "detection_time": "1000", "restoration_time": "1000"}, "leaf1", "PFC_WD", "Ethernet500"),
    ),
    Case("FG591", put("1", "leaf1", *DSCP, "10")),
    Case("FG591", put("7", "spine1", "MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "1")),
    Case("FG592", put("80", "leaf1", "SCHEDULER", "scheduler.1", "weight")),
    Case("FG592", put("3145728", "leaf1", "WRED_PROFILE", "AZURE_LOSSLESS", "red_max_threshold")),
    Case("FG592", put("down", "leaf1", "MGMT_PORT", "eth0", "admin_status")),
    Case("FG592", put("SpineRouter", "spine1", *META, "type"), lenient=True),
    Case("FG592", drop("leaf1", "NTP_SERVER", "10.255.0.2")),
    Case("FG593", put("scheduler.1", "leaf1", "QUEUE", "Ethernet256|1", "scheduler")),
    Case("FG593", drop("leaf1", "BUFFER_QUEUE", "Ethernet256|0-2")),
    Case("FG593", put("off", "leaf1", "PORT", "Ethernet0", "autoneg")),
    Case("FG593", put("1500", "leaf1", "PFC_WD", "Ethernet0", "detection_time"), also=("FG567",)),
    Case("FG593", put("40m", "leaf1", "CABLE_LENGTH", "AZURE", "Ethernet0")),
    Case("FG593", put("up", "leaf1", "PORT", "Ethernet504", "admin_status")),
    Case("FG594", put("180", "leaf1", "BGP_NEIGHBOR", "10.128.0.13", "holdtime")),
    Case("FG594", drop("leaf1", "MGMT_INTERFACE", "eth0|10.255.0.10/20"), "MGMT_INTERFACE"),
]
