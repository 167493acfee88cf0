"""Findings from watermarks: headroom, shared buffers and queues against xoff, thresholds and ECN of the files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricgen.acceptance.counters import Counters
from fabricgen.acceptance.reported import observed
from fabricgen.bundle.device import ObservedDevice
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Severity
from fabricgen.physics import dynamic_threshold_bytes
from fabricgen.platforms.dynamic_buffers import buffers_of
from fabricgen.sonic.dynamic_buffers.prediction import DynamicBuffers
from fabricgen.sonic.port_qos import PortQos, SwitchQos
from fabricgen.units import counted, listed, whole_number

CLOSE_SHARE = 0.8  # of xoff: the alert HeadroomNearlyUsed has the same


@dataclass(frozen=True, slots=True)
class _Group:
    """A lossless priority group: what its files promise, and what it used. `xoff_bytes` is computed if the switch
    computes it; `threshold_bytes` is that of a group which shares the pool with no other."""

    port: str
    number: int
    xoff_bytes: int
    threshold_bytes: float | None
    headroom_bytes: int
    shared_bytes: int
    is_predicted: bool


def watermarks(bundle: Bundle, after: Mapping[str, Counters]) -> Iterator[Finding]:
    """The findings of every switch with watermarks."""
    for name, device in bundle.devices.items():
        if name not in after:
            continue
        if not after[name].headroom:
            text = "no watermarks of headroom: they are compared with nothing"
            hint = "enable FLEX_COUNTER_TABLE|PG_WATERMARK, and read `show priority-group watermark headroom -j`"
            yield observed("FG974", name, text, hint)
            continue
        qos = SwitchQos(device.config)
        groups = list(_groups(device, qos, after[name]))
        yield from (_full(name, group) for group in groups if group.headroom_bytes >= CLOSE_SHARE * group.xoff_bytes)
        used = [group for group in groups if group.headroom_bytes or group.shared_bytes]
        if groups and not used:
            text = f"{counted(len(groups), 'lossless priority group')} used neither headroom nor shared buffer"
            hint = "no lossless traffic met another: run the stages bisection and incast, and check the traffic class"
            yield observed("FG982", name, text, hint, severity=Severity.NOTE)
        yield from _over(name, groups)
        yield from _late_marks(name, device, qos, after[name])


def _groups(device: ObservedDevice, qos: SwitchQos, read: Counters) -> Iterator[_Group]:
    computed = buffers_of(device)
    for (port, number), headroom_bytes in read.headroom.items():
        resolved = qos.port(port)
        if number not in {resolved.pfc_to_pg.get(priority, priority) for priority in resolved.pfc}:
            continue
        profile = resolved.profiles("BUFFER_PG").get(number, ("", ""))[1]
        xoff_bytes = whole_number(device.text_of("BUFFER_PROFILE", profile, "xoff"))
        predicted = xoff_bytes is None
        if xoff_bytes is None and computed and (headroom := computed.headroom(port)):
            xoff_bytes = headroom.xoff_bytes
        if xoff_bytes:
            shared_bytes = read.shared.get((port, number), 0)
            threshold = _threshold(device, profile, computed)
            yield _Group(port, number, xoff_bytes, threshold, headroom_bytes, shared_bytes, predicted)


def _threshold(device: ObservedDevice, profile: str, computed: DynamicBuffers | None) -> float | None:
    """Alpha / (1 + alpha) of the pool; None where the switch computes the profile or the file has no size."""
    alpha = device.text_of("BUFFER_PROFILE", profile, "dynamic_th")
    pool = device.text_of("BUFFER_PROFILE", profile, "pool").strip("[]").rpartition("|")[2]
    size = whole_number(device.text_of("BUFFER_POOL", pool, "size"))
    if size is None or computed is not None:
        return None
    try:
        return dynamic_threshold_bytes(size, int(alpha))
    except ValueError:
        return None


def _full(name: str, group: _Group) -> Finding:
    share = group.headroom_bytes / group.xoff_bytes
    kind = "predicted xoff" if group.is_predicted else "xoff"
    text = (
        f"{group.port} priority group {group.number} used {group.headroom_bytes} bytes of headroom, {share:.0%} of "
        f"{kind} {group.xoff_bytes}"
    )
    hint = "measure the cable and compare CABLE_LENGTH, and check how fast the far end reacts to PFC"
    path = f"BUFFER_PG|{group.port}|{group.number}"
    if share >= 1:
        return observed("FG980", name, text, hint, path=path)
    return observed("FG981", name, text, hint, severity=Severity.WARNING, path=path)


def _over(name: str, groups: list[_Group]) -> Iterator[Finding]:
    """Groups that used more of the shared buffer than their threshold: the switch runs other values than its file."""
    over = [
        group for group in groups if group.threshold_bytes is not None and group.shared_bytes > group.threshold_bytes
    ]
    if over:
        worst = max(over, key=lambda group: group.shared_bytes)
        text = (
            f"{worst.port} priority group {worst.number} used {worst.shared_bytes} bytes of shared buffer, above its "
            f"threshold of {worst.threshold_bytes:.0f}" + (f", and {len(over) - 1} more" if len(over) > 1 else "")
        )
        hint = "the switch does not run this file: compare it with `fabricgen diff`"
        yield observed("FG983", name, text, hint, path=f"BUFFER_PG|{worst.port}|{worst.number}")


def _late_marks(name: str, device: ObservedDevice, qos: SwitchQos, read: Counters) -> Iterator[Finding]:
    """Ports whose switch pauses while no queue reaches Kmin: ECN cannot act before PFC."""
    if not any(read.pfc_sent.values()):
        return
    below: dict[int, list[str]] = {}
    highest = 0
    for (port, queue), used_bytes in read.queue.items():
        kmin_bytes = _kmin(device, qos.port(port), queue)
        if kmin_bytes is not None and used_bytes:
            highest = max(highest, used_bytes)
            below.setdefault(kmin_bytes, []).append(port)
    if below and highest < min(below):
        ports = sorted({port for names in below.values() for port in names})
        used = f"at most {highest} bytes on {listed(ports)}"
        text = f"the switch sends pauses, and no queue reached Kmin {min(below)}: {used}"
        hint = f"lower green_min_threshold below {highest}, for example to {highest // 2}, so that ECN acts before PFC"
        yield observed("FG984", name, text, hint, severity=Severity.WARNING, path="WRED_PROFILE")


def _kmin(device: ObservedDevice, resolved: PortQos, queue: int) -> int | None:
    """Kmin of a lossless queue that marks."""
    if queue not in {resolved.pfc_to_queue.get(priority, priority) for priority in resolved.pfc}:
        return None
    wred = resolved.queue_text(queue, "wred_profile")[1] or ""
    if device.text_of("WRED_PROFILE", wred, "ecn") in ("", "ecn_none"):
        return None
    return whole_number(device.text_of("WRED_PROFILE", wred, "green_min_threshold"))
