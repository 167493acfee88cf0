"""Bad cases of the PFC rules."""

from tests.rules.cases import Case, drop, put

CASES = [
    Case("FG511", drop("leaf1", "PORT_QOS_MAP", "Ethernet4"), "PORT_QOS_MAP|Ethernet4"),
    Case("FG511", drop("leaf1", "PORT_QOS_MAP", "Ethernet0", "tc_to_pg_map")),
    Case("FG512", put("3", "leaf1", "PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable")),
    Case("FG512", drop("leaf1", "PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable")),
    Case("FG513", put("3", "spine2", "PORT_QOS_MAP", "Ethernet0", "pfc_enable")),
    Case("FG513", put("3,4,5", "leaf3", "PORT_QOS_MAP", "Ethernet4", "pfc_enable"), model="dynamic"),
    Case("FG514", drop("leaf1", "BUFFER_PG", "Ethernet0|3-4"), "BUFFER_PG|Ethernet0|3-4"),
    Case("FG514", put("ingress_lossy_profile", "leaf1", "BUFFER_PG", "Ethernet0|3-4", "profile")),
    Case("FG514", put("NULL", "leaf1", "BUFFER_PG", "Ethernet0|0", "profile"), model="dynamic"),
    Case("FG515", put("q_lossy_profile", "spine1", "BUFFER_QUEUE", "Ethernet0|3-4", "profile"), model="dynamic"),
    Case("FG515", put("egress_lossless_profile", "spine1", "BUFFER_QUEUE", "Ethernet0|0-2", "profile")),
    Case("FG626", put("on", "leaf1", "PORT", "Ethernet0", "pfc_asym"), "PORT|Ethernet0|pfc_asym"),
]
