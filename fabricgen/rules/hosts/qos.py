"""RoCE settings of NICs against the maps, priorities and timers of the switches that they are plugged into."""

from collections.abc import Iterator
from math import ceil

from fabricgen.bundle.wiring import WiredPlane
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric, number
from fabricgen.rules.view.host_groups import Group, NicPorts, host_groups
from fabricgen.rules.view.qos import priorities

SLOWEST_STALL_MS = 8000  # linux mlx5 en_ethtool.c: what a NIC does that is told nothing
FASTEST_STALL_MS = 80

Settings = tuple[Group, WiredPlane, str, dict[str, str]]


def settings(fabric: Fabric) -> Iterator[Settings]:
    """(group, plane, file, settings) of every plane with PFC that a group has settings for."""
    for group in host_groups(fabric):
        for plane in group.lossless_planes:
            file = f"roce/{plane.name}.conf"
            if file in group.files.files:
                yield group, plane, file, dict(group.files.settings(file))


@rule("FG902", Severity.ERROR, "NICs and switches put a DSCP into different priorities", Basis.AGREEMENT)
def nic_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: NICs trust DSCP, and each DSCP of a lossless class, and of CNPs, has the priority on the NIC that is its TC
    in DSCP_TO_TC_MAP of the switch's port. A DSCP that DSCP_PRIORITY does not name has the priority DSCP / 8.

    Why: what the NIC sends in another priority than the switch pauses is never paused: it overruns the switch.

    Example: DSCP_PRIORITY="26:4" while DSCP_TO_TC_MAP has "26": "3".

    Fix: give both the same priority.

    Source: Mellanox/mlnx-tools@8fbfd9c python/mlnx_qos (dscp2prio); sonic-swss orchagent/qosorch.cpp.
    """
    for group, plane, file, found in settings(fabric):
        trust = found.get("TRUST", "dscp")
        if trust != "dscp":

            def distrust(ports: NicPorts, trust: str = trust) -> tuple[str, Place] | None:
                message = f"the NICs trust {trust}, the switches' ports DSCP"
                return (message, ports.place("PORT_QOS_MAP", "dscp_to_tc_map")) if ports.qos.dscp_to_tc else None

            yield from group.disagreements(plane, group.place(file, "TRUST"), distrust, "TRUST=dscp")
        own = _map(found.get("DSCP_PRIORITY", ""))
        mine = group.place(file, "DSCP_PRIORITY")
        if own is None:
            yield Defect(mine, f"{found['DSCP_PRIORITY']!r} is no list of DSCP:priority", 'such as "26:3 48:6"')
            continue
        told = {dscp for values in (plane.roce_dscp or {}).values() for dscp in values}
        for dscp in sorted({*own, *told}):
            priority = own.get(dscp, dscp >> 3)

            def other(ports: NicPorts, dscp: int = dscp, priority: int = priority) -> tuple[str, Place] | None:
                tc = ports.qos.dscp_to_tc.get(dscp)
                message = f"DSCP {dscp} has priority {priority} on the NICs and goes to TC {tc} on the switches"
                where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
                return (message, where) if tc is not None and tc != priority else None

            yield from group.disagreements(plane, mine, other, "give the DSCP the switches' TC as priority")


def _map(text: str) -> dict[int, int] | None:
    """'26:3 48:6' as numbers; None where it is none."""
    found = {}
    for pair in text.split():
        dscp, _, priority = pair.partition(":")
        if not (dscp.isdecimal() and priority.isdecimal() and int(dscp) < 64 and int(priority) < 8):
            return None
        found[int(dscp)] = int(priority)
    return found


@rule("FG903", Severity.ERROR, "NICs pause other priorities than the switches", Basis.AGREEMENT)
def nic_pfc(fabric: Fabric) -> Iterator[Defect]:
    """What: the priorities with PFC on the NICs are exactly those of pfc_enable of the switches' ports.

    Why: a priority that only one end pauses is lossy in one direction: the other end never stops, and drops.

    Example: PFC=0,0,0,1,0,0,0,0 while pfc_enable is 3,4.

    Fix: make them the same, on the hosts or in the plane's `lossless`.

    Source: IEEE 802.1Qbb; Mellanox/mlnx-tools@8fbfd9c python/mlnx_qos (--pfc).
    """
    for group, plane, file, found in settings(fabric):
        flags = found.get("PFC")
        if flags is None:
            continue
        mine = group.place(file, "PFC")
        bits = flags.split(",")
        if len(bits) != 8 or not set(bits) <= {"0", "1"}:
            yield Defect(mine, f"{flags!r} is no list of eight flags", "priorities 0 to 7, such as 0,0,0,1,0,0,0,0")
            continue
        own = frozenset(priority for priority, bit in enumerate(bits) if bit == "1")

        def other(ports: NicPorts, own: frozenset[int] = own) -> tuple[str, Place] | None:
            message = f"the NICs pause {priorities(own)}, the switches {priorities(ports.qos.pfc)}"
            return (message, ports.place("PORT_QOS_MAP", "pfc_enable")) if ports.qos.pfc != own else None

        yield from group.disagreements(plane, mine, other, "the same priorities as pfc_enable")


@rule(
    "FG904",
    Severity.ERROR,
    "RoCE leaves the NICs with a ToS that the switches do not take for lossless",
    Basis.AGREEMENT,
)
def nic_tos(fabric: Fabric) -> Iterator[Defect]:
    """What: the ToS byte of the NICs (TOS), of NCCL (NCCL_IB_TC) and of UCX (UCX_IB_TRAFFIC_CLASS) is one, its DSCP
    goes to a TC with PFC on the switches, and its two ECN bits are 10, ECT(0). 11 says that every packet was marked;
    00 leaves it to the NIC to set them.

    Why: RDMA with another DSCP is lossy on every hop. The byte is the DSCP times four: 26 written for 104 is DSCP 6.

    Example: NCCL_IB_TC=26.

    Fix: DSCP x 4 + 2, such as 106 for DSCP 26.

    Source: RFC 3168 section 5; NVIDIA/nccl@5067397 src/transport/net_ib (trafficClass); openucx/ucx@9466d10
    src/uct/ib/base/ib_iface.c.
    """
    for group, plane, file, found in settings(fabric):
        if number(found.get("TOS")) is not None:
            yield from tos_defects(group, plane, group.place(file, "TOS"), int(found["TOS"]))
        if plane.purpose != "compute":
            continue
        for other, key in ((group.files.nccl_file, "NCCL_IB_TC"), ("ucx.conf", "UCX_IB_TRAFFIC_CLASS")):
            if other not in group.files.files:
                continue
            told = group.files.settings(other).get(key)
            mine = group.place(other, key)
            if number(told) is None:
                message = f"{key} is {'missing' if told is None else repr(told)}, the NICs' ToS is {found.get('TOS')}"
                yield Defect(mine, message, f"{key}={found.get('TOS')}", (("the NICs", group.place(file, "TOS")),))
                continue
            defects = list(tos_defects(group, plane, mine, int(str(told))))
            yield from defects
            if not defects and told != found.get("TOS"):
                message = f"{key} is {told}, the NICs' ToS is {found.get('TOS')}"
                yield Defect(mine, message, "one byte for all", (("the NICs", group.place(file, "TOS")),))


def tos_defects(group: Group, plane: WiredPlane, mine: Place, tos: int) -> Iterator[Defect]:
    """What is wrong with a ToS byte on a plane."""
    if tos > 255:
        yield Defect(mine, f"{tos} is no byte", "DSCP x 4 + 2")
        return
    ecn = tos & 3
    dscp = tos >> 2
    if ecn != 2:
        meaning = {
            0: "no ECN: only NICs that set it themselves are marked",
            1: "ECT(1)",
            3: "congestion on every packet",
        }
        severity = {0: Severity.WARNING, 1: Severity.WARNING, 3: Severity.ERROR}[ecn]
        yield Defect(mine, f"the ECN bits of ToS {tos} say {meaning[ecn]}", f"{dscp << 2 | 2}", (), severity)

    def lossy(ports: NicPorts) -> tuple[str, Place] | None:
        tc = ports.qos.dscp_to_tc.get(dscp)
        message = (
            f"ToS {tos} is DSCP {dscp}, which the switches put into TC {tc}; PFC is on for {priorities(ports.qos.pfc)}"
        )
        where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
        return (message, where) if tc is not None and tc not in ports.qos.pfc else None

    known = ", ".join(str(one << 2 | 2) for values in (plane.roce_dscp or {}).values() for one in values)
    yield from group.disagreements(plane, mine, lossy, f"a byte of the plane's RoCE classes: {known}")


@rule("FG905", Severity.ERROR, "CNPs of the NICs and the switches' class for them disagree", Basis.AGREEMENT)
def nic_cnp(fabric: Fabric) -> Iterator[Defect]:
    """What: CNP_DSCP is the plane's, goes on the switches to a TC without PFC whose queue is strict, and CNP_PRIORITY
    is that TC.

    Why: a CNP that waits behind the data it is about comes too late; one in a paused queue does not come at all.

    Example: CNP_DSCP=4, as NVIDIA's nic-configuration-operator writes, on a switch where DSCP 4 is lossless.

    Fix: the DSCP and TC that the switches give to CNPs.

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
                kind = "no class" if tc is None else f"the lossless TC {tc}"
                return f"CNPs leave the NICs with DSCP {dscp}, which goes to {kind}", where
            queue = ports.qos.tc_to_queue.get(tc, tc)
            _, scheduler = ports.qos.queue_text(queue, "scheduler")
            if ports.qos.qos.row("SCHEDULER", str(scheduler)).get("type") != "STRICT":
                return (
                    f"CNPs leave the NICs with DSCP {dscp}, which goes to queue {queue}, and that is not strict",
                    where,
                )
            return None

        defects = list(group.disagreements(plane, mine, wrong_class, f"the plane's CNPs have DSCP {plane.cnp_dscp}"))
        yield from defects
        if not defects and plane.cnp_dscp is not None and dscp != plane.cnp_dscp:
            message = f"CNPs leave the NICs with DSCP {dscp}, the switches expect {plane.cnp_dscp}"
            places = [
                ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", plane.cnp_dscp) for ports in group.ports[plane.name]
            ]
            related = tuple((f"the switch, {place.device.name}", place) for place in places[:1])
            yield Defect(mine, message, f"CNP_DSCP={plane.cnp_dscp}", related)

        def wrong_priority(ports: NicPorts, dscp: int = dscp, priority: int = priority) -> tuple[str, Place] | None:
            tc = ports.qos.dscp_to_tc.get(dscp)
            message = f"CNPs have priority {priority} on the NICs and TC {tc} on the switches"
            where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
            return (message, where) if tc is not None and tc != priority else None

        if not defects:
            yield from group.disagreements(plane, group.place(file, "CNP_PRIORITY"), wrong_priority, "the switches' TC")


@rule("FG907", Severity.WARNING, "A NIC that cannot drain pauses longer than the watchdog waits", Basis.AGREEMENT)
def nic_stall(fabric: Fabric) -> Iterator[Defect]:
    """What: STALL_MS, after which a NIC whose receiver is stuck stops pausing, is below the detection_time of PFC_WD on
    the switches' ports, and not below the 80 ms that the driver takes.

    Why: the NIC is to give up first, so that a sick host is cut off at the host. Else the switch's watchdog drops what
    everybody sends to that queue. A NIC that is told nothing waits 8 s.

    Example: STALL_MS=8000 while detection_time is 200.

    Fix: a time between 80 ms and the detection time.

    Source: torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_ethtool.c (pfc-prevention-tout).
    """
    for group, plane, file, found in settings(fabric):
        told = found.get("STALL_MS", str(SLOWEST_STALL_MS))
        if number(told) is None:
            continue
        stall_ms = int(told)
        mine = group.place(file, "STALL_MS")
        if stall_ms < FASTEST_STALL_MS:
            yield Defect(mine, f"{stall_ms} ms, the driver takes {FASTEST_STALL_MS} ms at least", "STALL_MS=100")
            continue

        def slower(ports: NicPorts, stall_ms: int = stall_ms) -> tuple[str, Place] | None:
            detection_ms = number(ports.qos.rows["PFC_WD"].get("", {}).get("detection_time"))
            message = f"a stuck NIC pauses for {stall_ms} ms, the switches' watchdog acts after {detection_ms} ms"
            late = detection_ms is not None and FASTEST_STALL_MS < detection_ms <= stall_ms
            return (message, ports.place("PFC_WD", "detection_time")) if late else None

        yield from group.disagreements(plane, mine, slower, "a time below the detection time, such as STALL_MS=100")


@rule("FG912", Severity.ERROR, "NICs count on another cable than they have", Basis.AGREEMENT)
def nic_cable(fabric: Fabric) -> Iterator[Defect]:
    """What: CABLE_M is the length of the longest cable that the NICs of the plane have, in whole metres.

    Why: the NIC sizes the headroom of its own receive buffer by it. Too short, and what is on its way when the NIC
    pauses is dropped there.

    Example: CABLE_M=1 with cables of 5 m.

    Fix: the true length, rounded up.

    Source: Mellanox/mlnx-tools@8fbfd9c python/mlnx_qos (--cable_len).
    """
    lengths = fabric.bundle.cable_length_m
    for group, plane, file, found in settings(fabric):
        ends = [end for end in group.ends.values() if end.link.plane == plane.name]
        known = [(lengths[end.link.id], end) for end in ends if end.link.id in lengths]
        told = number(found.get("CABLE_M"))
        if told is None or not known:
            continue
        longest, end = max(known, key=lambda one: one[0])
        if told != ceil(longest):
            message = f"the NICs count on {told} m, the longest cable has {ceil(longest)} m"
            place = end.switch.place("CABLE_LENGTH", end.switch.cable_row, end.port)
            severity = None if told < longest else Severity.WARNING
            related = ((f"the switch, {end.switch.name}", place),)
            yield Defect(group.place(file, "CABLE_M"), message, f"CABLE_M={ceil(longest)}", related, severity)
