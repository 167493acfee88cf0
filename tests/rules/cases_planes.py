"""Bad cases on two planes, compute with PFC and in-band management without, and what the second still must have."""

from tests.rules.cases import Case, drop, put, rekey

PFC_WD = {"action": "drop", "detection_time": "1000", "restoration_time": "1000"}


CASES = [
    Case("FG595", put("3,4", "inband1", "PORT_QOS_MAP", "Ethernet0", "pfc_enable"), model="planes"),
    Case("FG595", put("3", "inband1", "PORT_QOS_MAP", "Ethernet4", "pfcwd_sw_enable"), model="planes"),
    Case(
        "FG595",
        put({"profile": "NULL"}, "inband1", "BUFFER_PG", "Ethernet0|3-4"),
        "BUFFER_PG|Ethernet0|3-4|profile",
        model="planes",
        also=("FG523",),
    ),
    Case(
        "FG596",
        put("inband1", "leaf1", "DEVICE_NEIGHBOR", "Ethernet256", "name"),
        model="planes",
        also=("FG245", "FG246"),
    ),
    Case(
        "FG596",
        put({"name": "spine1", "port": "Ethernet500"}, "inband1", "DEVICE_NEIGHBOR", "Ethernet500"),
        "DEVICE_NEIGHBOR|Ethernet500|name",
        model="planes",
        lenient=True,
    ),
    Case(
        "FG596",
        put({"asn": "4200000007", "name": "inband1", "local_addr": "10.128.0.0"}, "spine1", "BGP_NEIGHBOR", "10.0.0.7"),
        model="planes",
        lenient=True,
    ),
    Case(
        "FG328",
        put({"blackhole": "true"}, "inband1", "STATIC_ROUTE", "default|10.0.0.0/29"),
        model="planes",
        lenient=True,
    ),
    Case(
        "FG328",
        put({"blackhole": "true"}, "leaf1", "STATIC_ROUTE", "default|10.64.6.0/28"),
        model="planes",
        lenient=True,
    ),
    Case(
        "FG329",
        rekey("inband1", "INTERFACE", "Ethernet0|10.64.6.0/31", "Ethernet0|10.64.0.0/31"),
        model="planes",
        lenient=True,
    ),
    Case("FG511", drop("inband1", "PORT_QOS_MAP", "Ethernet0"), model="planes"),
    Case("FG511", drop("inband1", "PORT_QOS_MAP", "Ethernet4", "tc_to_queue_map"), model="planes"),
    Case("FG551", drop("inband1", "QUEUE", "Ethernet0|6"), model="planes"),
    Case("FG522", drop("inband1", "BUFFER_PROFILE", "egress_lossy_profile"), model="planes", lenient=True),
    Case("FG566", put(PFC_WD, "inband1", "PFC_WD", "Ethernet0"), model="planes", lenient=True),
    Case("FG501", drop("inband1", "DSCP_TO_TC_MAP", "AZURE", "9"), model="planes"),
    Case("FG504", drop("inband1", "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "6"), model="planes"),
    Case("FG513", put("3", "leaf1", "PORT_QOS_MAP", "Ethernet0", "pfc_enable"), model="planes"),
]
