"""PORT and BREAKOUT_CFG against the SKU's own port table."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.platforms.model import PlatformPort
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, Switch, number
from fabricgen.sonic.tables import Row

# PAM4 signalling starts at 50 Gb/s per lane, and needs RS-FEC.
_PAM4_LANE_MBPS = 50_000


@rule("FG231", Severity.ERROR, "A port is not one of the SKU's, or is missing")
def ports_of_layout(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT has exactly the ports of the hwsku's own port table.

    Why: a port that the SKU does not have is refused by the SAI; a missing one takes its cage out of service, and
    rows of other tables that name it are retried for ever.

    Example: PORT has Ethernet2 on a SKU whose ports are four lanes wide.

    Fix: take the ports from the SKU's port_config.ini; another breakout is another hwsku or a BREAKOUT_CFG change.

    Source: sonic-buildimage device/<vendor>/<platform>/<hwsku>/port_config.ini.
    """
    for switch in fabric.switches.values():
        if not switch.layout:
            continue
        have, known = switch.device.table("PORT"), switch.layout.port_by_name
        for name in known.keys() - have.keys():
            message = f"port {name} of hwsku {switch.hwsku} is missing from PORT"
            yield Defect(switch.place("PORT", name), message, "add the port as the SKU's port_config.ini has it")
        for name in have.keys() - known.keys():
            message = f"hwsku {switch.hwsku} has no port {name}"
            yield Defect(switch.place("PORT", name), message, "remove the port, or correct the hwsku")


@rule("FG232", Severity.ERROR, "Lanes, alias, index or subport differ from the SKU's")
def port_identity(fabric: Fabric) -> Iterator[Defect]:
    """What: lanes, alias, index and subport of each port are those of the hwsku's port table.

    Why: lanes tie the logical port to the wires of a cage; the YANG model accepts any text. A wrong index or subport
    makes xcvrd program another module or the wrong half of it, and the link stays down.

    Example: Ethernet0 of an Arista 7060X6 with lanes 1,2,3,4: those belong to Ethernet8.

    Fix: copy the values from the SKU's port_config.ini and platform.json; they follow no rule that could be computed.

    Source: sonic-buildimage port_config.ini, platform.json; sonic-platform-daemons xcvrd (subport).
    """
    texts: dict[int, dict[str, str]] = {}  # by the port's id: the switches of a model share its ports
    subports = {
        switch: any("subport" in row for row in switch.device.table("PORT").values())
        for switch in fabric.switches.values()
    }
    for switch, name, row, port in _known_ports(fabric):
        expected = texts.get(id(port)) or texts.setdefault(id(port), _identity(port))
        for field, value in expected.items():
            if row.get(field) != value and (field != "subport" or _is_wrong_subport(row, value, subports[switch])):
                message = f"{field} of {name} is {_shown(row.get(field))}, the SKU has {value}"
                yield Defect(switch.place("PORT", name, field), message, f"set {field} to {value}")


@rule("FG233", Severity.ERROR, "Two ports share a lane or an alias")
def shared_lane(fabric: Fabric) -> Iterator[Defect]:
    """What: on one switch each lane belongs to one port, and each alias names one port.

    Why: ports that overlap are refused by the SAI, or take each other down when one is brought up.

    Example: Ethernet0 has lanes 1,2,3,4 and Ethernet2 has 3,4.

    Fix: correct the lanes; see the SKU's port_config.ini.

    Source: sonic-buildimage issues 10131 and 7779. Checked without a catalog entry; with one, FG232 is sharper.
    """
    for switch in fabric.switches.values():
        if switch.layout:
            continue
        for field in ("lanes", "alias"):
            owner: dict[str, str] = {}
            for name, row in switch.device.table("PORT").items():
                value = row.get(field)
                parts = value.split(",") if isinstance(value, str) and field == "lanes" else [str(value or name)]
                first = next((owner[part] for part in parts if part in owner), None)
                if first:
                    message = f"{field} {value} of {name} overlaps that of {first}"
                    related = ((f"{first}", switch.place("PORT", first, field)),)
                    yield Defect(switch.place("PORT", name, field), message, "", related)
                owner.update((part, name) for part in parts if part not in owner)


@rule("FG234", Severity.WARNING, "The speed of an unused port is not the SKU's")
def unused_port_speed(fabric: Fabric) -> Iterator[Defect]:
    """What: a port without a cable runs at the speed that its SKU starts it with.

    Why: speed and lanes belong together. A port left at another speed gives no link when a cable is put in. Ports with
    a cable are judged by the speed of the link (FG241).

    Example: an unused port of a 128x400G SKU at speed 100000.

    Fix: set speed to the SKU's.

    Source: sonic-buildimage port_config.ini, hwsku.json.
    """
    for switch, name, row, port in _known_ports(fabric):
        if number(row.get("speed")) != port.speed_mbps and name not in fabric.ends_of[switch.name]:
            message = f"speed is {_shown(row.get('speed'))}, the SKU has {port.speed_mbps}"
            yield Defect(switch.place("PORT", name, "speed"), message, f"set speed to {port.speed_mbps}")


# IEEE 802.3, from 1000BASE to 1.6TBASE.
_ETHERNET_MBPS = frozenset({
    1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000,
})  # fmt: skip


@rule("FG238", Severity.ERROR, "No Ethernet port has this speed")
def ethernet_speed(fabric: Fabric) -> Iterator[Defect]:
    """What: the speed of a port is one that Ethernet has.

    Why: YANG takes any number up to 1600000. orchagent refuses others, and the port stays at its old speed.

    Example: speed 850000.

    Fix: set the speed of the link.

    Source: IEEE 802.3; sonic-swss orchagent/portsorch.cpp (supported speeds of the port).
    """
    for switch in fabric.switches.values():
        for name, row in switch.device.table("PORT").items():
            speed = number(row.get("speed")) if isinstance(row, dict) else None
            if speed and speed not in _ETHERNET_MBPS:
                yield Defect(switch.place("PORT", name, "speed"), f"speed is {speed}", "set the speed of the link")


@rule("FG235", Severity.ERROR, "The FEC does not fit the port")
def fec(fabric: Fabric) -> Iterator[Defect]:
    """What: fec is rs from 50 Gb/s per lane on, and otherwise what the SKU's port table has.

    Why: PAM4 links have no usable error rate without RS-FEC: the port is refused or never comes up.

    Example: a 400G port of four lanes with fec "fc".

    Fix: set fec to rs on PAM4 ports at both ends.

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
            absent_is_fine = found is None and not (port and port.fec)
            if expected and found != expected and not absent_is_fine:
                message = f"fec is {_shown(found)}, the port needs {expected}"
                yield Defect(switch.place("PORT", name, "fec"), message, f"set fec to {expected}")


@rule("FG236", Severity.ERROR, "The breakout mode is not the one that the ports are made of")
def breakout_mode(fabric: Fabric) -> Iterator[Defect]:
    """What: BREAKOUT_CFG has each cage with the mode that the SKU's ports are made of.

    Why: the next dynamic breakout starts from this row. When it lies, the CLI deletes or makes the wrong ports; the
    YANG model accepts any text.

    Example: two 400G ports in a cage whose row says 1x800G.

    Fix: set brkout_mode to the SKU's.

    Source: sonic-buildimage hwsku.json, platform.json; sonic-buildimage issue 9478.
    """
    for switch in fabric.switches.values():
        rows = switch.device.table("BREAKOUT_CFG")
        if not switch.layout or not rows:
            continue
        modes = {port.parent: port.breakout_mode for port in switch.layout.ports}
        for cage, mode in modes.items():
            found = switch.device.text_of("BREAKOUT_CFG", cage, "brkout_mode")
            if found != mode:
                message = f"breakout mode of {cage} is {found or 'missing'}, its ports are {mode}"
                field = "brkout_mode" if cage in rows else ""
                yield Defect(switch.place("BREAKOUT_CFG", cage, field), message, f"set brkout_mode to {mode}")
        for cage in rows.keys() - modes.keys():
            yield Defect(switch.place("BREAKOUT_CFG", cage), f"{cage} is no cage of hwsku {switch.hwsku}")


@rule("FG237", Severity.ERROR, "A wired port is not up")
def admin_status(fabric: Fabric) -> Iterator[Defect]:
    """What: every port with a cable has admin_status up.

    Why: SONiC's default is down. A link that is down at one end carries nothing, and ECMP quietly loses a path.

    Example: PORT|Ethernet256 leads to spine1 and has no admin_status.

    Fix: set admin_status to up; a device that is drained on purpose says so with state drained in the inventory.

    Source: sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang (default down).
    """
    for end in fabric.ends:
        wired = end.switch.device.wired
        if wired and wired.state in ("drained", "failed", "planned"):
            continue
        if end.port in end.switch.device.table("PORT") and end.text("admin_status") != "up":
            found = end.text("admin_status") or "missing, which means down"
            yield Defect(end.place("PORT", "admin_status"), f"a wired port has admin_status {found}", "set it to up")


def _identity(port: PlatformPort) -> dict[str, str]:
    """What PORT must say of a port."""
    lanes = ",".join(map(str, port.lanes))
    return {"lanes": lanes, "alias": port.alias, "index": str(port.index), "subport": str(port.subport)}


def _is_wrong_subport(row: Row, value: str, is_known: bool) -> bool:
    """An absent subport means 0, and says nothing in files of releases that do not know the field (`is_known`)."""
    return "subport" in row or (is_known and value != "0")


def _known_ports(fabric: Fabric) -> Iterator[tuple[Switch, str, Row, PlatformPort]]:
    for switch in fabric.switches.values():
        if switch.layout:
            known = switch.layout.port_by_name
            for name, row in switch.device.table("PORT").items():
                if port := known.get(name):
                    yield switch, name, row, port


def _shown(value: object) -> str:
    return "missing" if value is None else str(value)
