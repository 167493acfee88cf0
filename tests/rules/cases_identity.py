"""Bad cases of the rules on identity, ports and links."""

from tests.rules.cases import Case, both, drop, put

META = ("DEVICE_METADATA", "localhost")

CASES = [
    Case("FG411", put("leaf9", "leaf1", *META, "hostname")),
    Case("FG412", put("02:00:00:00:00:02", "leaf1", *META, "mac"), also_at=("leaf2",)),
    Case("FG413", put("DellEMC-Z9664f-O64", "leaf1", *META, "hwsku"), lenient=True),
    Case("FG414", put("x86_64-mlnx_msn4700-r0", "leaf1", *META, "platform")),
    Case("FG415", put("dynamic", "leaf1", *META, "buffer_model"), lenient=True),
    Case("FG415", put("traditional", "spine1", *META, "buffer_model"), model="dynamic", lenient=True),
    Case("FG416", put("Unheard-Of", "leaf1", *META, "hwsku"), lenient=True),
    Case("FG417", put("ToRRouter", "spine1", *META, "type"), lenient=True),
    Case("FG417", put("LeafRouter", "leaf1", *META, "type"), lenient=True),
    Case("FG417", drop("leaf1", *META, "type"), lenient=True),
    Case("FG421", drop("leaf1", "PORT", "Ethernet508")),
    Case("FG421", put({"lanes": "600", "speed": "400000"}, "leaf1", "PORT", "Ethernet900")),
    Case("FG422", put("1,2,3,5", "leaf1", "PORT", "Ethernet8", "lanes")),
    Case("FG422", put("etp99", "leaf1", "PORT", "Ethernet8", "alias")),
    Case("FG422", put("7", "leaf1", "PORT", "Ethernet8", "index"), model="dynamic"),
    Case("FG422", put("0", "leaf1", "PORT", "Ethernet8", "subport")),
    Case(
        "FG423",
        both(put("17,18", "leaf1", "PORT", "Ethernet4", "lanes"), put("Unheard-Of", "leaf1", *META, "hwsku")),
        lenient=True,
    ),
    Case("FG424", put("100000", "leaf1", "PORT", "Ethernet504", "speed"), also=("FG425",)),
    Case("FG428", put("850000", "leaf1", "PORT", "Ethernet0", "speed"), also=("FG431",)),
    Case("FG425", put("fc", "leaf1", "PORT", "Ethernet504", "fec")),
    Case("FG425", put("none", "leaf1", "PORT", "Ethernet504", "fec"), model="dynamic"),
    Case("FG426", put("1x800G", "leaf1", "BREAKOUT_CFG", "Ethernet0", "brkout_mode")),
    Case("FG426", drop("leaf1", "BREAKOUT_CFG", "Ethernet0"), model="dynamic"),
    Case("FG427", put("down", "leaf1", "PORT", "Ethernet0", "admin_status")),
    Case("FG427", drop("spine1", "PORT", "Ethernet0", "admin_status")),
    Case("FG431", put("200000", "spine1", "PORT", "Ethernet0", "speed")),
    Case("FG432", put("on", "spine1", "PORT", "Ethernet0", "autoneg")),
    Case("FG433", put("9000", "leaf1", "PORT", "Ethernet256", "mtu")),
    Case("FG433", put("9000", "spine2", "PORT", "Ethernet4", "mtu")),
    Case("FG434", put("1500", "leaf1", "PORT", "Ethernet0", "mtu")),
    Case("FG435", put("spine9", "leaf1", "DEVICE_NEIGHBOR", "Ethernet256", "name")),
    Case("FG435", put("nic7", "leaf1", "DEVICE_NEIGHBOR", "Ethernet0", "port")),
    Case("FG435", drop("spine1", "DEVICE_NEIGHBOR", "Ethernet8")),
    Case("FG436", put("SpineRouter", "leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1", "type")),
    Case("FG436", drop("leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1")),
    Case("FG437", put({"name": "spine4", "port": "Ethernet0"}, "leaf1", "DEVICE_NEIGHBOR", "Ethernet504")),
    Case(
        "FG438",
        both(drop("leaf1", "PORT", "Ethernet256"), put("Unheard-Of", "leaf1", *META, "hwsku")),
        lenient=True,
    ),
]
