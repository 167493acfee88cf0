"""Rules on priority flow control: the priorities with PFC, and the queues and priority groups that belong to them."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass, priorities
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.sonic.tables import format_ranges, parse_priorities

# The maps that every port needs; pfc_to_pg_map depends on the ASIC and is judged with the maps.
_LOSSY_MAPS = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map")
_PORT_MAPS = (*_LOSSY_MAPS, "pfc_to_queue_map")


@rule("FG511", Severity.ERROR, "A wired port has no QoS maps", breaks=Breaks.LOSSLESS)
def port_without_maps(fabric: Fabric) -> Iterator[Defect]:
    """What: Every port with a cable has a PORT_QOS_MAP row that names its maps and its PFC priorities. A port with PFC
    has its own DSCP map, also where PORT_QOS_MAP|global has one. A switch without any QoS in a plane without lossless
    classes is FG578.

    Why: The QoS row is per port. A port without it treats every packet as lossy class 0, and one such hop is enough
    to drop RDMA packets of the whole fabric. On planes without lossless classes, control traffic waits behind all other
    traffic. Whether a port without a DSCP map has that of the switch depends on the chip, and
    SONiC's template sets one on each port in all releases.

    Example: PORT_QOS_MAP has rows for Ethernet0 to Ethernet504 but none for Ethernet508, which leads to spine4.

    Fix: Give the port the same row as the other ports: dscp_to_tc_map, tc_to_queue_map, tc_to_pg_map, and with lossless
    classes pfc_to_queue_map, pfc_enable and pfcwd_sw_enable.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (PORT_ACTIVE); sonic-swss orchagent/qosorch.cpp.
    """
    for ports in port_classes(fabric):
        if not ports.is_wired or not (ports.lossless or ports.qos.is_lossy or ports.port_map):
            continue
        if ports.qos.is_lossy and not any(switch.has_qos for switch in ports.qos.switches):
            continue
        if not ports.port_map:
            hint = "add the row, equal to that of the other ports"
            yield from ports.defects("PORT_QOS_MAP", "", "", "the port has a cable but no PORT_QOS_MAP row", hint)
            continue
        for name in _LOSSY_MAPS if ports.qos.is_lossy or ports.is_external else _PORT_MAPS:
            if name not in ports.port_map:
                message = f"{name} is missing on a port with a cable"
                yield from ports.defects(
                    "PORT_QOS_MAP", "", name, message, f"set {name} to the map that the other ports use"
                )
    for switch in fabric.switches.values():
        rows = switch.device.table("PORT_QOS_MAP")
        of_switch = rows.get("global", {}).get("dscp_to_tc_map")
        if not of_switch:
            continue  # all ports without a map are reported above
        for key, row in rows.items():
            if key != "global" and row.get("pfc_enable") and "dscp_to_tc_map" not in row:
                message = (
                    "dscp_to_tc_map is missing on a port with PFC: it depends on the chip whether that of the switch "
                    "holds"
                )
                place = switch.place("PORT_QOS_MAP", key, "dscp_to_tc_map")
                yield Defect(place, message, f"set dscp_to_tc_map to {of_switch}")


@rule("FG512", Severity.ERROR, "The watchdog does not guard exactly the priorities with PFC")
def watchdog_priorities(fabric: Fabric) -> Iterator[Defect]:
    """What: pfcwd_sw_enable of a port lists exactly the lossless priorities.

    Why: The PFC watchdog monitors only the queues in this mask. Without a watchdog, one broken NIC can stop a priority
    for ever. With an empty mask the watchdog does not start.

    Example: pfc_enable is "3,4" and pfcwd_sw_enable is "3": the watchdog never ends a storm on priority 4.

    Fix: Set pfcwd_sw_enable to the same list as pfc_enable.

    Source: sonic-swss orchagent/pfcwdorch.cpp getLosslessTcsForPort; sonic-swss pull request 795.
    """
    for ports in _with_map(fabric):
        if ports.watchdog != ports.lossless:
            guarded, lossless = priorities(ports.watchdog), priorities(ports.lossless)
            message = f"pfcwd_sw_enable is {guarded}, expected {lossless}"
            yield from ports.defects("PORT_QOS_MAP", "", "pfcwd_sw_enable", message, _set("pfcwd_sw_enable", ports))


@rule("FG513", Severity.ERROR, "PFC is not enabled on exactly the lossless priorities", breaks=Breaks.LOSSLESS)
def pfc_priorities(fabric: Fabric) -> Iterator[Defect]:
    """What: pfc_enable of a port lists exactly the lossless priorities of its plane.

    Why: A lossless priority without PFC drops as soon as its headroom is full; a lossy priority with PFC pauses
    traffic that has no headroom. Without fabric.json the expected priorities are those that most of the port's priority
    groups, queues and watchdog mask have.

    Example: The plane's RoCE classes are 3 and 4, Ethernet8 has pfc_enable "3".

    Fix: Set pfc_enable to the lossless priorities.

    Source: IEEE 802.1Qbb; sonic-swss orchagent/qosorch.cpp; sonic-mgmt tests/qos/test_buffer_traditional.py.
    """
    for ports in _with_map(fabric):
        if ports.pfc != ports.lossless:
            found = priorities(ports.pfc) if ports.pfc else "not set"
            message = f"pfc_enable is {found}, expected {priorities(ports.lossless)}"
            hint = _set("pfc_enable", ports)
            if not (ports.lossless or ports.is_external):
                hint = f"make {found} lossless (headroom, queues, maps; `lossless` of the plane), or {hint}"
            yield from ports.defects("PORT_QOS_MAP", "", "pfc_enable", message, hint)


@rule(
    "FG514",
    Severity.ERROR,
    "The priority groups with headroom are not exactly those of the lossless classes",
    breaks=Breaks.LOSSLESS,
)
def lossless_groups(fabric: Fabric) -> Iterator[Defect]:
    """What: Exactly the priority groups of lossless classes have a profile with headroom in BUFFER_PG.

    Why: A group without headroom cannot store the packets that arrive after the pause frame was sent: it drops them
    even with PFC. A lossy group with headroom wastes buffer and hides a wrong map. On ports that are down and have no
    cable the fault has no effect yet (a warning).

    In the traditional model buffermgrd writes the missing rows of the priorities in pfc_enable, with the profile of the
    SKU's pg_profile_lookup.ini for the speed and the cable length. Files that SONiC's own templates make have no such
    rows. Without fabric.json it is a note if the table has the speed, and a warning if the table is not known. With
    fabric.json the headroom is planned, and that of such rows cannot be judged.

    Example: pfc_enable is "3,4", BUFFER_PG has Ethernet0|3 with pg_lossless_400000_40m_profile and no row for 4.

    Fix: Bind the lossless profile (dynamic model: NULL) to the group, or ingress_lossy_profile to a lossy one.

    Source: sonic-swss cfgmgr/buffermgr.cpp (doSpeedUpdateTask); sonic-buildimage
    files/build_templates/buffers_config.j2; sonic-mgmt tests/qos/test_buffer_traditional.py.
    """
    for ports in _with_map(fabric):
        wanted = frozenset(map(ports.group_of, ports.lossless))
        made = ports.made_pgs if _may_be_made(ports) else frozenset()
        yield from _compare(ports, "BUFFER_PG", wanted - made, ports.lossless_pgs, "priority group", "headroom")
        for rest in format_ranges(wanted & made):
            message = f"lossless priority group {rest} has no BUFFER_PG row: buffermgrd writes it"
            severity = Severity.NOTE
            if not ports.qos.layout:
                message += " if the SKU's pg_profile_lookup.ini, which is not known, has the speed and the cable length"
                severity = ports.idle_severity or Severity.WARNING
            hint = f"add the row BUFFER_PG|<port>|{rest}, so that its headroom is judged"
            yield from ports.defects("BUFFER_PG", rest, "", message, hint, (), severity)


def _may_be_made(ports: PortClass) -> bool:
    """Whether rows are not planned, and the SKU's headroom table may have the speed of each port. FG531 and FG539 judge
    the cable length."""
    if ports.qos.plane:
        return False
    speeds = {mbps for mbps, _ in ports.qos.headroom_keys}
    members = ports.members if ports.qos.layout else ()
    return all(switch.speed_mbps(port) in speeds for switch, port, _ in members)


@rule(
    "FG515",
    Severity.ERROR,
    "The queues with the lossless profile are not exactly those of the lossless classes",
    breaks=Breaks.LOSSLESS,
)
def lossless_queues(fabric: Fabric) -> Iterator[Defect]:
    """What: Exactly the queues of lossless classes have the lossless egress profile in BUFFER_QUEUE.

    Why: A lossless queue with a lossy profile drops packets at egress before the switch pauses its neighbor. A lossy
    queue with the lossless profile can use the buffer that lossless traffic needs. On ports that are down and have no
    cable this is a warning.

    Example: TC 3 uses queue 3, but BUFFER_QUEUE|Ethernet0|3 has egress_lossy_profile.

    Fix: Bind the platform's lossless queue profile to the queues of lossless classes, and to no other queue.

    Source: sonic-buildimage files/build_templates/buffers_config.j2; sonic-mgmt tests/qos.
    """
    for ports in _with_map(fabric):
        wanted = frozenset(map(ports.queue_of, ports.lossless))
        yield from _compare(ports, "BUFFER_QUEUE", wanted, ports.lossless_queues, "queue", "the lossless profile")


def _with_map(fabric: Fabric) -> Iterator[PortClass]:
    """Ports that carry traffic. FG511 covers ports without a row, FG595 management planes."""
    return (p for p in port_classes(fabric) if p.port_map and p.is_used and not p.qos.is_management)


def _set(name: str, ports: PortClass) -> str:
    return f'set {name} to "{priorities(ports.lossless)}"' if ports.lossless else f"remove {name}"


def _compare(
    ports: PortClass, table: str, wanted: frozenset[int], found: frozenset[int], what: str, quality: str
) -> Iterator[Defect]:
    missing, severity = wanted - found, ports.idle_severity
    covered = {number: rest for rest in ports.rows[table] for number in parse_priorities(rest)}
    for rest in format_ranges(missing - covered.keys()):
        message = f"lossless {what} {rest} has no {quality.removeprefix('the ')}: its {table} row is missing"
        yield from ports.defects(table, rest, "", message, f"add the row {table}|<port>|{rest}", (), severity)
    for rest in sorted({covered[number] for number in missing & covered.keys()}):
        profile = str(ports.rows[table][rest].get("profile"))
        message = f"lossless {what} {rest} has no {quality.removeprefix('the ')}: its profile is {profile}"
        related = (("the profile bound to it", "BUFFER_PROFILE", profile),)
        yield from ports.defects(table, rest, "profile", message, "bind the lossless profile", related, severity)
    for rest in sorted({covered[number] for number in found - wanted}):
        surplus = priorities(parse_priorities(rest) & (found - wanted))
        message = f"{what} {surplus} has {quality}, but no lossless class uses it"
        yield from ports.defects(table, rest, "profile", message, "bind the lossy profile", (), severity)


@rule("FG626", Severity.WARNING, "PFC is asymmetric")
def asymmetric_pfc(fabric: Fabric) -> Iterator[Defect]:
    """What: pfc_asym is not on.

    Why: Such a port obeys pause frames on all eight priorities and sends them only on the lossless ones. The far end
    can stop its lossy queues, too. The deadlock verdict assumes PFC on the same priorities in both directions and does
    not hold.

    Example: PORT|Ethernet0 has pfc_asym on.

    Fix: Remove pfc_asym, or set it to off.

    Source: sonic-swss orchagent/portsorch.cpp (setPortPfcAsym); sonic-port.yang.
    """
    for switch in fabric.switches.values():
        for port, row in switch.device.table("PORT").items():
            if row.get("pfc_asym") == "on":
                place = switch.place("PORT", port, "pfc_asym")
                yield Defect(place, "the far end can pause every queue of this port", "remove pfc_asym")
