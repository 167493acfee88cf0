"""Rules on the RoCE settings of NICs, compared with the maps, priorities and timers of their switch ports."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from fabricgen.bundle.host_settings import nccl_number, ucx_number
from fabricgen.bundle.wiring import WiredPlane
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.hosts.files import NVSHMEM
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, NicPorts, host_groups
from fabricgen.rules.view.qos import priorities
from fabricgen.rules.view.switch import number
from fabricgen.vocabulary import Purpose

UCX_CLASS = 106  # openucx/ucx@9466d10 src/uct/ib/base/ib_iface.c: TRAFFIC_CLASS auto on RoCE version 2
SLOWEST_STALL_MS = 8000  # linux mlx5 en_ethtool.c: the default of a NIC without a setting
FASTEST_STALL_MS, _USUAL_STALL_MS = 80, 100

Settings = tuple[HostFiles, WiredPlane, str, dict[str, str]]


def settings(fabric: Fabric) -> Iterator[Settings]:
    """(group, plane, file, settings) of every lossless plane for which a group has settings."""
    for group in host_groups(fabric):
        for plane in group.lossless_planes:
            file = f"roce/{plane.name}.conf"
            if file in group.files.files:
                yield group, plane, file, dict(group.files.settings(file))


@rule("FG902", Severity.ERROR, "NICs and switches map a DSCP to different priorities", Basis.AGREEMENT)
def nic_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: NICs trust DSCP. The NIC maps each DSCP of lossless classes and CNPs to the priority that equals its TC in
    DSCP_TO_TC_MAP of the switch port. The priority of a DSCP that is not in DSCP_PRIORITY is DSCP / 8; if a DSCP of
    RoCE or of CNPs has no entry, this is a warning.

    Why: PFC of the switch does not stop packets that the NIC sends with another priority. They overflow the buffer of
    the switch. Without an entry, the NIC keeps the priority that another program or an earlier file has set.

    Example: DSCP_PRIORITY is "26:4", but DSCP_TO_TC_MAP has "26": "3".

    Fix: Use the same priority on both sides.

    Source: Mellanox/mlnx-tools@8fbfd9c python/mlnx_qos (dscp2prio); sonic-swss orchagent/qosorch.cpp.
    """
    for group, plane, file, found in settings(fabric):
        trust = found.get("TRUST", "dscp")
        if trust != "dscp":

            def wrong_trust(ports: NicPorts, trust: str = trust) -> tuple[str, Place] | None:
                message = f"the NICs trust {trust}, but the switch ports trust DSCP"
                return (message, ports.place("PORT_QOS_MAP", "dscp_to_tc_map")) if ports.qos.dscp_to_tc else None

            yield from group.disagreements(plane, group.place(file, "TRUST"), wrong_trust, "set TRUST to dscp")
        own = _map(found.get("DSCP_PRIORITY", ""))
        mine = group.place(file, "DSCP_PRIORITY")
        if own is None:
            message = f"{found['DSCP_PRIORITY']!r} is not a list of DSCP:priority"
            yield Defect(mine, message, 'write a list such as "26:3 48:6"')
            continue
        used = {dscp for values in (plane.roce_dscp or {}).values() for dscp in values}
        used |= set() if plane.cnp_dscp is None else {plane.cnp_dscp}
        for dscp in sorted({*own, *used}):
            priority = own.get(dscp, dscp >> 3)

            def wrong_tc(ports: NicPorts, dscp: int = dscp, priority: int = priority) -> tuple[str, Place] | None:
                tc = ports.qos.dscp_to_tc.get(dscp)
                message = f"DSCP {dscp} has priority {priority} on the NICs but TC {tc} on the switches"
                where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
                return (message, where) if tc is not None and tc != priority else None

            hint = "map the DSCP to the TC of the switches"
            wrong = list(group.disagreements(plane, mine, wrong_tc, hint))
            yield from wrong
            if not wrong and dscp not in own and trust == "dscp":
                message = f"DSCP {dscp} has no entry: the NICs keep the priority that they had"
                yield Defect(mine, message, f'add "{dscp}:{priority}"', severity=Severity.WARNING)


def _map(text: str) -> dict[int, int] | None:
    """DSCP -> priority of a text such as '26:3 48:6', or None if the text is not valid."""
    found = {}
    for pair in text.split():
        dscp, priority = map(number, pair.partition(":")[::2])
        if dscp is None or priority is None or dscp > 63 or priority > 7:
            return None
        found[dscp] = priority
    return found


@rule("FG903", Severity.ERROR, "PFC is on for different priorities on NICs and switches", Basis.AGREEMENT)
def nic_pfc(fabric: Fabric) -> Iterator[Defect]:
    """What: The priorities with PFC on the NICs are exactly those in pfc_enable of the switch ports.

    Why: A priority with PFC at only one end is lossy in one direction: one end does not stop, and the other end drops
    packets.

    Example: PFC is 0,0,0,1,0,0,0,0, but pfc_enable is 3,4.

    Fix: Use the same priorities, on the hosts or in `lossless` of the plane.

    Source: IEEE 802.1Qbb; Mellanox/mlnx-tools@8fbfd9c python/mlnx_qos (--pfc).
    """
    for group, plane, file, found in settings(fabric):
        flags = found.get("PFC")
        if flags is None:
            continue
        mine = group.place(file, "PFC")
        bits = flags.split(",")
        if len(bits) != 8 or not set(bits) <= {"0", "1"}:
            hint = "write a flag for each priority from 0 to 7, such as 0,0,0,1,0,0,0,0"
            yield Defect(mine, f"{flags!r} is not a list of eight flags", hint)
            continue
        own = frozenset(priority for priority, bit in enumerate(bits) if bit == "1")

        def wrong_priorities(ports: NicPorts, own: frozenset[int] = own) -> tuple[str, Place] | None:
            message = f"PFC is on for {priorities(own)} on the NICs, {priorities(ports.qos.pfc)} on the switches"
            return (message, ports.place("PORT_QOS_MAP", "pfc_enable")) if ports.qos.pfc != own else None

        yield from group.disagreements(plane, mine, wrong_priorities, "set the same priorities as pfc_enable")


@rule(
    "FG904",
    Severity.ERROR,
    "NICs send RoCE with a ToS that is not lossless on the switches",
    Basis.AGREEMENT,
)
def nic_tos(fabric: Fabric) -> Iterator[Defect]:
    """What: The ToS byte is the same for the NICs (TOS), NCCL (NCCL_IB_TC, and NCCL_IB_FIFO_TC if it is set), UCX
    (UCX_IB_TRAFFIC_CLASS) and NVSHMEM (NVSHMEM_IB_TRAFFIC_CLASS), as each of them reads its number. The switches map
    its DSCP to a TC with PFC. Its two ECN bits are 10, ECT(0). 11 means that every packet is marked; with 00 the NIC
    must set the bits.

    Why: RDMA with another DSCP is lossy on every hop. The byte contains the DSCP times four: 26 instead of 104 is
    DSCP 6. NCCL_IB_FIFO_TC is the byte of the messages by which a receiver grants data: if one is lost, its sender
    waits.
    NCCL reads 0x6a as 106, and a number in quotes as 0; UCX reads 0x6a as 0.

    Example: NCCL_IB_TC is 26.

    Fix: Set the byte to DSCP x 4 + 2, for example 106 for DSCP 26.

    Source: RFC 3168 section 5; NVIDIA/nccl@5067397 src/transport/net_ib/connect.cc (trafficClass, ncclParamIbFifoTc),
    src/misc/param.cc (ncclLoadParam); openucx/ucx@9466d10 src/uct/ib/base/ib_iface.c, src/ucs/config/parser.c.
    """
    for group, plane, file, found in settings(fabric):
        own = number(found.get("TOS"))
        if own is not None:
            yield from tos_defects(group, plane, group.place(file, "TOS"), own)
        if plane.purpose != Purpose.COMPUTE:
            continue
        for other, key, read, reader in (
            (group.files.nccl_file, "NCCL_IB_TC", nccl_number, "NCCL"),
            ("ucx.conf", "UCX_IB_TRAFFIC_CLASS", _ucx_class, "UCX"),
            (NVSHMEM, "NVSHMEM_IB_TRAFFIC_CLASS", nccl_number, "NVSHMEM"),
        ):
            if other in group.files.files:
                yield from _same_tos(group, plane, (other, key), (read, reader), (file, own))
        text = group.files.settings(group.files.nccl_file).get("NCCL_IB_FIFO_TC")
        grants = nccl_number(text)
        if grants is not None and grants not in (-1, own):
            mine = group.place(group.files.nccl_file, "NCCL_IB_FIFO_TC")
            message = f"NCCL_IB_FIFO_TC is {text}, but the data has {own}: what a receiver grants is in another class"
            yield Defect(
                mine, message, "remove NCCL_IB_FIFO_TC: it then is that of the data", severity=Severity.WARNING
            )


def _ucx_class(text: str | None) -> int | None:
    """auto is the class of the port, if DOCA-OFED has one, else 106."""
    return UCX_CLASS if text and text.lower() == "auto" else ucx_number(text)


def _same_tos(
    group: HostFiles,
    plane: WiredPlane,
    setting: tuple[str, str],
    reading: tuple[Callable[[str | None], int | None], str],
    nics: tuple[str, int | None],
) -> Iterator[Defect]:
    """Defects of the ToS at a (file, key), as a reader with a name reads it, beside TOS in the file of the NICs."""
    (other, key), (read, reader), (file, own) = setting, reading, nics
    text = group.files.settings(other).get(key)
    mine, hint = group.place(other, key), f"set {key} to {own}"
    related = (("the NICs", group.place(file, "TOS")),)
    tos = read(text)
    if tos is None:
        shown = "missing" if text is None else repr(text)
        yield Defect(mine, f"{key} is {shown}, but TOS of the NICs is {own}", hint, related)
        return
    shown = str(text) if str(tos) == text else f"{text!r}, which {reader} reads as {tos}"
    defects = list(tos_defects(group, plane, mine, tos))
    if defects and str(tos) != text:
        defects = [replace(one, message=f"{key} is {shown}: {one.message}", hint=hint) for one in defects]
    yield from defects
    if not defects and tos != own:
        yield Defect(mine, f"{key} is {shown}, but TOS of the NICs is {own}", hint, related)


def tos_defects(group: HostFiles, plane: WiredPlane, mine: Place, tos: int) -> Iterator[Defect]:
    """Defects of a ToS byte on a plane: its range, its ECN bits and its DSCP."""
    if not 0 <= tos <= 255:
        yield Defect(mine, f"{tos} is outside the range 0 to 255", "use DSCP x 4 + 2")
        return
    dscp, ecn = tos >> 2, tos & 3
    if ecn != 2:
        meaning = {
            0: "not ECN-capable: switches mark packets only if the NIC sets the bits itself",
            1: "ECT(1), expected ECT(0)",
            3: "congestion experienced, on every packet",
        }
        severity = {0: Severity.WARNING, 1: Severity.WARNING, 3: Severity.ERROR}[ecn]
        message = f"the ECN bits of ToS {tos} mean {meaning[ecn]}"
        yield Defect(mine, message, f"use {dscp << 2 | 2}: the same DSCP with ECT(0)", (), severity)

    def lossy(ports: NicPorts) -> tuple[str, Place] | None:
        tc = ports.qos.dscp_to_tc.get(dscp)
        pfc = priorities(ports.qos.pfc)
        message = f"ToS {tos} is DSCP {dscp}, which the switches map to TC {tc}, but PFC is on for {pfc}"
        where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
        return (message, where) if tc is not None and tc not in ports.qos.pfc else None

    allowed = ", ".join(str(one << 2 | 2) for values in (plane.roce_dscp or {}).values() for one in values)
    yield from group.disagreements(plane, mine, lossy, f"use a byte of the plane's RoCE classes: {allowed}")


@rule("FG905", Severity.ERROR, "NICs send CNPs in another class than the switches expect", Basis.AGREEMENT)
def nic_cnp(fabric: Fabric) -> Iterator[Defect]:
    """What: CNP_DSCP is the CNP DSCP of the plane. The switches map it to a TC without PFC and with a strict queue.
    CNP_PRIORITY is this TC.

    Why: A CNP that waits behind data packets arrives too late, and a CNP in a paused queue does not arrive.

    Example: CNP_DSCP is 4, the value of NVIDIA's nic-configuration-operator, and DSCP 4 is lossless on the switch.

    Fix: Use the DSCP and the TC of CNPs on the switches.

    Source: Zhu et al., SIGCOMM 2015 (DCQCN); nic-configuration-operator@8bfbeb3 (CNP_DSCP=4).
    """
    for group, plane, file, found in settings(fabric):
        dscp, priority = number(found.get("CNP_DSCP")), number(found.get("CNP_PRIORITY"))
        if dscp is None or priority is None:
            continue
        mine = group.place(file, "CNP_DSCP")

        def wrong_class(ports: NicPorts, dscp: int = dscp) -> tuple[str, Place] | None:
            tc = ports.qos.dscp_to_tc.get(dscp)
            where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
            if tc is None or tc in ports.qos.pfc:
                problem = "do not map to a TC" if tc is None else f"map to the lossless TC {tc}"
                return f"the NICs send CNPs with DSCP {dscp}, which the switches {problem}", where
            queue = ports.qos.tc_to_queue.get(tc, tc)
            _, scheduler = ports.qos.queue_text(queue, "scheduler")
            if ports.qos.qos.row("SCHEDULER", str(scheduler)).get("type") != "STRICT":
                return f"the NICs send CNPs with DSCP {dscp}, which uses queue {queue}, but it is not strict", where
            return None

        defects = list(group.disagreements(plane, mine, wrong_class, f"set CNP_DSCP to {plane.cnp_dscp}"))
        yield from defects
        if not defects and plane.cnp_dscp is not None and dscp != plane.cnp_dscp:
            message = f"the NICs send CNPs with DSCP {dscp}, but the switches expect {plane.cnp_dscp}"
            places = [
                ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", plane.cnp_dscp) for ports in group.ports[plane.name]
            ]
            related = tuple((f"the switch, {place.device.name}", place) for place in places[:1])
            yield Defect(mine, message, f"set CNP_DSCP to {plane.cnp_dscp}", related)

        def wrong_priority(ports: NicPorts, dscp: int = dscp, priority: int = priority) -> tuple[str, Place] | None:
            tc = ports.qos.dscp_to_tc.get(dscp)
            message = f"CNPs have priority {priority} on the NICs but TC {tc} on the switches"
            where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
            return (message, where) if tc is not None and tc != priority else None

        if not defects:
            place, hint = group.place(file, "CNP_PRIORITY"), "set CNP_PRIORITY to the TC on the switches"
            yield from group.disagreements(plane, place, wrong_priority, hint)


@rule("FG907", Severity.WARNING, "A stuck NIC pauses longer than the watchdog's detection time", Basis.AGREEMENT)
def nic_stall(fabric: Fabric) -> Iterator[Defect]:
    """What: STALL_MS is below the detection_time of PFC_WD on the switch ports, and at least 80 ms, the minimum of the
    driver. After this time, a NIC with a stuck receiver stops sending pause frames.

    Why: The NIC must stop pausing before the watchdog acts, so that only the faulty host loses packets. Otherwise the
    switch's watchdog drops packets of all senders to this queue. The default of the NIC is 8 s.

    Example: STALL_MS is 8000, but detection_time is 200.

    Fix: Use a time between 80 ms and the detection time.

    Source: torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_ethtool.c (pfc-prevention-tout).
    """
    for group, plane, file, found in settings(fabric):
        text = found.get("STALL_MS", str(SLOWEST_STALL_MS))
        if number(text) is None:
            continue
        stall_ms = int(text)
        mine = group.place(file, "STALL_MS")
        detections = [_detection_ms(ports) for ports in group.ports.get(plane.name, ())]
        usual = min([_USUAL_STALL_MS, *(FASTEST_STALL_MS for one in detections if one and one <= _USUAL_STALL_MS)])
        if stall_ms < FASTEST_STALL_MS:
            message = f"STALL_MS is {stall_ms} ms, but the minimum of the driver is {FASTEST_STALL_MS} ms"
            yield Defect(mine, message, f"set STALL_MS to {usual}")
            continue

        def slower(ports: NicPorts, stall_ms: int = stall_ms) -> tuple[str, Place] | None:
            detection_ms = _detection_ms(ports)
            message = (
                f"a stuck NIC pauses for {stall_ms} ms, but the watchdog of the switch acts after {detection_ms} ms"
            )
            late = detection_ms is not None and FASTEST_STALL_MS < detection_ms <= stall_ms
            return (message, ports.place("PFC_WD", "detection_time")) if late else None

        hint = f"set STALL_MS to a time below the detection time, for example {usual}"
        yield from group.disagreements(plane, mine, slower, hint)


def _detection_ms(ports: NicPorts) -> int | None:
    return number(ports.qos.rows["PFC_WD"].get("", {}).get("detection_time"))
