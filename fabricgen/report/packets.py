"""A packet run as a JSON object and as text."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from fabricgen.quantities import count_text, size_text, time_text
from fabricgen.results import DrawSpread, FailureEffect, FailurePhase, PacketsResult, percentiles
from fabricgen.units import counted
from fabricgen.vocabulary import BalanceMode

MOST_QUEUES = 64


def packets_object(result: PacketsResult) -> dict[str, Any]:
    """The `packets` object."""
    pauses = sum(kind for _, _, kind in result.pfc_frames)
    return {
        "scenario": result.name,
        "pattern": result.pattern or None,
        "compat": result.compat or None,
        "balance": result.balance,
        "seed": result.seed,
        "flows": [asdict(flow) for flow in result.flows],
        "finished": result.finished,
        "collective_ns": result.collective_ns,
        "fct_ns": dict(zip(("p50", "p99", "p99.9"), percentiles(result.flows), strict=True)),
        "pause_frames": pauses,
        "resume_frames": len(result.pfc_frames) - pauses,
        "pfc_frames": [list(frame) for frame in result.pfc_frames],
        "draws": {"seeds": list(result.seeds or [result.seed]), "spread": [asdict(one) for one in result.spread]},
        "drops": result.drops,
        "lost": [asdict(loss) for loss in result.lost],
        "discarded": result.discarded,
        "credit_waits": result.credit_waits,
        "retransmissions": result.retransmissions,
        "ecn_marked": result.marked,
        "trimmed": result.trimmed,
        "frozen": result.freeze is not None,
        "freeze": asdict(result.freeze) if result.freeze else None,
        "watchdog": [asdict(storm) for storm in result.storms],
        "roots": [asdict(root) for root in result.roots],
        "wire_transmissions": result.wire_transmissions,
        "events": result.events,
        "simulated_ns": result.simulated_ns,
        "max_queue_bytes": result.max_queue_bytes,
        "groups": [asdict(group) for group in result.groups],
        "queues": [asdict(queue) for queue in result.queues[:MOST_QUEUES]],
        "victims": [
            {"flow": index, "src": flow.src, "dst": flow.dst, "hol_factor": flow.hol_factor, "slowdown": flow.slowdown}
            for index, flow in enumerate(result.flows)
            if flow.victim
        ],
        **({"jobs": [asdict(job) for job in result.jobs]} if result.jobs else {}),
        **({"failure": asdict(result.failure)} if result.failure else {}),
    }


def packets_objects(results: Sequence[PacketsResult]) -> dict[str, Any]:
    """The `packets` object: that of the worst run; several planes are all under `planes`."""
    objects = [packets_object(result) for result in sorted(results, key=_from_worst)]
    return {**objects[0], "planes": objects} if len(objects) > 1 else objects[0] if objects else {}


def _from_worst(result: PacketsResult) -> tuple[bool, int, int, str]:
    victims = sum(flow.victim for flow in result.flows)
    return result.freeze is None, -result.drops, -victims, result.name


def packets_lines(result: PacketsResult) -> Iterator[str]:
    """The run in a few lines."""
    head = f"{result.finished} of {counted(len(result.flows), 'flow')} finished, seed {result.seed}"
    if result.compat:
        head += f", compat {result.compat}"
    yield f"packets   {result.name}: {head}"
    if result.balance != BalanceMode.ECMP and not result.pattern:
        yield f"          load balancing {result.balance}"
    if result.reason:
        yield f"          {result.reason}"
    yield from _completion_lines(result)
    if result.failure:
        yield from _failure_lines(result.failure, len(result.flows))
    for job in result.jobs:
        ended = f"done in {_time(job.time_ns)}" if job.time_ns is not None else f"{job.finished} of them finished"
        yield f"          job {job.name}: {counted(job.flows, 'flow')}, {ended}"
    priorities = sorted({flow.priority for flow in result.flows})
    for priority in priorities if len(priorities) > 1 else ():
        yield f"          priority {priority}: {_class_line(result, priority)}"
    by_credits = result.credit_waits is not None
    pauses = result.credit_waits or sum(kind for _, _, kind in result.pfc_frames)
    trimmed = f"{result.trimmed} trimmed, " if result.trimmed else ""
    waits = f"{counted(pauses, 'wait')} for credits" if by_credits else counted(pauses, "pause frame")
    yield (
        f"          {waits}, {counted(result.drops, 'drop')}, {trimmed}"
        f"{counted(result.marked, 'packet')} marked, largest queue {size_text(result.max_queue_bytes)}, "
        f"{counted(result.wire_transmissions, 'packet hop')}"
    )
    if result.freeze:
        around = " -> ".join(f"{node}>{peer}" for node, peer in result.freeze.cycle)
        over = f", until {_time(result.freeze.over_ns)}" if result.freeze.over_ns is not None else ""
        yield f"          FROZEN at {_time(result.freeze.time_ns)}{over}: {around}"
    victims = sorted((flow for flow in result.flows if flow.victim), key=lambda flow: -(flow.hol_factor or 0))
    if victims and not pauses:  # their own rates slowed them down
        why = "short of credits" if by_credits else "paused"
        yield f"          slower than with fair sharing: {counted(len(victims), 'flow')}; nothing was {why}"
        return
    for flow in victims[:5]:
        alone = f", {flow.slowdown} times the flow without others" if flow.slowdown else ""
        yield f"          victim {flow.src} to {flow.dst}: HoL factor {flow.hol_factor}{alone}"
    if len(victims) > 5:
        yield f"          and {counted(len(victims) - 5, 'more victim')}"


def _completion_lines(result: PacketsResult) -> Iterator[str]:
    """The completion times of the flows."""
    times = percentiles(result.flows)
    if times[0] is not None:
        line = ", ".join(f"{name} {_time(value)}" for name, value in zip(("p50", "p99", "p99.9"), times, strict=True))
        whole = f", all in {_time(result.collective_ns)}" if result.collective_ns is not None else ""
        yield f"          completion {line}{whole}"
    if result.spread:
        yield f"          {counted(len(result.seeds), 'draw')}: {', '.join(map(_interval, result.spread))}"


def _failure_lines(one: FailureEffect, flows: int) -> Iterator[str]:
    """What a link that went down cost."""
    yield (
        f"          {one.port[0]}:{one.port[1]} down at {_time(one.at_ns)}, routes without it at "
        f"{_time(one.routes_at_ns)}{f', up at {_time(one.up_at_ns)}' if one.up_at_ns is not None else ''}: "
        f"{counted(one.lost, 'packet')} lost"
    )
    for phase in one.phases:
        yield f"          {_phase_line(phase)}"
    slower = f", at most by {_time(one.most_ns)}" if one.slower_flows else ""
    before = f"; all in {_time(one.collective_ns_before)} without the failure" if one.collective_ns_before else ""
    yield f"          {one.slower_flows} of {counted(flows, 'flow')} slower{slower}{before}"


def _phase_line(phase: FailurePhase) -> str:
    """The rate of a phase, and what happened in it."""
    at = f" at {counted(phase.paused_ports, 'port')}"
    counts = (
        (f"{counted(phase.pauses, 'pause')}{at}", phase.pauses),
        (f"{counted(phase.lost, 'packet')} lost", phase.lost),
        (f"{count_text(phase.repeated)} sent again", phase.repeated),
    )
    happened = "".join(f", {words}" for words, count in counts if count)
    return f"{phase.name}: {phase.gbps:.1f} Gb/s, from {_time(phase.from_ns)} to {_time(phase.to_ns)}{happened}"


def _interval(one: DrawSpread) -> str:
    """A percentile over several draws."""
    return f"{one.name} {_time(one.median_ns)} ({one.confidence:.0%}: {_time(one.low_ns)} to {_time(one.high_ns)})"


def _class_line(result: PacketsResult, priority: int) -> str:
    """One priority of several."""
    flows = [flow for flow in result.flows if flow.priority == priority]
    done = sum(flow.fct_ns is not None for flow in flows)
    drops = sum(one.drops for one in result.dropped if one.priority == priority)
    p50, p99, _ = percentiles(flows)
    times = f", p50 {_time(p50)}, p99 {_time(p99)}" if p50 is not None else ""
    return f"{done} of {counted(len(flows), 'flow')} finished{times}, {counted(drops, 'drop')}"


def _time(nanoseconds: int | None) -> str:
    return time_text(nanoseconds or 0)
