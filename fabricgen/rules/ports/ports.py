"""Rules that compare PORT and BREAKOUT_CFG with the SKU's own port table."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.platforms.model import IMPORTED, PlatformPort, SwitchPlatform
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.cable_texts import copper_links
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.tables import Row

# PAM4 signalling starts at 50 Gb/s per lane, and needs RS-FEC.
_PAM4_LANE_MBPS = 50_000


@rule("FG231", Severity.ERROR, "A port is missing, or unknown to the SKU", breaks=Breaks.LINK)
def ports_of_layout(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT has exactly the ports of the hwsku's own port table.

    Why: The SAI rejects a port that the SKU does not have. A missing port takes its cage out of service, and SONiC
    retries rows of other tables for it for ever. A platform that an import made of files without PORT is not judged.

    Example: PORT has Ethernet2 on a SKU whose ports are four lanes wide.

    Fix: Use the ports of the SKU's port_config.ini. Another breakout needs another hwsku or a change of BREAKOUT_CFG.

    Source: sonic-buildimage device/<vendor>/<platform>/<hwsku>/port_config.ini.
    """
    for switch in fabric.switches.values():
        if not switch.layout or (_is_of_files(switch) and not switch.device.table("PORT")):
            continue
        have, known = switch.device.table("PORT"), switch.layout.port_by_name
        for name in (one for one in known if one not in have):
            message = f"port {name} of hwsku {switch.hwsku} is missing in PORT"
            yield Defect(switch.place("PORT", name), message, "add the port from the SKU's port_config.ini")
        for name in (one for one in have if one not in known):
            message = f"port {name} is unknown to hwsku {switch.hwsku}"
            yield Defect(switch.place("PORT", name), message, "remove the port, or correct the hwsku")


def _is_of_files(switch: Switch) -> bool:
    """Whether the platform of a switch is one that an import made of its file."""
    return switch.platform is not None and switch.platform.vendor == IMPORTED


@rule("FG232", Severity.ERROR, "Lanes, alias, index or subport differ from the SKU's")
def port_identity(fabric: Fabric) -> Iterator[Defect]:
    """What: lanes, alias, index and subport of each port are those of the hwsku's port table. A file without any
    subport is a warning at the ports that share a cage and have a cable that may be optical.

    Why: lanes connect the logical port to a cage; the YANG model accepts any text. With a wrong index or subport xcvrd
    programs another module or the wrong half of it, and the link stays down. A missing subport is 0: xcvrd then sets up
    the first lanes of the module for each of its ports, so only one of them comes up. Images before 202211 do not read
    it.

    A platform that an import made of the files has lanes, alias and index for each port, also where the files have
    none.

    Example: Ethernet0 of an Arista 7060X6 has lanes 1,2,3,4, which belong to Ethernet8.

    Fix: Copy the values from the SKU's port_config.ini and platform.json; they cannot be computed.

    Source: sonic-buildimage port_config.ini, platform.json; sonic-platform-daemons xcvrd (subport), pull request 342;
    sonic-buildimage pull request 18499.
    """
    texts: dict[PlatformPort, dict[str, str]] = {}  # switches of a model share its ports
    subports = {
        switch: any("subport" in row for row in switch.device.table("PORT").values())
        for switch in fabric.switches.values()
    }
    for switch, name, row, port in _known_ports(fabric):
        expected = texts.get(port) or texts.setdefault(port, _identity(port))
        for field, value in expected.items():
            if field not in row and _is_of_files(switch):
                continue
            if row.get(field) != value and (field != "subport" or _is_wrong_subport(row, value, subports[switch])):
                verb = "are" if field == "lanes" else "is"
                message = f"{field} of {name} {verb} {_shown(row.get(field))}, but the SKU has {value}"
                yield Defect(switch.place("PORT", name, field), message, f"set {field} to {value}")
            elif field == "subport" and value != "0" and not subports[switch] and _needs_subport(fabric, switch, name):
                message = "subport is missing, but the cage has several ports: xcvrd sets up its first lanes only"
                hint = "set subport as the SKU's platform.json counts the ports of the cage"
                yield Defect(switch.place("PORT", name, field), message, hint, severity=Severity.WARNING)


@rule("FG233", Severity.ERROR, "Two ports share a lane or an alias")
def shared_lane(fabric: Fabric) -> Iterator[Defect]:
    """What: On one switch each lane belongs to one port, and each alias names one port.

    Why: The SAI rejects ports that overlap, or one port goes down when the other comes up.

    Example: Ethernet0 has lanes 1,2,3,4 and Ethernet2 has 3,4.

    Fix: Correct the lanes; see the SKU's port_config.ini.

    Source: sonic-buildimage issues 10131 and 7779. Only for a hwsku without a catalog entry, or with one that an import
    made of the files; FG232 covers the others.
    """
    for switch in fabric.switches.values():
        if switch.layout and not _is_of_files(switch):
            continue
        for field in ("lanes", "alias"):
            owner: dict[str, str] = {}
            for name, row in switch.device.table("PORT").items():
                value = row.get(field)
                parts = value.split(",") if isinstance(value, str) and field == "lanes" else [str(value or name)]
                first = next((owner[part] for part in parts if part in owner), None)
                if first:
                    shared = "overlap those" if field == "lanes" else "is also that"
                    message = f"{field} {value} of {name} {shared} of {first}"
                    related = ((f"{first}", switch.place("PORT", first, field)),)
                    hint = f"correct {field} of one of the ports"
                    yield Defect(switch.place("PORT", name, field), message, hint, related)
                owner.update((part, name) for part in parts if part not in owner)


@rule("FG234", Severity.WARNING, "The speed of an unused port differs from the SKU's")
def unused_port_speed(fabric: Fabric) -> Iterator[Defect]:
    """What: A port without a cable has the default speed of its SKU.

    Why: Speed and lanes belong together. A port with another speed gets no link when a cable is connected. FG241 covers
    ports with a cable.

    Example: An unused port of a 128x400G SKU has speed 100000.

    Fix: Set speed to the SKU's.

    Source: sonic-buildimage port_config.ini, hwsku.json.
    """
    for switch, name, row, port in _known_ports(fabric):
        if number(row.get("speed")) != port.speed_mbps and name not in fabric.ends_of[switch.name]:
            message = f"speed is {_shown(row.get('speed'))}, but the SKU has {port.speed_mbps}"
            yield Defect(switch.place("PORT", name, "speed"), message, f"set speed to {port.speed_mbps}")


# IEEE 802.3, from 1000BASE to 1.6TBASE.
_ETHERNET_MBPS = frozenset({
    10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000,
})  # fmt: skip


_IN_CHIP = ("Inb", "Rec")  # packets leave and enter the chip without a cable: one logical lane, and no FEC
_MOST_LANE_MBPS = 200_000  # IEEE 802.3dj, for a switch that the catalog does not have


@rule("FG238", Severity.ERROR, "The speed does not exist in Ethernet, or its lanes cannot carry it", breaks=Breaks.LINK)
def ethernet_speed(fabric: Fabric) -> Iterator[Defect]:
    """What: The speed of a port is a speed of Ethernet, and not above what its lanes carry on this model.

    Why: YANG accepts any number up to 1600000. orchagent hands it to the SAI, which refuses it or not; buffermgrd finds
    no headroom for it.

    Example: speed 850000; speed 800000 on four lanes of 100 Gb/s.

    Fix: Set the speed of the link, or give the port the lanes of the SKU for this speed.

    Ports with role Rec or Inb are inside the chip: their one lane has any speed.

    Source: IEEE 802.3; sonic-swss orchagent/portsorch.cpp (supported speeds of the port); measured with sonic-swss
    6079a435 (programmed as written); sonic-buildimage
    device/nexthop/x86_64-nexthop_5010-r0/NH-5010-F-O32-C32/port_config.ini (Ethernet-Rec0).
    """
    lane_mbps: dict[str, int] = {}  # by hwsku
    for switch in fabric.switches.values():
        if switch.hwsku not in lane_mbps:
            lane_mbps[switch.hwsku] = _lane_mbps(switch.platform)
        fastest = lane_mbps[switch.hwsku]
        for name, row in switch.device.table("PORT").items():
            speed, given = number(row.get("speed")), row.get("lanes")
            lanes = len(given.split(",")) if isinstance(given, str) and row.get("role") not in _IN_CHIP else 0
            if speed and speed not in _ETHERNET_MBPS:
                message = f"speed is {speed}, which is not an Ethernet speed"
                yield Defect(switch.place("PORT", name, "speed"), message, "set speed to that of the link")
            elif speed and lanes and speed > lanes * fastest:
                message = f"speed is {speed}, but {lanes} lanes of this switch carry at most {lanes * fastest}"
                yield Defect(switch.place("PORT", name, "speed"), message, "set speed to that of the link")


def _lane_mbps(platform: SwitchPlatform | None) -> int:
    """The fastest lane of any layout of a platform."""
    layouts = platform.layouts if platform else ()
    rates = (port.speed_mbps // len(port.lanes) for layout in layouts for port in layout.ports)
    return max(rates, default=_MOST_LANE_MBPS)


@rule("FG235", Severity.ERROR, "The FEC is wrong for the port", breaks=Breaks.SIGNAL)
def fec(fabric: Fabric) -> Iterator[Defect]:
    """What: fec is rs for 50 Gb/s per lane and more, else that of the SKU's port table.

    Why: PAM4 links need RS-FEC for a usable error rate: otherwise SONiC rejects the port, or the link stays down.

    Example: A 400G port of four lanes with fec "fc".

    Fix: Set fec to rs on PAM4 ports at both ends.

    Source: IEEE 802.3 clause 91 and 119; sonic-utilities pull request 3908.
    """
    for switch in fabric.switches.values():
        known = switch.layout.port_by_name if switch.layout else {}
        for name, row in switch.device.table("PORT").items():
            found, speed, lanes = row.get("fec"), number(row.get("speed")), row.get("lanes")
            port = known.get(name)
            lane_count = len(port.lanes) if port else len(lanes.split(",")) if isinstance(lanes, str) else 1
            expected = port.fec if port else ""
            if speed and speed // lane_count >= _PAM4_LANE_MBPS:
                expected = "rs"
            absent_is_fine = (found is None and not (port and port.fec)) or row.get("role") in _IN_CHIP
            if expected and found != expected and not absent_is_fine:
                message = f"fec is {_shown(found)}, but the port needs {expected}"
                yield Defect(switch.place("PORT", name, "fec"), message, f"set fec to {expected}")


@rule("FG236", Severity.ERROR, "The breakout mode does not match the ports", breaks=Breaks.SIGNAL)
def breakout_mode(fabric: Fabric) -> Iterator[Defect]:
    """What: BREAKOUT_CFG has every cage with the mode of the SKU's ports. Cages whose mode no source states are not
    judged.

    Why: The next dynamic breakout starts from this row. If it is wrong, the CLI deletes or creates the wrong ports; the
    YANG model accepts any text.

    Example: Two 400G ports are in a cage whose row has 1x800G.

    Fix: Set brkout_mode to the SKU's.

    Source: sonic-buildimage hwsku.json, platform.json; sonic-buildimage issue 9478.
    """
    for switch in fabric.switches.values():
        rows = switch.device.table("BREAKOUT_CFG")
        if not switch.layout or not rows:
            continue
        cages = {port.parent for port in switch.layout.ports}
        for cage, mode in switch.layout.breakout_modes.items():
            found = switch.device.text_of("BREAKOUT_CFG", cage, "brkout_mode")
            if found != mode:
                message = f"breakout mode of {cage} is {found or 'missing'}, but its ports are {mode}"
                field = "brkout_mode" if cage in rows else ""
                yield Defect(switch.place("BREAKOUT_CFG", cage, field), message, f"set brkout_mode to {mode}")
        for cage in (one for one in rows if one not in cages):
            hint = "remove the row"
            yield Defect(switch.place("BREAKOUT_CFG", cage), f"{cage} is not a cage of hwsku {switch.hwsku}", hint)


@rule("FG237", Severity.ERROR, "A port with a cable is not up, or a cordoned one is not down", breaks=Breaks.LINK)
def admin_status(fabric: Fabric) -> Iterator[Defect]:
    """What: Every port with a cable has admin_status up, and both ports of a cordoned link have admin_status down. A
    port channel of such ports, and a VLAN with a gateway, are not down.

    Why: SONiC's default for ports is down. A link that is down at one end carries no traffic, and ECMP loses a path
    without an error. A cordoned link that is up carries traffic over a cable that is taken out of service. Hosts behind
    a port channel or a VLAN that is down reach nothing outside.

    Example: PORT|Ethernet256 leads to spine1 and has no admin_status.

    Fix: Set admin_status to up. A device that is drained on purpose has state drained in the inventory, and a link
    that is out of service has state cordoned.

    Source: sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang (default down); sonic-swss
    cfgmgr/teammgr.cpp and cfgmgr/vlanmgr.cpp (admin_status; the default is up).
    """
    yield from _of_ports(fabric)
    for switch in fabric.switches.values():
        if switch.is_in_service:
            yield from _of_aggregates(fabric, switch)


def _of_ports(fabric: Fabric) -> Iterator[Defect]:
    cordoned = fabric.bundle.cordoned
    for end in fabric.ends:
        if not cordoned and end.text("admin_status") == "up":
            continue
        if not end.switch.is_in_service:
            continue
        if (end.switch.name, end.port) in cordoned:
            if (found := end.text("admin_status") or "down") != "down":
                message = f"admin_status is {found}, but the link of the port is cordoned, expected down"
                hint = "set admin_status to down, or remove the entry of `links` from the inventory"
                yield Defect(end.place("PORT", "admin_status"), message, hint)
        elif end.port in end.switch.device.table("PORT") and end.text("admin_status") != "up":
            found = end.text("admin_status") or "missing, so it is down"
            hint = "set admin_status to up"
            yield Defect(end.place("PORT", "admin_status"), f"admin_status is {found}, but the port has a cable", hint)


def _of_aggregates(fabric: Fabric, switch: Switch) -> Iterator[Defect]:
    """Port channels and VLANs that are down, although a port of theirs has a cable in service, or hosts have their
    gateway there."""
    ends, cordoned = fabric.ends_of[switch.name], fabric.bundle.cordoned
    used = {
        channel: "a port of it has a cable"
        for port, channel in switch.channel_of.items()
        if port in ends and (switch.name, port) not in cordoned
    }
    gateways = {
        key.partition("|")[0]: "it has a gateway" for key in switch.device.table("VLAN_INTERFACE") if "|" in key
    }
    for table, why in (("PORTCHANNEL", used), ("VLAN", gateways)):
        for name, row in switch.device.table(table).items():
            if name in why and row.get("admin_status") == "down":
                message = f"admin_status is down, but {why[name]}"
                yield Defect(switch.place(table, name, "admin_status"), message, "set admin_status to up")


def _identity(port: PlatformPort) -> dict[str, str]:
    """The expected fields of a port in PORT."""
    lanes = ",".join(map(str, port.lanes))
    return {"lanes": lanes, "alias": port.alias, "index": str(port.index), "subport": str(port.subport)}


def _is_wrong_subport(row: Row, value: str, is_known: bool) -> bool:
    """A missing subport means 0. In files of releases without the field (not `is_known`) it has no meaning."""
    return "subport" in row or (is_known and value != "0")


_SUBPORT_SINCE = 202211  # sonic-platform-daemons pull request 342


def _needs_subport(fabric: Fabric, switch: Switch, port: str) -> bool:
    """Whether a port has a cable whose module xcvrd may have to set up."""
    end = fabric.ends_of[switch.name].get(port)
    return end is not None and switch.device.release >= _SUBPORT_SINCE and end.link.id not in copper_links(fabric)


def _known_ports(fabric: Fabric) -> Iterator[tuple[Switch, str, Row, PlatformPort]]:
    for switch in fabric.switches.values():
        if switch.layout:
            known = switch.layout.port_by_name
            for name, row in switch.device.table("PORT").items():
                if port := known.get(name):
                    yield switch, name, row, port


def _shown(value: object) -> str:
    return "missing" if value is None else str(value)


_INTERNAL = ("Dpc", "Inb", "Int", "Rec")


@rule("FG429", Severity.ERROR, "A port with a cable is marked as an internal one", breaks=Breaks.LINK)
def internal_port(fabric: Fabric) -> Iterator[Defect]:
    """What: role of a port with a cable is Ext or missing.

    Why: xcvrd and lldpmgrd leave internal ports out. The data path of CMIS optics is not set up, so links of 400G and
    800G stay down, and LLDP does not see the neighbor.

    Example: PORT|Ethernet256 has role Int, copied from a chassis.

    Fix: Remove role, or set it to Ext.

    Source: sonic-platform-daemons sonic-xcvrd xcvrd_utilities/port_event_helper.py (is_front_panel_port);
    sonic-buildimage src/sonic-py-common/sonic_py_common/multi_asic.py, dockers/docker-lldp/lldpmgrd.
    """
    for ends in fabric.ends_of.values():
        for end in ends.values():
            if (role := end.text("role")) in _INTERNAL:
                message = f"role is {role}: xcvrd does not start the optics of the port to {end.far_name}"
                yield Defect(end.place("PORT", "role"), message, "remove role")
