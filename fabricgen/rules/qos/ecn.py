"""Rules on ECN marking: enabled for every lossless queue, and early enough to act before PFC."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.physics import dynamic_threshold_bytes, link_mtu_for_roce
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.computed_buffers import computed_by_switch
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass, QosTables
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import number
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL, DynamicBuffers
from fabricgen.sonic.tables import Row
from fabricgen.units import format_speed, signed_number

_COLOURS = ("green", "yellow", "red")
_OF_A_COLOUR = ("min_threshold", "max_threshold", "drop_probability")
_MARKS_GREEN = frozenset({"ecn_green", "ecn_green_yellow", "ecn_green_red", "ecn_all"})


@rule("FG541", Severity.ERROR, "A lossless queue has no WRED profile")
def unmarked_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: The QUEUE rows of lossless queues name a WRED profile.

    Why: Without a profile no packet is marked. DCQCN never slows a sender down, and every congestion causes pauses that
    spread.

    Example: QUEUE|Ethernet0|3 has only a scheduler.

    Fix: Set wred_profile.

    Source: SONiC issue 788; Zhu et al., SIGCOMM 2015 (DCQCN).
    """
    for ports in port_classes(fabric):
        for queue in sorted({ports.queue_of(p) for p in ports.lossless}) if ports.is_used else ():
            rest, name = ports.queue_text(queue, "wred_profile")
            if name == "":
                message = f"lossless queue {queue} has no WRED profile"
                yield from ports.defects("QUEUE", rest, "wred_profile", message, "set wred_profile")


@rule("FG542", Severity.ERROR, "A WRED profile does not mark packets")
def marking_off(fabric: Fabric) -> Iterator[Defect]:
    """What: The profile of a lossless queue has ecn for green, wred_green_enable true, thresholds and a probability
    above zero. Each colour with a lower threshold has an upper one, and each colour that is enabled has a probability.

    Why: RoCE packets are green. With wred_green_enable false, SONiC's default, ecn_all marks no packet. For a missing
    probability orchagent programs 100 %: each packet near the upper threshold is marked, and all senders slow down at
    once. A missing upper threshold of any colour counts as zero, and orchagent refuses the whole profile.

    Example: ecn ecn_all and no wred_green_enable; red_min_threshold without red_max_threshold.

    Fix: ecn ecn_all, wred_green_enable true, both thresholds of each colour, a probability of a few percent.

    Source: sonic-buildimage issue 4545; sonic-mgmt issue 26163; sonic-swss orchagent/qosorch.cpp (WredMapHandler), pull
    requests 571 and 2422; measured with branch 202505 ("min threshold is greater than max threshold").
    """
    for ports, name in _lossless_profiles(fabric):
        row = ports.qos.row("WRED_PROFILE", name)
        checks = {
            "ecn": row.get("ecn") in _MARKS_GREEN,
            "wred_green_enable": row.get("wred_green_enable") == "true",
            "green_min_threshold": "green_min_threshold" in row,
            "green_max_threshold": "green_max_threshold" in row,
            "green_drop_probability": row.get("green_drop_probability") != "0",
        }
        for field, is_fine in checks.items():
            if not is_fine:
                message = f"{name} does not mark green packets: {field} is {row.get(field, 'missing')}"
                yield from ports.qos.defects(
                    "WRED_PROFILE", name, field, message, f"set {field} as `fabricgen explain FG542` shows"
                )
        for colour in _COLOURS:
            lowest, highest, probability = (f"{colour}_{field}" for field in _OF_A_COLOUR)
            if lowest in row and highest not in row and checks.get(highest, True):
                message = f"orchagent refuses {name}, and no queue marks: {highest} is missing"
                yield from ports.qos.defects("WRED_PROFILE", name, highest, message, f"set {highest}")
            if row.get(f"wred_{colour}_enable") == "true" and probability not in row and all(checks.values()):
                message = f"{name} has no {probability}, for which orchagent programs 100 %"
                hint = f"set {probability} to a few percent"
                yield from ports.qos.defects("WRED_PROFILE", name, probability, message, hint)


@rule("FG543", Severity.WARNING, "ECN marks later than PFC pauses")
def marks_too_late(fabric: Fabric) -> Iterator[Defect]:
    """What: green_max_threshold is below the queue size at which a single lossless group of the switch pauses. In the
    dynamic model the pool is the one that the switch computes.

    Why: ECN must slow senders down before PFC stops them. If the pause comes first, DCQCN never detects congestion.

    Example: Kmax 100 MB, a group with alpha 1 in a 166 MB pool pauses at 83 MB.

    Fix: Lower the thresholds, or raise alpha.

    FG546 covers switches with virtual output queues.

    Source: Zhu et al., SIGCOMM 2015; sonic-buildimage pull request 4564. A group settles at alpha/(1+alpha). Computed
    pools: sonic-swss cfgmgr/buffer_pool_mellanox.lua.
    """
    computed = computed_by_switch(fabric)
    hint = "set green_max_threshold below the pause threshold"
    for ports, name in _lossless_profiles(fabric):
        kmax = number(ports.qos.row("WRED_PROFILE", name).get("green_max_threshold"))
        profiles = {str(row.get("profile")) for row in ports.rows["BUFFER_PG"].values()}
        lossless = sorted(filter(ports.qos.is_lossless_pg_profile, profiles))
        for switch in ports.qos.switches if kmax is not None and not _is_voq(ports) else ():
            own = computed.get(switch.name)
            points = [_pause_point(ports.qos, profile, own) for profile in lossless]
            least = min((point for point in points if point), default=None)
            if least is not None and kmax is not None and kmax > least:
                message = f"{name} marks all packets from {kmax} bytes, but PFC pauses at {least:.0f} bytes"
                pool = own.sizes.bytes.get(LOSSLESS_POOL) if own else None
                if own and pool:
                    message += f" of the pool of {pool} bytes that the switch computes, for a memory of "
                    message += f"{own.mmu_bytes} bytes ({own.memory_source})"
                yield Defect(switch.place("WRED_PROFILE", name, "green_max_threshold"), message, hint)


def _pause_point(qos: QosTables, profile: str, computed: DynamicBuffers | None) -> float | None:
    """The size at which a single group with a profile pauses its sender; None if it is unknown."""
    row = qos.row("BUFFER_PROFILE", profile)
    if computed is None or "static_th" in row:
        return qos.pause_threshold_bytes(profile)
    defaults: Row = next(iter(qos.tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"].values()), {})
    exponent = signed_number(row.get("dynamic_th", defaults.get("default_dynamic_th")))
    name = LOSSLESS_POOL if computed.is_computed(profile) else str(row.get("pool"))
    pool = computed.sizes.bytes.get(name)
    return dynamic_threshold_bytes(pool, exponent) if pool and exponent is not None else None


# The path MTU of RoCE on loose files, where the plane's own is not known: the smallest in use.
_LEAST_ROCE_MTU_BYTES = 1024
# SONiC's own template marks from 1 MiB to 2 MiB, which a port of 100G sends in 84 us and 168 us.
_LATEST_US = {"green_min_threshold": 100, "green_max_threshold": 200}
_FAST_MBPS = 100_000


@rule("FG547", Severity.ERROR, "ECN thresholds do not fit packets, or the speed of the port")
def unfit_thresholds(fabric: Fabric) -> Iterator[Defect]:
    """What: green_max_threshold of a lossless queue's profile holds at least two RoCE packets, and green_min_threshold
    one (else a warning). On ports of 100G and more, the port sends green_min_threshold within 100 us and
    green_max_threshold within 200 us (else a warning).

    Why: Below two packets every packet that waits behind another one is marked, and all senders stay at their lowest
    rate. A queue of more than 100 us is several times what a round trip needs: DCQCN reacts only after the queue has
    filled the buffers that other ports need, and PFC does its work. A factor of 1000 is usually a wrong unit.

    Example: green_max_threshold 2 with RoCE packets of 4192 bytes; green_min_threshold 13107200 at 400G is 262 us.

    Fix: Set both in bytes, to the queue that a port sends in some microseconds: 131072 and 262144 are 2.6 us and 5.2 us
    at 400G.

    FG543 compares with the pause threshold. Switches with virtual output queues have larger thresholds, see FG546.

    Source: Zhu et al., SIGCOMM 2015 (thresholds from the bandwidth-delay product); sonic-buildimage
    files/build_templates/qos_config.j2 (1048576 and 2097152).
    """
    for ports, name in _lossless_profiles(fabric):
        row, plane = ports.qos.row("WRED_PROFILE", name), ports.qos.plane
        packet = link_mtu_for_roce((plane and plane.roce_mtu) or _LEAST_ROCE_MTU_BYTES)
        kmax = number(row.get("green_max_threshold"))
        if kmax is not None and kmax < 2 * packet:
            message = f"{name} marks all packets from {kmax} bytes, but two RoCE packets have {2 * packet} bytes"
            hint = "set the thresholds in bytes, far above two packets"
            yield from ports.qos.defects("WRED_PROFILE", name, "green_max_threshold", message, hint)
        kmin = number(row.get("green_min_threshold"))
        if kmin is not None and kmin < packet and kmax is not None and kmax >= 2 * packet:
            message = f"{name} marks from {kmin} bytes, which is less than one RoCE packet of {packet} bytes"
            hint = "set green_min_threshold to several packets"
            yield from ports.qos.defects(
                "WRED_PROFILE", name, "green_min_threshold", message, hint, (), Severity.WARNING
            )
        speed = max((switch.speed_mbps(port) or 0 for switch, port, _ in ports.members), default=0)
        for field, latest_us in _LATEST_US.items() if speed >= _FAST_MBPS and not _is_voq(ports) else ():
            value = number(row.get(field))
            queue_us = value * 8 / speed if value is not None else 0
            if queue_us > latest_us:
                message = f"{field} of {name} is as long as a queue of {queue_us:.0f} us at {format_speed(speed)}"
                hint = f"set {field} to less than {latest_us} us at the speed of the port"
                yield from ports.qos.defects("WRED_PROFILE", name, field, message, hint, (), Severity.WARNING)


@rule("FG544", Severity.WARNING, "A lossy queue has a WRED profile that lossless queues use")
def wred_on_lossy(fabric: Fabric) -> Iterator[Defect]:
    """What: Queues of lossy classes do not use the WRED profile of lossless ones.

    Why: For traffic without ECN the same thresholds drop packets, first of all CNPs and BGP.

    Example: QUEUE|Ethernet0|6, the CNP queue, with wred_profile AZURE_LOSSLESS.

    Fix: Remove wred_profile from the lossy queue.

    Source: sonic-swss orchagent/qosorch.cpp; RFC 3168 (non-ECT packets are dropped).
    """
    for ports in port_classes(fabric):
        lossless = {ports.queue_of(p) for p in ports.lossless}
        names = {ports.queue_text(queue, "wred_profile")[1] for queue in lossless} - {"", None}
        for queue in range(8) if names and ports.is_used else ():
            rest, name = ports.queue_text(queue, "wred_profile")
            if queue not in lossless and name in names:
                message = f"lossy queue {queue} drops packets by {name}, a profile for lossless queues"
                yield from ports.defects("QUEUE", rest, "wred_profile", message, "remove wred_profile")


def _lossless_profiles(fabric: Fabric) -> Iterator[tuple[PortClass, str]]:
    """The WRED profiles of lossless queues, each once for a set of definitions."""
    seen = set()
    for ports in port_classes(fabric):
        for priority in sorted(ports.lossless) if ports.is_used else ():
            name = ports.queue_text(ports.queue_of(priority), "wred_profile")[1]
            if name and name in ports.qos.tables["WRED_PROFILE"] and (ports.qos, name) not in seen:
                seen.add((ports.qos, name))
                yield ports, name


@rule("FG546", Severity.WARNING, "WRED drops before PFC pauses")
def drops_before_pause(fabric: Fabric) -> Iterator[Defect]:
    """What: On switches with virtual output queues (switch_type voq) green_max_threshold of a lossless queue's profile
    is at least the xoff of its group.

    Why: Such a chip queues packets at ingress, where WRED and PFC use the same queue: packets that cannot be marked are
    dropped before PFC pauses.

    Example: green_max_threshold 100000, the group pauses at an xoff of 612140.

    Fix: Raise the thresholds above xoff.

    Source: sonic-buildimage issue 27606.
    """
    for ports, name in _lossless_profiles(fabric):
        kmax = number(ports.qos.row("WRED_PROFILE", name).get("green_max_threshold"))
        profiles = {profile for _, profile in ports.profiles("BUFFER_PG").values()}
        marks = [number(ports.qos.row("BUFFER_PROFILE", profile).get("xoff")) for profile in profiles]
        xoff = max((mark for mark in marks if mark), default=0)
        if _is_voq(ports) and kmax is not None and kmax < xoff:
            message = f"{name} drops packets from {kmax} bytes, but PFC pauses at {xoff} bytes"
            yield from ports.qos.defects(
                "WRED_PROFILE", name, "green_max_threshold", message, "set green_max_threshold above xoff"
            )


def _is_voq(ports: PortClass) -> bool:
    return ports.qos.switches[0].device.metadata.get("switch_type") == "voq"
