"""Bad cases of the rules on addresses, BGP and announcements."""

from tests.rules.cases import Case, both, drop, put, rekey
from tests.rules.clean import HASH

META = ("DEVICE_METADATA", "localhost")

CASES = [
    Case("FG311", drop("leaf1", "INTERFACE", "Ethernet0|10.64.0.0/31")),
    Case("FG311", drop("spine1", "INTERFACE", "Ethernet0|10.128.0.13/31")),
    Case("FG312", rekey("leaf1", "INTERFACE", "Ethernet256|10.128.0.12/31", "Ethernet256|10.128.9.0/31")),
    Case("FG312", rekey("spine1", "INTERFACE", "Ethernet0|10.128.0.13/31", "Ethernet0|10.128.0.13/30")),
    Case("FG312", rekey("spine1", "INTERFACE", "Ethernet0|10.128.0.13/31", "Ethernet0|10.128.0.12/31")),
    Case(
        "FG313",
        both(
            rekey("leaf2", "LOOPBACK_INTERFACE", "Loopback0|10.0.0.2/32", "Loopback0|10.0.0.1/32"),
            put("10.0.0.1", "leaf2", *META, "bgp_router_id"),
        ),
        also_at=("leaf1",),
    ),
    Case("FG314", rekey("leaf1", "LOOPBACK_INTERFACE", "Loopback0|10.0.0.1/32", "Loopback0|10.0.0.1/24")),
    Case("FG314", drop("leaf1", "LOOPBACK_INTERFACE", "Loopback0|10.0.0.1/32")),
    Case("FG315", put("10.0.0.77", "leaf1", *META, "bgp_router_id")),
    Case("FG316", rekey("leaf1", "INTERFACE", "Ethernet0|10.64.0.0/31", "Ethernet0|10.64.0.8/31")),
    Case("FG317", rekey("leaf1", "INTERFACE", "Ethernet0|10.64.0.0/31", "Ethernet0|10.64.0.0/30"), lenient=True),
    Case("FG318", rekey("leaf2", "MGMT_INTERFACE", "eth0|10.255.0.11/20", "eth0|10.255.14.11/20")),
    Case("FG319", put("10.254.0.1", "leaf1", "MGMT_INTERFACE", "eth0|10.255.0.10/20", "gwaddr")),
    Case(
        "FG319",
        rekey("leaf2", "MGMT_INTERFACE", "eth0|10.255.0.11/20", "eth0|10.255.0.10/20"),
        also_at=("leaf1",),
    ),
    Case("FG319", rekey("leaf1", "MGMT_INTERFACE", "eth0|10.255.0.10/20", "eth0|10.255.0.10/19")),
    Case("FG320", rekey("leaf1", "MGMT_INTERFACE", "eth0|10.255.0.10/20", "eth0|10.255.0.77/20")),
    Case(
        "FG320",
        both(
            rekey("leaf1", "LOOPBACK_INTERFACE", "Loopback0|10.0.0.1/32", "Loopback0|10.0.0.77/32"),
            put("10.0.0.77", "leaf1", *META, "bgp_router_id"),
        ),
    ),
    Case("FG331", put("4200000077", "leaf1", *META, "bgp_asn")),
    Case("FG331", put("4200000001", "spine1", *META, "bgp_asn")),
    Case("FG332", drop("leaf1", "BGP_NEIGHBOR", "10.128.0.13")),
    Case("FG333", put("4200000077", "leaf1", "BGP_NEIGHBOR", "10.128.0.13", "asn")),
    Case("FG334", put("spine2", "leaf1", "BGP_NEIGHBOR", "10.128.0.13", "name")),
    Case("FG335", put("10.128.0.14", "leaf1", "BGP_NEIGHBOR", "10.128.0.13", "local_addr")),
    Case("FG335", drop("leaf1", "BGP_NEIGHBOR", "10.128.0.13", "local_addr")),
    Case("FG336", rekey("leaf1", "BGP_NEIGHBOR", "10.128.0.13", "10.128.0.99")),
    Case(
        "FG337",
        both(
            put("4200000099", "spine2", *META, "bgp_asn"),
            *(put("4200000099", f"leaf{n + 1}", "BGP_NEIGHBOR", f"10.128.0.{15 + 6 * n}", "asn") for n in range(3)),
        ),
    ),
    Case("FG338", put("down", "leaf1", "BGP_NEIGHBOR", "10.128.0.13", "admin_status")),
    Case("FG339", put("true", "leaf1", *META, "frr_mgmt_framework_config"), "BGP_NEIGHBOR|10.128.0.13", lenient=True),
    Case("FG341", drop("leaf1", "STATIC_ROUTE", "default|10.64.0.0/24"), "STATIC_ROUTE"),
    Case("FG341", put("false", "leaf1", "STATIC_ROUTE", "default|10.64.0.0/24", "advertise")),
    Case("FG341", put("false", "leaf1", "STATIC_ROUTE", "default|10.64.0.0/24", "blackhole")),
    Case("FG342", rekey("leaf1", "STATIC_ROUTE", "default|10.64.0.0/24", "default|10.64.0.0/23"), also_at=("leaf2",)),
    Case("FG343", put({"blackhole": "true"}, "leaf1", "STATIC_ROUTE", "default|10.46.0.0/24")),
    Case("FG351", put(["DST_IP", "SRC_IP"], "leaf1", "SWITCH_HASH", "GLOBAL", "ecmp_hash"), also=("FG592",)),
    Case(
        "FG351",
        put([*HASH, "IPV6_FLOW_LABEL"], "spine2", "SWITCH_HASH", "GLOBAL", "ecmp_hash"),
        model="dynamic",
        also=("FG592",),
    ),
    Case("FG344", rekey("leaf1", "STATIC_ROUTE", "default|10.64.0.0/24", "default|10.64.0.4/24")),
]
