"""Rules on ECN marking: enabled for every lossless queue, and early enough to act before PFC."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, number
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import port_classes

_MARKS_GREEN = frozenset({"ecn_green", "ecn_green_yellow", "ecn_green_red", "ecn_all"})


@rule("FG541", Severity.ERROR, "A lossless queue has no WRED profile")
def unmarked_queue(fabric: Fabric) -> Iterator[Defect]:
    """What: the QUEUE rows of lossless queues name a WRED profile.

    Why: without a profile no packet is marked. DCQCN never slows a sender down, and every congestion causes pauses that
    spread.

    Example: QUEUE|Ethernet0|3 has only a scheduler.

    Fix: set wred_profile.

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
    """What: the profile of a lossless queue has ecn for green, wred_green_enable true, thresholds and a probability
    above zero.

    Why: RoCE packets are green. With wred_green_enable false, SONiC's default, ecn_all marks no packet.

    Example: ecn ecn_all and no wred_green_enable.

    Fix: ecn ecn_all, wred_green_enable true, green thresholds, green_drop_probability of a few percent.

    Source: sonic-buildimage issue 4545; sonic-mgmt issue 26163.
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


@rule("FG543", Severity.WARNING, "ECN marks later than PFC pauses")
def marks_too_late(fabric: Fabric) -> Iterator[Defect]:
    """What: green_max_threshold is below the queue size at which a single lossless group of the switch pauses.

    Why: ECN must slow senders down before PFC stops them. If the pause comes first, DCQCN never detects congestion.

    Example: Kmax 100 MB, a group with alpha 1 in a 166 MB pool pauses at 83 MB.

    Fix: lower the thresholds, or raise alpha.

    FG546 covers switches with virtual output queues.

    Source: Zhu et al., SIGCOMM 2015; sonic-buildimage pull request 4564. A group settles at alpha/(1+alpha).
    """
    for ports, name in _lossless_profiles(fabric):
        kmax = number(ports.qos.row("WRED_PROFILE", name).get("green_max_threshold"))
        points = [
            point
            for row in ports.rows["BUFFER_PG"].values()
            if (profile := str(row.get("profile"))) and ports.qos.is_lossless_pg_profile(profile)
            if (point := ports.qos.pause_threshold_bytes(profile))
        ]
        if kmax is not None and points and kmax > min(points) and not _is_voq(ports):
            message = f"{name} marks all packets from {kmax} bytes, but PFC pauses at {min(points):.0f} bytes"
            yield from ports.qos.defects(
                "WRED_PROFILE",
                name,
                "green_max_threshold",
                message,
                "set green_max_threshold below the pause threshold",
            )


@rule("FG544", Severity.WARNING, "A lossy queue has a WRED profile that lossless queues use")
def wred_on_lossy(fabric: Fabric) -> Iterator[Defect]:
    """What: queues of lossy classes do not use the WRED profile of lossless ones.

    Why: for traffic without ECN the same thresholds drop packets, first of all CNPs and BGP.

    Example: QUEUE|Ethernet0|6, the CNP queue, with wred_profile AZURE_LOSSLESS.

    Fix: remove wred_profile from the lossy queue.

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
    """What: on switches with virtual output queues (switch_type voq) green_max_threshold of a lossless queue's profile
    is at least the xoff of its group.

    Why: such a chip queues packets at ingress, where WRED and PFC use the same queue: packets that cannot be marked are
    dropped before PFC pauses.

    Example: green_max_threshold 100000, the group pauses at an xoff of 612140.

    Fix: raise the thresholds above xoff.

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
