"""The traffic of the report: completion times against fair shares, loads, trees and victims of each pattern."""

from collections.abc import Iterator, Sequence
from typing import Any

from fabricgen.report.outages import outage_object
from fabricgen.results import CongestionResult, FlowTime, OutageResult

_CURVE_POINTS, _SLOWEST, _TREES, _OUTCOMES = 100, 25, 20, 12


def traffic_object(results: Sequence[CongestionResult]) -> list[dict[str, Any]]:
    """One object for each plane of each pattern. `ratio` is a completion time over that of fair (max-min) sharing of
    the same paths; it is below 1 for a flow that gains while others wait."""
    return [_plane(result) for result in results]


def _plane(result: CongestionResult) -> dict[str, Any]:
    timed = sorted(_ratios(result), key=lambda one: one[0])
    return {
        "pattern": result.pattern,
        "plane": result.name,
        "model": result.model,
        "reason": result.reason,
        "flows": sum(flow.count for flow in result.flows),
        "max_load": result.max_load,
        "drawn_load": result.drawn_load,
        "slowest_ns": max((flow.fct_ns or 0 for flow in result.flows), default=None),
        "ratio": {name: percentile(timed, share) for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))},
        "curve": list(_curve(timed)),
        "victims": sum(flow.count for flow in result.victims),
        "paused_ports": result.paused,
        "roots": result.roots,
        "lost": result.lost,
        "unfinished": result.unfinished,
        "lossless": result.lossless,
        "ecn": result.ecn,
        "oversubscribed": [
            {"tier": one.tier, "rail": one.rail, "ratio": one.ratio, "device": one.device}
            for one in result.oversubscribed
        ],
        "slowest": [_flow(flow) for flow in sorted(result.flows, key=_slowness)[:_SLOWEST] if flow.victim],
        "trees": [
            {"root": tree.root, "round": tree.round, "kind": tree.kind, "depth": tree.depth, "channels": tree.channels,
             "victims": tree.victims, "waits": tree.links}
            for tree in result.trees[:_TREES]
        ],
        "more_trees": max(0, len(result.trees) - _TREES),
        "failures": [_failures(one) for one in result.failures],
        "loads": [[one.device, one.toward, one.ports, one.mean, one.max] for one in result.loads],
    }  # fmt: skip


def _failures(one: OutageResult) -> dict[str, Any]:
    """The cost of failures, with the worst ones of those that were judged."""
    found = outage_object(one)
    return {**found, "outcomes": found["outcomes"][:_OUTCOMES]}


def _ratios(result: CongestionResult) -> Iterator[tuple[float, int]]:
    """(completion time over the fair one, number of flows) of the flows that complete."""
    for flow in result.flows:
        if flow.fct_ns is not None and flow.ideal_fct_ns:
            yield flow.fct_ns / flow.ideal_fct_ns, flow.count


def percentile(timed: Sequence[tuple[float, int]], share: float) -> float | None:
    """The least ratio that a share of all flows does not exceed; `timed` is in order."""
    total, seen = sum(count for _, count in timed), 0
    for ratio, count in timed:
        seen += count
        if seen >= share * total:
            return round(ratio, 4)
    return None


def _curve(timed: Sequence[tuple[float, int]]) -> Iterator[list[float]]:
    """[ratio, share of the flows done by then], at most `_CURVE_POINTS` of them, the last one included."""
    total, seen, drawn = sum(count for _, count in timed), 0, -1.0
    for number, (ratio, count) in enumerate(timed, 1):
        seen += count
        share = seen / total
        if share - drawn >= 1 / _CURVE_POINTS or number == len(timed):
            drawn = share
            yield [round(ratio, 4), round(share, 4)]


def _slowness(flow: FlowTime) -> tuple[float, str, str]:
    return -(flow.hol_factor if flow.hol_factor is not None else 1e9), flow.src, flow.dst


def _flow(flow: FlowTime) -> dict[str, Any]:
    return {"src": flow.src, "dst": flow.dst, "fct_ns": flow.fct_ns, "fair_ns": flow.ideal_fct_ns,
            "hol_factor": flow.hol_factor, "label": flow.label, "count": flow.count}  # fmt: skip
