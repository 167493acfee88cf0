"""Bad cases of the rules on identity, ports and links."""

from tests.rules.cases import Case, both, drop, put

META = ("DEVICE_METADATA", "localhost")

CASES = [
    Case("FG221", put("leaf9", "leaf1", *META, "hostname")),
    Case("FG222", put("02:00:00:00:00:02", "leaf1", *META, "mac"), also_at=("leaf2",)),
    Case("FG223", put("DellEMC-Z9664f-O64", "leaf1", *META, "hwsku"), lenient=True),
    Case("FG224", put("x86_64-mlnx_msn4700-r0", "leaf1", *META, "platform")),
    Case("FG225", put("dynamic", "leaf1", *META, "buffer_model"), lenient=True),
    Case("FG225", put("traditional", "spine1", *META, "buffer_model"), model="dynamic", lenient=True),
    Case("FG226", put("Unheard-Of", "leaf1", *META, "hwsku"), lenient=True),
    Case("FG227", put("ToRRouter", "spine1", *META, "type"), lenient=True),
    Case("FG227", put("LeafRouter", "leaf1", *META, "type"), lenient=True),
    Case("FG227", drop("leaf1", *META, "type"), lenient=True),
    Case("FG231", drop("leaf1", "PORT", "Ethernet508")),
    Case("FG231", put({"lanes": "600", "speed": "400000"}, "leaf1", "PORT", "Ethernet900")),
    Case("FG232", put("1,2,3,5", "leaf1", "PORT", "Ethernet8", "lanes")),
    Case("FG232", put("etp99", "leaf1", "PORT", "Ethernet8", "alias")),
    Case("FG232", put("7", "leaf1", "PORT", "Ethernet8", "index"), model="dynamic"),
    Case("FG232", put("0", "leaf1", "PORT", "Ethernet8", "subport")),
    Case(
        "FG233",
        both(put("17,18", "leaf1", "PORT", "Ethernet4", "lanes"), put("Unheard-Of", "leaf1", *META, "hwsku")),
        lenient=True,
    ),
    Case("FG234", put("100000", "leaf1", "PORT", "Ethernet504", "speed"), also=("FG235",)),
    Case("FG238", put("850000", "leaf1", "PORT", "Ethernet0", "speed"), also=("FG241",)),
    Case("FG235", put("fc", "leaf1", "PORT", "Ethernet504", "fec")),
    Case("FG235", put("none", "leaf1", "PORT", "Ethernet504", "fec"), model="dynamic"),
    Case("FG236", put("1x800G", "leaf1", "BREAKOUT_CFG", "Ethernet0", "brkout_mode")),
    Case("FG236", drop("leaf1", "BREAKOUT_CFG", "Ethernet0"), model="dynamic"),
    Case("FG237", put("down", "leaf1", "PORT", "Ethernet0", "admin_status")),
    Case("FG237", drop("spine1", "PORT", "Ethernet0", "admin_status")),
    Case("FG241", put("200000", "spine1", "PORT", "Ethernet0", "speed")),
    Case("FG242", put("on", "spine1", "PORT", "Ethernet0", "autoneg")),
    Case("FG243", put("9000", "leaf1", "PORT", "Ethernet256", "mtu")),
    Case("FG243", put("9000", "spine2", "PORT", "Ethernet4", "mtu")),
    Case("FG244", put("1500", "leaf1", "PORT", "Ethernet0", "mtu")),
    Case("FG245", put("spine9", "leaf1", "DEVICE_NEIGHBOR", "Ethernet256", "name")),
    Case("FG245", put("nic7", "leaf1", "DEVICE_NEIGHBOR", "Ethernet0", "port")),
    Case("FG245", drop("spine1", "DEVICE_NEIGHBOR", "Ethernet8")),
    Case("FG246", put("SpineRouter", "leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1", "type")),
    Case("FG246", drop("leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1")),
    Case("FG246", drop("leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1", "type")),
    Case("FG247", put({"name": "spine4", "port": "Ethernet0"}, "leaf1", "DEVICE_NEIGHBOR", "Ethernet504")),
    Case(
        "FG248",
        both(drop("leaf1", "PORT", "Ethernet256"), put("Unheard-Of", "leaf1", *META, "hwsku")),
        lenient=True,
    ),
]
