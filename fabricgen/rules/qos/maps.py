"""The maps from DSCP to class, queue, priority group and back: the same classes on every hop."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import map_users, port_classes

_DSCP = "DSCP_TO_TC_MAP"


@rule("FG501", Severity.ERROR, "DSCP values without a class")
def unmapped_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: a DSCP_TO_TC_MAP in use has all 64 DSCP values, 0 to 63, and no other.

    Why: what is missing goes to class 0 without a word. A value above 63 is accepted by the switch and never matches.

    Example: the map ends at 62, and traffic marked 63 shares the queue of best effort.

    Fix: write all 64 entries.

    Source: sonic-mgmt tests/qos test_qos_dscp_mapping; measured: orchagent accepts DSCP 64.
    """
    for ports in map_users(fabric):
        name, qos = ports.text("dscp_to_tc_map"), ports.qos
        if not qos.row(_DSCP, name):
            continue
        missing = sorted(set(range(64)) - ports.dscp_to_tc.keys())
        if missing:
            field = str(missing[0])
            message = f"{len(missing)} DSCP values have no class, {field} first"
            yield from qos.defects(_DSCP, name, field, message, "write all 64 entries")


@rule("FG502", Severity.ERROR, "RoCE traffic is not in its lossless class")
def roce_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: each DSCP of a RoCE class leads to the class's own TC, and no other DSCP leads to a lossless TC.

    Why: on a switch where RoCE's DSCP is mapped elsewhere RDMA is lossy on that hop. A foreign DSCP in a lossless
    class fills headroom that was sized without it, and is paused with it.

    Example: the NICs send RoCE with DSCP 26, the map sends 26 to TC 1 (SONiC's own default).

    Fix: map the plane's DSCP values to their TCs, all others to lossy ones.

    Source: sonic-buildimage issues 27310 and 8770, files/build_templates/qos_config.j2 (default map).
    """
    for ports in map_users(fabric):
        plane, name = ports.qos.plane, ports.text("dscp_to_tc_map")
        if not plane or not plane.roce_dscp:
            continue
        wanted = {dscp: int(priority) for priority, values in plane.roce_dscp.items() for dscp in values}
        for dscp, tc in ports.dscp_to_tc.items():
            if dscp in wanted and tc != wanted[dscp]:
                message = f"RoCE DSCP {dscp} goes to TC {tc}, its lossless class is {wanted[dscp]}"
                hint = f"map {dscp} to {wanted[dscp]}"
                yield from ports.qos.defects(_DSCP, name, str(dscp), message, hint)
            elif dscp not in wanted and tc in ports.meant and dscp != plane.cnp_dscp:
                message = f"DSCP {dscp} goes to lossless TC {tc}, RoCE does not use it"
                yield from ports.qos.defects(_DSCP, name, str(dscp), message, f"map {dscp} to a lossy TC")


@rule("FG503", Severity.ERROR, "Congestion notifications travel in a lossless class")
def cnp_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: the DSCP of CNPs leads to a lossy TC that is not the one of best-effort traffic.

    Why: a CNP that waits behind paused data arrives too late, and the rate control it drives starts to oscillate.

    Example: CNPs have DSCP 48, the map sends 48 to TC 3.

    Fix: map the CNP's DSCP to a TC of its own with a strict queue.

    Source: sonic-mgmt pull request 25347; Zhu et al., SIGCOMM 2015 (DCQCN).
    """
    for ports in map_users(fabric):
        plane, name = ports.qos.plane, ports.text("dscp_to_tc_map")
        if not plane or plane.cnp_dscp is None or plane.cnp_dscp not in ports.dscp_to_tc:
            continue
        tc = ports.dscp_to_tc[plane.cnp_dscp]
        if tc in ports.meant or tc == ports.dscp_to_tc.get(0):
            kind = "lossless" if tc in ports.meant else "best-effort"
            message = f"CNP DSCP {plane.cnp_dscp} goes to the {kind} TC {tc}"
            hint = "map it to a lossy TC whose queue is strict"
            yield from ports.qos.defects(_DSCP, name, str(plane.cnp_dscp), message, hint)


@rule("FG504", Severity.ERROR, "TC to priority group does not keep lossless classes apart")
def tc_to_group(fabric: Fabric) -> Iterator[Defect]:
    """What: a lossless TC goes to the priority group that its pause acts on, a lossy TC never goes there, and every TC
    in use has an entry.

    Why: lossy traffic in a lossless group fills the headroom and makes the switch pause RDMA for it. A lossless TC in
    a lossy group drops.

    Example: TC_TO_PRIORITY_GROUP_MAP has "1": "3".

    Fix: lossless TCs to their own groups, all others to group 0.

    Source: sonic-mgmt issue 14123; sonic-buildimage issue 19764; measured: orchagent accepts group 8.
    """
    for ports in map_users(fabric):
        yield from _classes_apart(ports, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "priority group")


@rule("FG505", Severity.ERROR, "TC to queue does not keep lossless classes apart")
def tc_to_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: a lossless TC leaves through the queue that its pause stops, a lossy TC never does, and every TC in use has
    an entry.

    Why: a pause stops a queue, with everything in it. Lossy traffic in the queue is stopped too; lossless traffic in
    another queue is not stopped at all, and overruns the peer.

    Example: TC_TO_QUEUE_MAP has "3": "1" while MAP_PFC_PRIORITY_TO_QUEUE has "3": "3".

    Fix: give each lossless TC the queue of its priority.

    Source: sonic-swss orchagent/qosorch.cpp.
    """
    for ports in map_users(fabric):
        yield from _classes_apart(ports, "tc_to_queue_map", "TC_TO_QUEUE_MAP", "queue")


@rule("FG506", Severity.ERROR, "PFC stops another queue than the class leaves through")
def pfc_to_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: MAP_PFC_PRIORITY_TO_QUEUE gives each lossless priority the queue of its TC.

    Why: a pause that stops the wrong queue does not stop the sender: the peer's headroom overflows and drops.

    Example: the pause of priority 3 stops queue 4, TC 3 leaves through queue 3.

    Fix: make the map the inverse of TC_TO_QUEUE_MAP for lossless classes.

    Source: sonic-swss orchagent/qosorch.cpp; IEEE 802.1Qbb.
    """
    for ports in map_users(fabric):
        name = ports.text("pfc_to_queue_map")
        for priority in sorted(ports.meant) if name in ports.qos.tables["MAP_PFC_PRIORITY_TO_QUEUE"] else ():
            found, wanted = ports.pfc_to_queue.get(priority), ports.queue_of(priority)
            if found != wanted:
                message = f"PFC for priority {priority} stops queue {found}, the class leaves through queue {wanted}"
                related = (("the queues", "TC_TO_QUEUE_MAP", ports.text("tc_to_queue_map")),)
                hint = f"map {priority} to {wanted}"
                table = "MAP_PFC_PRIORITY_TO_QUEUE"
                yield from ports.qos.defects(table, name, str(priority), message, hint, related)


@rule("FG507", Severity.ERROR, "PFC acts on another priority group than the class fills")
def pfc_to_group(fabric: Fabric) -> Iterator[Defect]:
    """What: where the ASIC has it, PFC_PRIORITY_TO_PRIORITY_GROUP_MAP gives each lossless priority the group of its TC;
    elsewhere ports name no such map.

    Why: the group that fills must be the one that sends the pause. NVIDIA switches need the map, Broadcom's SAI
    refuses it.

    Example: on an SN5600 TC 3 fills group 3, the map has "3": "2".

    Fix: make the map the inverse of TC_TO_PRIORITY_GROUP_MAP, or remove it where the ASIC has none.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (pfc_to_pg_map_supported_asics).
    """
    table = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"
    for ports in map_users(fabric):
        for priority in sorted(ports.meant) if ports.text("pfc_to_pg_map") in ports.qos.tables[table] else ():
            found, wanted = ports.pfc_to_pg.get(priority), ports.group_of(priority)
            if found != wanted:
                message = f"PFC for priority {priority} acts on group {found}, the class fills group {wanted}"
                name, hint = ports.text("pfc_to_pg_map"), f"map {priority} to {wanted}"
                yield from ports.qos.defects(table, name, str(priority), message, hint)
    for ports in port_classes(fabric):
        supported = ports.qos.platform.capabilities.get("pfc_to_pg_map") if ports.qos.platform else None
        lossy = ports.qos.is_lossy or ports.is_external
        if not supported or not ports.port_map or not ports.is_used or lossy:
            continue
        if supported == ("yes",) and "pfc_to_pg_map" not in ports.port_map:
            message = "PORT_QOS_MAP lacks pfc_to_pg_map, which this ASIC needs"
            yield from ports.defects("PORT_QOS_MAP", "", "pfc_to_pg_map", message, "add it, as the siblings have it")
        elif supported == ("no",) and "pfc_to_pg_map" in ports.port_map:
            message = "pfc_to_pg_map is set, which this ASIC's SAI refuses"
            yield from ports.defects("PORT_QOS_MAP", "", "pfc_to_pg_map", message, "remove the field")


@rule("FG508", Severity.WARNING, "A routed port trusts 802.1p priorities")
def dot1p_trust(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT_QOS_MAP of a wired port has no dot1p_to_tc_map next to its dscp_to_tc_map.

    Why: frames on a routed link carry no VLAN tag, so 802.1p says nothing; the class must come from DSCP.

    Example: PORT_QOS_MAP|Ethernet0 with dot1p_to_tc_map AZURE.

    Fix: remove dot1p_to_tc_map.

    Source: sonic-buildimage issue 3539; Guo et al., SIGCOMM 2016 (DSCP-based PFC).
    """
    for ports in port_classes(fabric):
        if ports.is_wired and "dot1p_to_tc_map" in ports.port_map:
            message = "a routed port takes its class from 802.1p"
            yield from ports.defects("PORT_QOS_MAP", "", "dot1p_to_tc_map", message, "trust DSCP")


def _classes_apart(ports: PortClass, field: str, table: str, what: str) -> Iterator[Defect]:
    name, mapping = ports.text(field), ports.qos.numbers(table, ports.text(field))
    if name not in ports.qos.tables[table]:
        return  # no map, or none of this name: other rules tell
    agreed = ports.group_of if table == "TC_TO_PRIORITY_GROUP_MAP" else ports.queue_of
    lossless = {agreed(priority): priority for priority in sorted(ports.meant)}
    for tc in sorted({*ports.dscp_to_tc.values(), *mapping, *ports.meant}):
        found = mapping.get(tc)
        if found is None:
            message = f"TC {tc} is in use and has no {what}"
            yield from ports.qos.defects(table, name, str(tc), message, f"add an entry for {tc}")
        elif tc in ports.meant and found != agreed(tc):
            message = f"lossless TC {tc} has {what} {found}, PFC for it acts on {agreed(tc)}"
            yield from ports.qos.defects(table, name, str(tc), message, f"map {tc} to {agreed(tc)}")
        elif tc not in ports.meant and found in lossless:
            message = f"lossy TC {tc} shares {what} {found} with lossless TC {lossless[found]}"
            yield from ports.qos.defects(table, name, str(tc), message, f"map {tc} to a lossy {what}")
