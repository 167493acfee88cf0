"""Bad cases of the rules in fabricgen/rules/ports."""

from dataclasses import replace

from fabricgen.bundle.wiring import WiredAdapter, WiredModel, Wiring
from fabricgen.vocabulary import Medium
from tests.rules.access import BONDS, LEAF0, Row
from tests.rules.case import ERROR, WARNING, Case, GoodCase, Switches
from tests.rules.changes import Configs, both, drop, put
from tests.rules.fabrics import META, cordoned, of_wiring


def no_subports(configs: Configs) -> None:
    """No port of leaf1 has a subport."""
    for row in configs["leaf1"]["PORT"].values():
        row.pop("subport")


def short(wiring: Wiring) -> Wiring:
    """Optical cables of 5 m."""
    return replace(wiring, cables=tuple(replace(one, length_m=5.0) for one in wiring.cables))


def on_copper(wiring: Wiring) -> Wiring:
    """The cable of leaf3:Ethernet264, which is alone in both cages, is passive copper."""
    cables = (replace(one, medium=Medium.DAC) if one.id == "cable14" else one for one in wiring.cables)
    return replace(wiring, cables=tuple(cables))


def nics_on_copper(wiring: Wiring) -> Wiring:
    """gpu1 has ConnectX-7, and its cable to leaf3 is passive copper."""
    [name] = {host.model for host in wiring.hosts if host.name == "gpu1"}
    nic = WiredAdapter("nic2", "ConnectX-7", "", "", None)
    cables = (replace(one, medium=Medium.DAC) if one.id == "cable4" else one for one in wiring.cables)
    return replace(wiring, cables=tuple(cables), host_models=(WiredModel(name, "", 8, (nic,)),))


COPPER = Switches(plug=of_wiring(on_copper))
COPPER_NIC = Switches(plug=of_wiring(nics_on_copper))
WIDE = "129,130,131,132,133,134,135,136"

GOOD = [GoodCase("FG272", put("up", "leaf3", "PORT", "Ethernet264", "admin_status"), COPPER)]

CASES = [
    Case(
        "FG273",
        put("34", "leaf3", "PORT", "Ethernet260", "index"),
        "leaf3:PORT|Ethernet260|index",
        WARNING,
        "cage 34 has the plugs of 2 cables, to spine2 Ethernet8 and to spine3 Ethernet8, but one dac plug fills a cage",
        "use fibre (`medium: mmf` or smf): the cages at the far ends lead elsewhere, too, so no breakout cable fits",
        clean=COPPER,
        lenient=True,
    ),
    Case(
        "FG272",
        put(WIDE, "leaf3", "PORT", "Ethernet0", "lanes"),
        "leaf3:PORT|Ethernet0|lanes",
        ERROR,
        "the port has 8 lanes of 50G, but ConnectX-7 has 4 lanes: copper cannot convert them",
        "use optical modules (`medium: aoc`, mmf or smf): a gearbox in the module changes the lanes",
        clean=COPPER_NIC,
        lenient=True,
    ),
    *(
        Case(
            "FG272",
            put(WIDE, device, "PORT", port, "lanes"),
            "leaf3:PORT|Ethernet264|lanes",
            ERROR,
            f"the port has {lanes}: copper cannot convert them",
            "use optical modules (`medium: aoc`, mmf or smf): a gearbox in the module changes the lanes",
            clean=COPPER,
            lenient=True,
        )
        for device, port, lanes in (
            ("leaf3", "Ethernet264", "8 lanes of 50G, but the far end 4 lanes of 100G"),
            ("spine3", "Ethernet8", "4 lanes of 100G, but the far end 8 lanes of 50G"),
        )
    ),
    Case(
        "FG231",
        drop("leaf1", "PORT", "Ethernet508"),
        "leaf1:PORT|Ethernet508",
        ERROR,
        "port Ethernet508 of hwsku Arista-7060X6-64PE-O128S2 is missing in PORT",
        "add the port from the SKU's port_config.ini",
    ),
    Case(
        "FG231",
        put({"lanes": "597,598,599,600", "speed": "400000"}, "leaf1", "PORT", "Ethernet900"),
        "leaf1:PORT|Ethernet900",
        ERROR,
        "port Ethernet900 is unknown to hwsku Arista-7060X6-64PE-O128S2",
        "remove the port, or correct the hwsku",
    ),
    Case(
        "FG232",
        put("1,2,3,5", "leaf1", "PORT", "Ethernet8", "lanes"),
        "leaf1:PORT|Ethernet8|lanes",
        ERROR,
        "lanes of Ethernet8 are 1,2,3,5, but the SKU has 1,2,3,4",
        "set lanes to 1,2,3,4",
    ),
    Case(
        "FG232",
        put("etp99", "leaf1", "PORT", "Ethernet8", "alias"),
        "leaf1:PORT|Ethernet8|alias",
        ERROR,
        "alias of Ethernet8 is etp99, but the SKU has etp2a",
        "set alias to etp2a",
    ),
    Case(
        "FG232",
        put("7", "leaf1", "PORT", "Ethernet8", "index"),
        "leaf1:PORT|Ethernet8|index",
        ERROR,
        "index of Ethernet8 is 7, but the SKU has 2",
        "set index to 2",
        clean=Switches("dynamic"),
    ),
    Case(
        "FG232",
        put("0", "leaf1", "PORT", "Ethernet8", "subport"),
        "leaf1:PORT|Ethernet8|subport",
        ERROR,
        "subport of Ethernet8 is 0, but the SKU has 1",
        "set subport to 1",
    ),
    Case(
        "FG233",
        both(put("17,18", "leaf1", "PORT", "Ethernet4", "lanes"), put("Unheard-Of", "leaf1", *META, "hwsku")),
        "leaf1:PORT|Ethernet4|lanes",
        ERROR,
        "lanes 17,18 of Ethernet4 overlap those of Ethernet0",
        "correct lanes of one of the ports",
        lenient=True,
    ),
    Case(
        "FG234",
        put("100000", "leaf1", "PORT", "Ethernet504", "speed"),
        "leaf1:PORT|Ethernet504|speed",
        WARNING,
        "speed is 100000, but the SKU has 400000",
        "set speed to 400000",
        also=("FG235",),
    ),
    Case(
        "FG235",
        put("fc", "leaf1", "PORT", "Ethernet504", "fec"),
        "leaf1:PORT|Ethernet504|fec",
        ERROR,
        "fec is fc, but the port needs rs",
        "set fec to rs",
    ),
    Case(
        "FG235",
        put("none", "leaf1", "PORT", "Ethernet504", "fec"),
        "leaf1:PORT|Ethernet504|fec",
        ERROR,
        "fec is none, but the port needs rs",
        "set fec to rs",
        clean=Switches("dynamic"),
    ),
    Case(
        "FG236",
        put("1x800G", "leaf1", "BREAKOUT_CFG", "Ethernet0", "brkout_mode"),
        "leaf1:BREAKOUT_CFG|Ethernet0|brkout_mode",
        ERROR,
        "breakout mode of Ethernet0 is 1x800G, but its ports are 2x400G",
        "set brkout_mode to 2x400G",
    ),
    Case(
        "FG236",
        drop("leaf1", "BREAKOUT_CFG", "Ethernet0"),
        "leaf1:BREAKOUT_CFG|Ethernet0",
        ERROR,
        "breakout mode of Ethernet0 is missing, but its ports are 2x400G[200G,100G,50G,40G,25G,10G]",
        "set brkout_mode to 2x400G[200G,100G,50G,40G,25G,10G]",
        clean=Switches("dynamic"),
    ),
    Case(
        "FG237",
        put("down", "leaf1", "PORT", "Ethernet0", "admin_status"),
        "leaf1:PORT|Ethernet0|admin_status",
        ERROR,
        "admin_status is down, but the port has a cable",
        "set admin_status to up",
    ),
    Case(
        "FG237",
        drop("spine1", "PORT", "Ethernet0", "admin_status"),
        "spine1:PORT|Ethernet0|admin_status",
        ERROR,
        "admin_status is missing, so it is down, but the port has a cable",
        "set admin_status to up",
    ),
    Case(
        "FG237",
        put("down", "spine1", "PORT", "Ethernet0", "admin_status"),
        "leaf1:PORT|Ethernet256|admin_status",
        ERROR,
        "admin_status is up, but the link of the port is cordoned, expected down",
        "set admin_status to down, or remove the entry of `links` from the inventory",
        clean=Switches(plug=of_wiring(cordoned("leaf1:Ethernet256"))),
    ),
    Case(
        "FG237",
        Row(LEAF0, "PORTCHANNEL", "PortChannel0", "down", "admin_status"),
        f"{LEAF0}:PORTCHANNEL|PortChannel0|admin_status",
        ERROR,
        "admin_status is down, but a port of it has a cable",
        "set admin_status to up",
        clean=BONDS,
    ),
    Case(
        "FG237",
        Row(LEAF0, "VLAN", "Vlan110", "down", "admin_status"),
        f"{LEAF0}:VLAN|Vlan110|admin_status",
        ERROR,
        "admin_status is down, but it has a gateway",
        "set admin_status to up",
        clean=BONDS,
    ),
    Case(
        "FG238",
        put("850000", "leaf1", "PORT", "Ethernet0", "speed"),
        "leaf1:PORT|Ethernet0|speed",
        ERROR,
        "speed is 850000, which is not an Ethernet speed",
        "set speed to that of the link",
        also=("FG241",),
    ),
    Case(
        "FG238",
        put("800000", "leaf1", "PORT", "Ethernet0", "speed"),
        "leaf1:PORT|Ethernet0|speed",
        ERROR,
        "speed is 800000, but 4 lanes of this switch carry at most 400000",
        "set speed to that of the link",
        also=("FG241",),
    ),
    Case(
        "FG357",
        both(
            put({"state": "disabled"}, "leaf1", "FEATURE", "snmp"),
            put({"TYPE": "RO"}, "leaf1", "SNMP_COMMUNITY", "${secret:snmp/read}"),
        ),
        "leaf1:FEATURE|snmp|state",
        WARNING,
        "FEATURE|snmp is disabled: nothing answers the managers that the file names",
        "set state to enabled",
        lenient=True,
    ),
    Case(
        "FG357",
        put({"state": "disabled"}, "spine1", "FEATURE", "syncd"),
        "spine1:FEATURE|syncd|state",
        ERROR,
        "FEATURE|syncd is disabled: no port comes up",
        "set state to enabled",
        lenient=True,
    ),
    Case(
        "FG358",
        put("dpu", "leaf1", "DEVICE_METADATA", "localhost", "switch_type"),
        "leaf1:DEVICE_METADATA|localhost|switch_type",
        ERROR,
        "switch_type is dpu, but the chip is Tomahawk5",
        "remove switch_type",
        lenient=True,
    ),
    Case(
        "FG357",
        put({"state": "disabled"}, "spine1", "FEATURE", "pmon"),
        "spine1:FEATURE|pmon|state",
        ERROR,
        "FEATURE|pmon is disabled: xcvrd does not start the optics of 400G and more, fans and sensors are not watched",
        "set state to enabled",
        also=("FG592",),
    ),
    Case(
        "FG357",
        put({"state": "disabled"}, "spine1", "FEATURE", "lldp"),
        "spine1:FEATURE|lldp|state",
        WARNING,
        "FEATURE|lldp is disabled: cables cannot be compared with the plan",
        "set state to enabled",
        also=("FG592",),
    ),
    Case(
        "FG232",
        no_subports,
        "leaf1:PORT|Ethernet0|subport",
        WARNING,
        "subport is missing, but the cage has several ports: xcvrd sets up its first lanes only",
        "set subport as the SKU's platform.json counts the ports of the cage",
        also=("FG593",),
    ),
    Case(
        "FG307",
        both(
            put("on", "leaf1", "PORT", "Ethernet0", "autoneg"),
            put(["800000"], "leaf1", "PORT", "Ethernet0", "adv_speeds"),
        ),
        "leaf1:PORT|Ethernet0|adv_speeds",
        ERROR,
        "adv_speeds has 800G, but the link is 400G",
        "set adv_speeds to 400000",
        lenient=True,
    ),
    Case(
        "FG307",
        both(
            put("on", "leaf1", "PORT", "Ethernet256", "autoneg"),
            put(["400000"], "leaf1", "PORT", "Ethernet256", "adv_speeds"),
            put("on", "spine1", "PORT", "Ethernet0", "autoneg"),
            put(["200000"], "spine1", "PORT", "Ethernet0", "adv_speeds"),
        ),
        "leaf1:PORT|Ethernet256|adv_speeds",
        ERROR,
        "400G of adv_speeds and 200G of the far end have no speed in common",
        "set adv_speeds to 400000",
        lenient=True,
    ),
    Case(
        "FG307",
        put("on", "leaf1", "PORT", "Ethernet0", "autoneg"),
        "leaf1:PORT|Ethernet0|autoneg",
        ERROR,
        "autoneg is on, and the cable is optical (smf)",
        "set autoneg to off at both ends",
        clean=Switches(plug=of_wiring(short)),
        lenient=True,
    ),
    Case(
        "FG307",
        both(
            put("on", "leaf1", "PORT", "Ethernet256", "autoneg"),
            put(["400000", "800000"], "leaf1", "PORT", "Ethernet256", "adv_speeds"),
        ),
        "leaf1:PORT|Ethernet256|adv_speeds",
        ERROR,
        "adv_speeds has 800G, and the cable is made for 400G",
        "set adv_speeds to 400000",
        lenient=True,
    ),
    Case(
        "FG428",
        put("disabled", "leaf1", "FEATURE", "bgp", "auto_restart"),
        "leaf1:FEATURE|bgp|auto_restart",
        WARNING,
        "auto_restart of bgp is disabled: after a crash it stays down",
        "set auto_restart to enabled",
        lenient=True,
    ),
    Case(
        "FG429",
        put("Int", "leaf1", "PORT", "Ethernet256", "role"),
        "leaf1:PORT|Ethernet256|role",
        ERROR,
        "role is Int: xcvrd does not start the optics of the port to spine1",
        "remove role",
        lenient=True,
    ),
]

CASES += [
    Case(
        "FG294",
        Row(LEAF0, "PORTCHANNEL", "PortChannel0", "3", "min_links"),
        f"{LEAF0}:PORTCHANNEL|PortChannel0|min_links",
        ERROR,
        "min_links is 3, but PortChannel0 has 2 ports: it stays down",
        "set min_links to 2 or less",
        clean=BONDS,
    ),
    Case(
        "FG294",
        Row(LEAF0, "PORT", "Ethernet4", "200000", "speed"),
        f"{LEAF0}:PORTCHANNEL_MEMBER|PortChannel0|Ethernet4",
        ERROR,
        "Ethernet4 has 200G, but other ports of PortChannel0 400G",
        "use ports of one speed",
        clean=BONDS,
        lenient=True,
    ),
    Case(
        "FG298",
        Row(LEAF0, "PORTCHANNEL", "PortChannel0", "9000", "mtu"),
        f"{LEAF0}:PORTCHANNEL|PortChannel0|mtu",
        WARNING,
        "the MTU of Ethernet0 is 9100 bytes, but PortChannel0 sets 9000 bytes",
        "set mtu to 9100",
        clean=BONDS,
        lenient=True,
    ),
    Case(
        "FG298",
        Row(LEAF0, "VLAN", "Vlan110", "1500", "mtu"),
        f"{LEAF0}:VLAN|Vlan110|mtu",
        WARNING,
        "the MTU of Vlan110 is 1500 bytes, but that of its member PortChannel0 is 9100 bytes",
        "set mtu to 9100",
        clean=BONDS,
    ),
]
