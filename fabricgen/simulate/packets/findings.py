"""Findings of a packet run: FG640 to FG649 freezes, FG750 to FG799 congestion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Location, Place, Severity, in_order
from fabricgen.quantities import time_text
from fabricgen.results import GroupUse, PacketFlow, PacketsResult, PauseKind, QueueUse

LONG_QUEUE_NS = 100_000  # a queue that first marks above this time of its line rate marks too late
LONG_PAUSE = 0.2  # share of the run: a host that pauses its switch for longer is the root of a storm


def packet_findings(
    result: PacketsResult, place: Location | None = None, bundle: Bundle | None = None
) -> list[Finding]:
    """The findings of a run, located at `place`, the scenario file, or in the files of a bundle."""
    found = [*_freezes(result, place), *_losses(result, place), *_delays(result, place)]
    if bundle is not None:
        found = [_placed(bundle, finding) for finding in found]
    return in_order(found)


def left_out(reasons: Mapping[str, str]) -> list[Finding]:
    """FG708 for each plane that is not simulated, with its reason."""
    return [
        Finding("FG708", Severity.NOTE, f"plane {name}: not simulated: {reason}") for name, reason in reasons.items()
    ]


def _placed(bundle: Bundle, finding: Finding) -> Finding:
    """The finding at its row of the switch's file."""
    device = bundle.devices.get(finding.device)
    if device is None:
        return finding
    row = (finding.place.table, finding.place.key) if finding.place else ()
    return replace(finding, location=device.locate(*row))


def _finding(
    code: str, severity: Severity, message: str, place: Location | None, *, device: str = "", at: Place | None = None,
    hint: str = "", count: int = 1,
) -> Finding:  # fmt: skip
    return Finding(
        code, severity, message, device=device, place=at, location=place, hint=hint, count=count,
        confidence=Confidence.OBSERVED,
    )  # fmt: skip


def _freezes(result: PacketsResult, place: Location | None) -> Iterator[Finding]:
    if result.freeze:
        around = " -> ".join(f"{node} to {peer}" for node, peer in (*result.freeze.cycle, result.freeze.cycle[0]))
        over = f", until {time_text(result.freeze.over_ns)}" if result.freeze.over_ns is not None else ""
        yield _finding(
            "FG640", Severity.ERROR, f"frozen since {time_text(result.freeze.time_ns)}{over}: {around}", place,
            device=result.freeze.cycle[0][0],
            hint="use an engine without credit loops on this lane; head_of_queue_lifetime only drops packets later"
            if result.credit_waits is not None
            else "break the cycle in the routes; a watchdog acts only after the freeze, and drops packets",
        )  # fmt: skip
    if result.storms:
        first = result.storms[0]
        yield _finding(
            "FG641", Severity.WARNING,
            f"the PFC watchdog acted on {len(result.storms)} queues, first on priority {first.priority} of "
            f"{first.port[0]} towards {first.port[1]} at {time_text(first.detected_ns)}"
            + (f", and dropped {result.discarded} packets" if result.discarded else ""),
            place, device=first.port[0], count=len(result.storms),
            hint="find the device that paused the port; while the watchdog acts, this priority is not lossless",
        )  # fmt: skip


def _losses(result: PacketsResult, place: Location | None) -> Iterator[Finding]:
    lossless = [group for group in result.groups if group.lossless and group.drops]
    if lossless:
        worst = max(lossless, key=lambda group: (group.drops, group.port))
        why = f"headroom {worst.headroom_bytes} B, full at {worst.headroom_most_bytes} B"
        yield _finding(
            "FG750", Severity.ERROR,
            f"headroom overflow: {sum(group.drops for group in lossless)} packets of lossless priorities were "
            f"dropped, most of them from {worst.port[1]} at {worst.port[0]} "
            f"({why if worst.headroom_bytes else f'without PFC for priority {worst.priority}'})",
            place, device=worst.port[0], at=Place("BUFFER_PG", f"{worst.port[1]}|{worst.priority}"),
            count=len(lossless),
            hint="raise xoff to a round trip of the cable, two packets, the pause frame and the response of the peer",
        )  # fmt: skip
    kept_out = [queue for queue in result.queues if queue.lossless and queue.drops]
    if kept_out:
        fullest = max(kept_out, key=lambda queue: (queue.drops, queue.port))
        yield _finding(
            "FG757", Severity.ERROR,
            f"{sum(queue.drops for queue in kept_out)} packets of lossless priorities were dropped by the limit of "
            f"their queue, most of them at {fullest.port[0]} {fullest.port[1]}, which held {fullest.most_bytes} B",
            place, device=fullest.port[0], at=Place("BUFFER_QUEUE", f"{fullest.port[1]}|{fullest.priority}"),
            count=len(kept_out),
            hint="give the queue a profile without a limit, such as egress_lossless_profile: PFC limits it",
        )  # fmt: skip
    lossy = [one for one in result.dropped if not one.lossless]
    if lossy:
        worst_lossy = max(lossy, key=lambda one: (one.drops, one.port))
        table = "BUFFER_PG" if isinstance(worst_lossy, GroupUse) else "BUFFER_QUEUE"
        yield _finding(
            "FG751", Severity.NOTE,
            f"{sum(one.drops for one in lossy)} packets of lossy priorities were dropped, most of them of priority "
            f"{worst_lossy.priority} at {worst_lossy.port[0]} {worst_lossy.port[1]}", place,
            device=worst_lossy.port[0], at=Place(table, f"{worst_lossy.port[1]}|{worst_lossy.priority}"),
            count=len(lossy), hint="",
        )  # fmt: skip
    if result.lost:
        most = max(result.lost, key=lambda one: (one.drops, one.port))
        yield _finding(
            "FG758", Severity.NOTE,
            f"{sum(one.drops for one in result.lost)} packets were lost on links that went down, most of them of "
            f"priority {most.priority} at {most.port[0]} {most.port[1]}",
            place, device=most.port[0], count=len(result.lost),
        )  # fmt: skip
    yield from _early(result, place)
    if result.pattern:
        yield from _marks(result, place)


def _marks(result: PacketsResult, place: Location | None) -> Iterator[Finding]:
    """Findings of a fabric with ECN: marks that come too late, and pauses that ECN should prevent."""
    late = [queue for queue in result.queues if queue.lossless and queue.most_ns > LONG_QUEUE_NS and _is_late(queue)]
    if late:
        worst = late[0]
        why = "does not mark" if worst.kmin_bytes is None else f"marks above {worst.kmin_bytes} B"
        yield _finding(
            "FG753", Severity.WARNING,
            f"ECN comes too late: {worst.port[0]} {worst.port[1]} held {worst.most_bytes} B, "
            f"{time_text(worst.most_ns)} of its line rate, and {why}",
            place, device=worst.port[0], at=Place("QUEUE", f"{worst.port[1]}|{worst.priority}"), count=len(late),
            hint="give the queue a WRED profile with ECN and a Kmin of a few tens of microseconds at the port's speed",
        )  # fmt: skip
    pausing = [group for group in result.groups if group.pauses]
    if pausing and result.ecn:
        worst_group = max(pausing, key=lambda group: (group.pauses, group.port))
        yield _finding(
            "FG754", Severity.WARNING,
            f"{sum(group.pauses for group in pausing)} pauses although ECN slows the senders: the group at "
            f"{worst_group.port[0]} {worst_group.port[1]} may use only {worst_group.alpha:g} of the free pool",
            place, device=worst_group.port[0], at=Place("BUFFER_PG", worst_group.port[1]), count=len(pausing),
            hint="raise dynamic_th of the group's profile, so the pool can hold the bytes that arrive before ECN acts",
        )  # fmt: skip


def _is_late(queue: QueueUse) -> bool:
    return queue.kmin_bytes is None or queue.kmin_bytes * queue.most_ns > LONG_QUEUE_NS * queue.most_bytes


def _early(result: PacketsResult, place: Location | None) -> Iterator[Finding]:
    """PFC before ECN, on a fabric with ECN."""
    early: Sequence[GroupUse] = [group for group in result.groups if group.early_pauses] if result.ecn else ()
    if early:
        worst = max(early, key=lambda group: (group.early_pauses, group.port))
        yield _finding(
            "FG752", Severity.WARNING,
            f"PFC before ECN: {sum(group.early_pauses for group in early)} pauses were sent while the queue ahead was "
            f"below Kmin, most of them by {worst.port[0]} to {worst.port[1]}",
            place, device=worst.port[0], at=Place("BUFFER_PG", f"{worst.port[1]}|{worst.priority}"), count=len(early),
            hint="lower Kmin and Kmax, or raise alpha, so ECN slows the senders before PFC pauses them",
        )  # fmt: skip


def _delays(result: PacketsResult, place: Location | None) -> Iterator[Finding]:
    victims = sorted((flow for flow in result.flows if flow.victim), key=lambda flow: -(flow.hol_factor or 0))
    paused = any(pause for _, _, pause in result.pfc_frames)
    if victims and paused:
        worst = victims[0]
        yield _finding(
            "FG760", Severity.WARNING,
            f"{len(victims)} of {len(result.flows)} flows are victims of other flows, worst {worst.src} to "
            f"{worst.dst}: HoL factor {worst.hol_factor}{_alone(worst)}",
            place, device=result.roots[0].port[0] if result.roots else "", count=len(victims),
            hint=_root_hint(result),
        )  # fmt: skip
    for root in result.roots:
        if root.kind is PauseKind.SLOW_RECEIVER and root.paused_share > LONG_PAUSE:
            yield _finding(
                "FG761", Severity.WARNING,
                f"host {root.port[1]} pauses {root.port[0]} for {root.paused_share:.0%} of the time, which pauses "
                f"{root.paused_links} links",
                place, device=root.port[0],
                hint="check the host: a NIC or receiver below line rate is the root of a pause storm",
            )  # fmt: skip
    late = sum(flow.fct_ns is None for flow in result.flows)
    if late and not result.freeze:
        yield _finding(
            "FG762", Severity.NOTE,
            f"{late} of {len(result.flows)} flows have not completed after {time_text(result.simulated_ns)}", place,
            hint="give the run more time, or find the ports that delay them",
        )  # fmt: skip


def _alone(flow: PacketFlow) -> str:
    return f", {flow.slowdown} times the time of the flow alone" if flow.slowdown else ""


def _root_hint(result: PacketsResult) -> str:
    if not result.roots:
        return "find the congested port: its pauses delay flows that do not cross it"
    root = result.roots[0]
    return f"relieve the port of {root.port[0]} towards {root.port[1]} ({root.kind}), where pauses begin"
