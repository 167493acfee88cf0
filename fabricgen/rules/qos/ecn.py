"""ECN marking: on for every lossless queue, and early enough to act before PFC does."""

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

    Why: without it nothing is marked. DCQCN never slows a sender, and every congestion becomes a pause that spreads.

    Example: QUEUE|Ethernet0|3 has only a scheduler.

    Fix: set wred_profile.

    Source: SONiC issue 788; Zhu et al., SIGCOMM 2015 (DCQCN).
    """
    for ports in port_classes(fabric):
        for queue in sorted({ports.queue_of(p) for p in ports.meant}) if ports.is_used else ():
            rest, name = ports.queue_text(queue, "wred_profile")
            if name == "":
                message = f"lossless queue {queue} has no WRED profile"
                yield from ports.defects("QUEUE", rest, "wred_profile", message, "set wred_profile")


@rule("FG542", Severity.ERROR, "A WRED profile marks nothing")
def marking_off(fabric: Fabric) -> Iterator[Defect]:
    """What: the profile of a lossless queue has ecn for green, wred_green_enable true, thresholds and a probability
    above zero.

    Why: RoCE is coloured green. With wred_green_enable false, SONiC's default, ecn_all marks nothing at all.

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
                message = f"{name} marks no green packet: {field} is {row.get(field, 'missing')}"
                yield from ports.qos.defects("WRED_PROFILE", name, field, message, "see fabricgen explain FG542")


@rule("FG543", Severity.WARNING, "ECN marks later than PFC pauses")
def marks_too_late(fabric: Fabric) -> Iterator[Defect]:
    """What: green_max_threshold lies below the fill at which even a single lossless group of the switch pauses.

    Why: ECN is to slow senders down before PFC stops them. When the pause comes first, DCQCN never sees congestion.

    Example: Kmax 100 MB, a group with alpha 1 in a 166 MB pool pauses at 83 MB.

    Fix: lower the thresholds, or raise alpha.

    Switches with virtual output queues are FG546's.

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
            message = f"{name} marks all packets from {kmax} bytes on, PFC pauses at {min(points):.0f}"
            yield from ports.qos.defects("WRED_PROFILE", name, "green_max_threshold", message, "lower the thresholds")


@rule("FG544", Severity.WARNING, "A lossy queue has a WRED profile that lossless queues use")
def wred_on_lossy(fabric: Fabric) -> Iterator[Defect]:
    """What: queues of lossy classes do not use the WRED profile of lossless ones.

    Why: for traffic without ECN the same thresholds drop packets. CNPs and BGP then suffer first.

    Example: QUEUE|Ethernet0|6, the CNP queue, with wred_profile AZURE_LOSSLESS.

    Fix: remove wred_profile from the lossy queue.

    Source: sonic-swss orchagent/qosorch.cpp; RFC 3168 (non-ECT packets are dropped).
    """
    for ports in port_classes(fabric):
        lossless = {ports.queue_of(p) for p in ports.meant}
        names = {ports.queue_text(queue, "wred_profile")[1] for queue in lossless} - {"", None}
        for queue in range(8) if names and ports.is_used else ():
            rest, name = ports.queue_text(queue, "wred_profile")
            if queue not in lossless and name in names:
                message = f"lossy queue {queue} drops by {name}, which is made for lossless queues"
                yield from ports.defects("QUEUE", rest, "wred_profile", message, "remove wred_profile")


def _lossless_profiles(fabric: Fabric) -> Iterator[tuple[PortClass, str]]:
    """The WRED profiles of lossless queues, each once for a set of definitions."""
    seen = set()
    for ports in port_classes(fabric):
        for priority in sorted(ports.meant) if ports.is_used else ():
            name = ports.queue_text(ports.queue_of(priority), "wred_profile")[1]
            if name and name in ports.qos.tables["WRED_PROFILE"] and (id(ports.qos), name) not in seen:
                seen.add((id(ports.qos), name))
                yield ports, name


@rule("FG546", Severity.WARNING, "WRED drops before PFC pauses")
def drops_before_pause(fabric: Fabric) -> Iterator[Defect]:
    """What: on switches with virtual output queues (switch_type voq) green_max_threshold of a lossless queue's profile
    is not below the xoff of its group.

    Why: such a chip queues at the ingress, where WRED and PFC watch one and the same queue: packets that cannot be
    marked are dropped before a pause could save them.

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
            message = f"{name} drops from {kmax} bytes on, PFC pauses at {xoff}"
            yield from ports.qos.defects("WRED_PROFILE", name, "green_max_threshold", message, "raise the thresholds")


def _is_voq(ports: PortClass) -> bool:
    return ports.qos.switches[0].device.metadata.get("switch_type") == "voq"
