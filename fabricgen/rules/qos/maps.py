"""Rules on the maps between DSCP, traffic class, queue and priority group: the same classes on every hop."""

from collections.abc import Iterator, Mapping, Sequence

from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass, priorities
from fabricgen.rules.view.qos_classes import map_users, port_classes
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.image import text
from fabricgen.sonic.port_qos import GLOBAL_KEYS
from fabricgen.sonic.references import reference_name
from fabricgen.units import counted

_DSCP = "DSCP_TO_TC_MAP"


@rule("FG501", Severity.ERROR, "DSCP values without a class", breaks=Breaks.LOSSLESS)
def unmapped_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: A DSCP_TO_TC_MAP in use has all 64 DSCP values, 0 to 63, and no other.

    Why: A DSCP without an entry goes to class 0 without a log message. The switch accepts a value above 63, which never
    matches.

    Example: The map ends at 62, and traffic marked 63 shares the queue of best effort.

    Fix: Write all 64 entries.

    Source: sonic-mgmt tests/qos test_qos_dscp_mapping; measured: orchagent accepts DSCP 64.
    """
    for ports in map_users(fabric):
        name, qos = ports.text("dscp_to_tc_map"), ports.qos
        if not qos.row(_DSCP, name):
            continue
        missing = sorted(set(range(64)) - ports.dscp_to_tc.keys())
        if missing:
            field = str(missing[0])
            others = f"{len(missing)} DSCP values have no class, the first is {field}"
            message = others if missing[1:] else f"DSCP {field} has no class"
            yield from qos.defects(_DSCP, name, field, message, "write all 64 entries")


@rule("FG502", Severity.ERROR, "RoCE traffic is not in its lossless class", breaks=Breaks.LOSSLESS)
def roce_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: Each DSCP of a RoCE class maps to the class's own TC, and no other DSCP maps to a lossless TC.

    Why: If a switch maps RoCE's DSCP to another class, RDMA is lossy on that hop. Another DSCP in a lossless class
    fills headroom that was not sized for it, and is paused together with RoCE.

    Example: The NICs send RoCE with DSCP 26, the map sends 26 to TC 1 (SONiC's own default).

    Fix: Map the plane's DSCP values to their TCs, all others to lossy ones.

    Source: sonic-buildimage issues 27310 and 8770, files/build_templates/qos_config.j2 (default map).
    """
    for ports in map_users(fabric):
        plane, name = ports.qos.plane, ports.text("dscp_to_tc_map")
        if not plane or not plane.roce_dscp:
            continue
        wanted = {dscp: int(priority) for priority, values in plane.roce_dscp.items() for dscp in values}
        for dscp, tc in ports.dscp_to_tc.items():
            if dscp in wanted and tc != wanted[dscp]:
                message = f"RoCE DSCP {dscp} goes to TC {tc}, but its lossless class is {wanted[dscp]}"
                hint = f"map {dscp} to {wanted[dscp]}"
                yield from ports.qos.defects(_DSCP, name, str(dscp), message, hint)
            elif dscp not in wanted and tc in ports.lossless and dscp != plane.cnp_dscp:
                message = f"DSCP {dscp} goes to lossless TC {tc}, but RoCE does not use this DSCP"
                yield from ports.qos.defects(_DSCP, name, str(dscp), message, f"map {dscp} to a lossy TC")


@rule("FG503", Severity.ERROR, "Congestion notifications travel in a lossless class")
def cnp_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: The DSCP of CNPs maps to a lossy TC other than that of best-effort traffic, and its queue is another one.

    Why: A CNP that waits behind paused data arrives too late, and the rate control it drives starts to oscillate.

    Example: CNPs have DSCP 48, the map sends 48 to TC 3.

    Fix: Map the CNP's DSCP to a separate TC with a strict queue.

    Source: sonic-mgmt pull request 25347; Zhu et al., SIGCOMM 2015 (DCQCN).
    """
    for ports in map_users(fabric):
        plane, name = ports.qos.plane, ports.text("dscp_to_tc_map")
        if not plane or plane.cnp_dscp is None or plane.cnp_dscp not in ports.dscp_to_tc:
            continue
        tc = ports.dscp_to_tc[plane.cnp_dscp]
        if tc in ports.lossless or tc == ports.dscp_to_tc.get(0):
            kind = "lossless" if tc in ports.lossless else "best-effort"
            message = f"CNP DSCP {plane.cnp_dscp} goes to the {kind} TC {tc}"
            hint = "map it to a lossy TC whose queue is strict"
            yield from ports.qos.defects(_DSCP, name, str(plane.cnp_dscp), message, hint)
        elif ports.tc_to_queue.get(tc) is not None and ports.tc_to_queue.get(tc) == _best_effort_queue(ports):
            message = f"CNPs, TC {tc}, share queue {ports.tc_to_queue[tc]} with best effort"
            table, name = "TC_TO_QUEUE_MAP", ports.map_name("tc_to_queue_map")
            yield from ports.qos.defects(table, name, str(tc), message, f"map {tc} to a separate strict queue")


def _best_effort_queue(ports: PortClass) -> int | None:
    tc = ports.dscp_to_tc.get(0)
    return None if tc is None else ports.tc_to_queue.get(tc)


@rule("FG504", Severity.ERROR, "TC to priority group does not separate lossless classes", breaks=Breaks.LOSSLESS)
def tc_to_group(fabric: Fabric) -> Iterator[Defect]:
    """What: A lossless TC maps to the priority group that its PFC priority controls, no lossy TC maps to this group,
    and every TC in use has an entry. A TC from 0 to 7 that no DSCP maps to has one, too (else a warning).

    Why: Lossy traffic in a lossless group fills the headroom, and the switch then pauses RDMA. A lossless TC in a lossy
    group drops packets.

    Example: TC_TO_PRIORITY_GROUP_MAP has "1": "3".

    Fix: Map each lossless TC to its own group and all others to group 0.

    Source: sonic-mgmt issue 14123; sonic-buildimage issue 19764; measured: orchagent accepts group 8.
    """
    for ports in map_users(fabric):
        yield from _classes_apart(ports, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "priority group")


@rule("FG505", Severity.ERROR, "TC to queue does not separate lossless classes", breaks=Breaks.LOSSLESS)
def tc_to_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: A lossless TC uses the queue that its PFC priority stops, no lossy TC uses this queue, and every TC in use
    has an entry. A TC from 0 to 7 that no DSCP maps to has one, too (else a warning).

    Why: A pause stops a whole queue. Lossy traffic in the queue stops, too. Lossless traffic in another queue does not
    stop and overflows the peer's buffer.

    Example: TC_TO_QUEUE_MAP has "3": "1" while MAP_PFC_PRIORITY_TO_QUEUE has "3": "3".

    Fix: Map each lossless TC to the queue of its priority.

    Source: sonic-swss orchagent/qosorch.cpp.
    """
    for ports in map_users(fabric):
        yield from _classes_apart(ports, "tc_to_queue_map", "TC_TO_QUEUE_MAP", "queue")


@rule("FG506", Severity.ERROR, "PFC stops a queue that does not carry the class", breaks=Breaks.LOSSLESS)
def pfc_to_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: MAP_PFC_PRIORITY_TO_QUEUE gives each lossless priority the queue of its TC.

    Why: A pause that stops the wrong queue does not stop the traffic: the peer's headroom overflows and packets drop.

    Example: PFC for priority 3 stops queue 4, but TC 3 uses queue 3.

    Fix: Make the map the inverse of TC_TO_QUEUE_MAP for lossless classes.

    Source: sonic-swss orchagent/qosorch.cpp; IEEE 802.1Qbb.
    """
    for ports in map_users(fabric):
        name = ports.text("pfc_to_queue_map")
        for priority in sorted(ports.lossless) if name in ports.qos.tables["MAP_PFC_PRIORITY_TO_QUEUE"] else ():
            found, wanted = ports.pfc_to_queue.get(priority), ports.queue_of(priority)
            if found != wanted:
                message = f"PFC for priority {priority} stops queue {found}, but the class uses queue {wanted}"
                related = (("the queues", "TC_TO_QUEUE_MAP", ports.text("tc_to_queue_map")),)
                hint = f"map {priority} to {wanted}"
                table = "MAP_PFC_PRIORITY_TO_QUEUE"
                yield from ports.qos.defects(table, name, str(priority), message, hint, related)


@rule("FG507", Severity.ERROR, "PFC controls a priority group that does not hold the class", breaks=Breaks.LOSSLESS)
def pfc_to_group(fabric: Fabric) -> Iterator[Defect]:
    """What: On ASICs that support it, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP gives each lossless priority the group of its
    TC. On other ASICs, ports name no such map.

    Why: The group that fills must be the one that sends the pause. NVIDIA switches need the map; Broadcom's SAI rejects
    it.

    Example: On an SN5600 TC 3 fills group 3, the map has "3": "2".

    Fix: Make the map the inverse of TC_TO_PRIORITY_GROUP_MAP, or remove it if the ASIC does not support it.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (pfc_to_pg_map_supported_asics).
    """
    table = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"
    for ports in map_users(fabric):
        for priority in sorted(ports.lossless) if ports.text("pfc_to_pg_map") in ports.qos.tables[table] else ():
            found, wanted = ports.pfc_to_pg.get(priority), ports.group_of(priority)
            if found != wanted:
                message = f"PFC for priority {priority} controls group {found}, but the class fills group {wanted}"
                name, hint = ports.text("pfc_to_pg_map"), f"map {priority} to {wanted}"
                yield from ports.qos.defects(table, name, str(priority), message, hint)
    for ports in port_classes(fabric):
        supported = ports.qos.platform.capabilities.get("pfc_to_pg_map") if ports.qos.platform else None
        lossy = ports.qos.is_lossy or ports.is_external
        if not supported or not ports.port_map or not ports.is_used or lossy:
            continue
        if supported == ("yes",) and "pfc_to_pg_map" not in ports.port_map:
            message = "pfc_to_pg_map is missing, and this ASIC needs it"
            yield from ports.defects(
                "PORT_QOS_MAP", "", "pfc_to_pg_map", message, "set pfc_to_pg_map to the map that the other ports use"
            )
        elif supported == ("no",) and "pfc_to_pg_map" in ports.port_map:
            message = "pfc_to_pg_map is set, but the SAI of this ASIC rejects it"
            yield from ports.defects("PORT_QOS_MAP", "", "pfc_to_pg_map", message, "remove pfc_to_pg_map")


@rule("FG508", Severity.WARNING, "A routed port trusts 802.1p priorities")
def dot1p_trust(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT_QOS_MAP of a wired port has no dot1p_to_tc_map next to its dscp_to_tc_map.

    Why: Frames on a routed link have no VLAN tag and thus no 802.1p priority; the class must come from DSCP.

    Example: PORT_QOS_MAP|Ethernet0 with dot1p_to_tc_map AZURE.

    Fix: Remove dot1p_to_tc_map.

    Source: sonic-buildimage issue 3539; Guo et al., SIGCOMM 2016 (DSCP-based PFC).
    """
    for ports in port_classes(fabric):
        if ports.is_wired and "dot1p_to_tc_map" in ports.port_map:
            message = "a routed port uses dot1p_to_tc_map, but its frames have no 802.1p priority"
            yield from ports.defects("PORT_QOS_MAP", "", "dot1p_to_tc_map", message, "remove dot1p_to_tc_map")


def _classes_apart(ports: PortClass, field: str, table: str, what: str) -> Iterator[Defect]:
    name, mapping = ports.map_name(field), ports.entries(field)
    if name not in ports.qos.tables[table]:
        return  # no map, or an unknown one: other rules report it
    agreed = ports.group_of if table == "TC_TO_PRIORITY_GROUP_MAP" else ports.queue_of
    lossless = {agreed(priority): priority for priority in sorted(ports.lossless)}
    for tc in sorted({*ports.dscp_to_tc.values(), *mapping, *ports.lossless}):
        found = mapping.get(tc)
        if found is None:
            message = f"TC {tc} is in use but has no {what}"
            yield from ports.qos.defects(table, name, str(tc), message, f"add an entry for {tc}")
        elif tc in ports.lossless and found != agreed(tc):
            message = f"lossless TC {tc} maps to {what} {found}, but PFC controls {what} {agreed(tc)}"
            yield from ports.qos.defects(table, name, str(tc), message, f"map {tc} to {agreed(tc)}")
        elif tc not in ports.lossless and found in lossless:
            message = f"lossy TC {tc} shares {what} {found} with lossless TC {lossless[found]}"
            yield from ports.qos.defects(table, name, str(tc), message, f"map {tc} to a lossy {what}")
    unused = sorted(set(range(8)) - mapping.keys() - {*ports.dscp_to_tc.values(), *ports.lossless})
    if unused:
        message = f"TC {priorities(frozenset(unused))} has no {what}, so its packets share {what} 0"
        hint = "write all 8 entries"
        yield from ports.qos.defects(table, name, str(unused[0]), message, hint, (), Severity.WARNING)


@rule("FG414", Severity.ERROR, "The DSCP map of the switch differs from that of its ports")
def switch_map(fabric: Fabric) -> Iterator[Defect]:
    """What: The map that PORT_QOS_MAP|global names has the same entries as that of the ports with lossless classes. If
    ports have different maps, such as uplinks with classes for tunnels, it is one of them.

    Why: orchagent sets it on the switch, for every port whose own row has no map and for packets that leave a tunnel.
    These packets get another class than on the next port: RoCE becomes lossy, or other traffic lossless.

    Example: PORT_QOS_MAP|global has dscp_to_tc_map OTHER, which sends DSCP 26 to TC 1; the ports have AZURE.

    Fix: Name the map of the ports.

    Source: sonic-swss orchagent/qosorch.cpp (handleGlobalQosMap: SAI_SWITCH_ATTR_QOS_DSCP_TO_TC_MAP); sonic-buildimage
    device/mellanox/x86_64-mlnx_msn4700-r0/Mellanox-SN4700-V64/qos.json.j2 (AZURE and AZURE_UPLINK).
    """
    for switch in fabric.switches.values():
        row = switch.device.table("PORT_QOS_MAP").get(GLOBAL_KEYS[0], {})
        name = reference_name(text(row, "dscp_to_tc_map"))
        entries = switch.device.table(_DSCP).get(name)
        if entries is None:
            continue
        found = _lossless_of(fabric).get(switch, ())
        settings = [(ports, ports.qos.row(_DSCP, ports.map_name("dscp_to_tc_map"))) for ports in found]
        if any(theirs == entries for _, theirs in settings):
            continue
        for ports, theirs in settings:
            odd = [dscp for dscp in {**theirs, **entries} if theirs.get(dscp) != entries.get(dscp)] if theirs else []
            if odd:
                own, other = (rows.get(odd[0], "no TC") for rows in (entries, theirs))
                message = f"{name} and the map of the ports differ in {counted(len(odd), 'DSCP value')}, "
                message += f"the first is {odd[0]}: {own} here, {other} there"
                place = switch.place("PORT_QOS_MAP", GLOBAL_KEYS[0], "dscp_to_tc_map")
                hint = f"set dscp_to_tc_map to {ports.map_name('dscp_to_tc_map')}"
                yield Defect(place, message, hint)
                break


@derived
def _lossless_of(fabric: Fabric) -> Mapping[Switch, Sequence[PortClass]]:
    """Switch -> the distinct settings of its wired ports with lossless classes and a map."""
    found: dict[Switch, list[PortClass]] = {}
    for ports in port_classes(fabric):
        if ports.lossless and ports.is_wired and ports.text("dscp_to_tc_map"):
            for switch in dict.fromkeys(switch for switch, _, _ in ports.members):
                found.setdefault(switch, []).append(ports)
    return found
