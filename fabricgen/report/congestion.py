"""The congestion verdict as a JSON object and as text."""

from collections.abc import Iterator, Sequence
from typing import Any

from fabricgen.quantities import time_text
from fabricgen.report.jobs import jobs_lines, jobs_object
from fabricgen.report.outages import outage_lines, outage_object, spread_object
from fabricgen.report.planes import of_planes
from fabricgen.results import (
    NOT_JUDGED,
    CongestionModel,
    CongestionResult,
    CongestionTree,
    FlowTime,
    Level,
    LinkFairness,
    SizeRow,
    SizeTable,
    Spread,
    Statement,
)
from fabricgen.units import counted, format_bytes

_FULL = 1.005  # of the capacity: less is a rounding of 1.00


def congestion_object(results: Sequence[CongestionResult]) -> dict[str, Any]:
    """The `congestion` object: that of the worst plane; several planes are all under `planes`."""
    return of_planes([_plane(result) for result in results])


def congestion_lines(results: Sequence[CongestionResult]) -> Iterator[str]:
    """A line for each plane, those of its failures, and its bandwidths by size."""
    for result in results:
        yield from _plane_lines(result)
        if result.jobs is not None:
            yield from jobs_lines(result.jobs)
        for one in result.failures:
            yield from outage_lines(one)
        yield from size_lines(result.sizes)


def traffic_statement(result: CongestionResult) -> Statement:
    """The verdict on one plane under one pattern."""
    if result.model == CongestionModel.SHARED:
        return Statement(_load_level(result), _load(result), result.pattern)
    if result.model == CongestionModel.SKIPPED:
        return Statement(Level.NONE, NOT_JUDGED, result.reason)
    if not result.flows:
        return Statement(Level.WARNING, result.reason or "no flow arrives", result.pattern)
    flows, victims = (sum(flow.count for flow in some) for some in (result.flows, result.victims))
    blocked = f", without {counted(result.blocked, 'blocked pair')}" if result.blocked else ""
    covers = f"{result.pattern}, {counted(flows, 'flow')}{blocked}"
    mode = f"{result.balance.name}, " if result.balance else ""
    verdict = mode + _verdict(result, victims)
    if result.unfinished:
        return Statement(Level.WARNING, verdict, covers, short=f"{result.unfinished:,} not finished")
    if victims:
        return Statement(Level.WARNING, verdict, covers, short=counted(victims, "victim"))
    if _load_level(result) is Level.WARNING:
        return Statement(Level.WARNING, verdict, covers, short=_load(result))
    delayed = "no flow is delayed" if result.model == CongestionModel.IDLE else "no victims"
    return Statement(Level.OK, verdict, covers, short=delayed)


def _load_level(result: CongestionResult) -> Level:
    """A warning where a link has more load than capacity, with an even spread or as drawn."""
    return Level.WARNING if max(result.max_load, result.drawn_load or 0) > _FULL else Level.OK


def _plane_lines(result: CongestionResult) -> Iterator[str]:
    name = f"plane {result.name}: " if result.name else ""
    yield f"congestion  {name}{traffic_statement(result)}"
    if result.flows and result.repeating:
        yield f"            times and loads do not hold: {result.repeating} repeat packets that arrive out of order"


def congestion_unjudged(results: Sequence[CongestionResult]) -> Iterator[str]:
    """The planes without a verdict."""
    for result in results:
        if result.model == "skipped":
            yield f"congestion of plane {result.name}" if result.name else "congestion"
        if result.blocked:
            yield f"{result.blocked} of {counted(result.pairs, 'pair')} of hosts, which VRFs or ACLs block"
        if result.balance and result.balance.by_hosts:
            yield f"how NICs{f' of plane {result.name}' if result.name else ''} choose among lists of uSIDs"
        elif result.balance:
            yield f"the mode of load balancing of plane {result.name}, which the files of its switches do not contain"
        if any(one.reason for one in result.failures):
            yield f"bandwidth after failures of plane {result.name}" if result.name else "bandwidth after failures"


def _verdict(result: CongestionResult, victims: int) -> str:
    load = _load(result)
    if result.model == "idle":
        return f"{load}, no flow is delayed"
    slowest = max((flow.fct_ns or 0 for flow in result.flows), default=0)
    parts = [load, counted(victims, "victim")]
    if result.model != "dense":
        rounds = max((tree.round for tree in result.trees), default=1)
        roots = counted(result.roots, "root") + (f" in {rounds} rounds" if rounds > 1 else "")
        parts.append(f"{roots}, {counted(result.paused, 'paused port')}")
    if result.unfinished:
        parts.append(f"{result.unfinished} not finished")
    else:
        parts.append(f"slowest {time_text(slowest)}")
    if not result.lossless:
        parts.append("no PFC")
    return ", ".join(parts)


def _load(result: CongestionResult) -> str:
    drawn = result.drawn_load
    if drawn is None or drawn <= result.max_load:
        return f"max load {result.max_load:.2f}"
    return f"max load {result.max_load:.2f} ({drawn:.2f} as drawn with seed {result.seed})"


def _plane(result: CongestionResult) -> dict[str, Any]:
    collisions = result.collisions
    return {
        "name": result.name,
        "statement": traffic_statement(result).as_object(),
        "pattern": result.pattern,
        "model": result.model,
        "seed": result.seed,
        "links": result.links,
        "max_load": result.max_load,
        "drawn_load": result.drawn_load,
        "oversubscribed": [
            {"tier": one.tier, "rail": one.rail, "ratio": one.ratio, "device": one.device}
            for one in result.oversubscribed
        ],
        "roots": result.roots,
        "paused_ports": result.paused,
        "trees": [_tree(tree) for tree in result.trees],
        "victims": [
            {"src": flow.src, "dst": flow.dst, "hol_factor": flow.hol_factor, "label": flow.label, "count": flow.count}
            for flow in result.victims
        ],
        "flows": [_flow(flow) for flow in result.flows],
        "lost": result.lost,
        "blocked": result.blocked,
        "unfinished": result.unfinished,
        "unsettled": result.unsettled,
        "unexplained": result.unexplained,
        "ecn": result.ecn,
        "collisions": {
            "flows": collisions.flows,
            "links": collisions.links,
            "groups": collisions.groups,
            "expected_fullest": collisions.expected,
            "drawn_fullest": collisions.drawn,
        }
        if collisions
        else None,
        "draws": dict(result.draws) if result.draws else None,
        "reason": result.reason,
        **({"load_balancing": str(result.balance)} if result.balance else {}),
        **({"repeating": result.repeating} if result.repeating else {}),
        "loads": [
            {"device": one.device, "toward": one.toward, "ports": one.ports, "mean": one.mean, "max": one.max}
            for one in result.loads
        ],
        "tier_loads": [
            {"tier": one.tier, "toward": one.toward, "ports": one.ports, "mean": one.mean, "max": one.max}
            for one in result.tier_loads
        ],
        "link_fairness": [fairness_object(one) for one in result.fairness],
        **({"link_loads": result.link_loads} if result.link_loads else {}),
        **({"failures": [outage_object(one) for one in result.failures]} if result.failures else {}),
        **({"sizes": [size_object(one) for one in result.sizes]} if result.sizes else {}),
        **({"jobs": jobs_object(result.jobs)} if result.jobs else {}),
    }


def _tree(tree: CongestionTree) -> dict[str, Any]:
    return {
        "root": list(tree.root),
        "round": tree.round,
        "kind": tree.kind,
        "depth": tree.depth,
        "channels": tree.channels,
        "victims": tree.victims,
        "waits": [[list(port), list(awaited)] for port, awaited in tree.links],
    }


def _flow(flow: FlowTime) -> dict[str, Any]:
    return {
        "src": flow.src,
        "dst": flow.dst,
        "fct_ns": flow.fct_ns,
        "ideal_fct_ns": flow.ideal_fct_ns,
        "hol_factor": flow.hol_factor,
        "victim": flow.victim,
        "label": flow.label,
        "count": flow.count,
    }


def fairness_object(found: LinkFairness) -> dict[str, Any]:
    """An item of `link_fairness` of a plane."""
    names = ("tier", "toward", "switches", "links", "jfi", "jfi_least", "mmr", "mmr_highest", "draws")
    return {name: getattr(found, name) for name in names}


# Bandwidth by message size as a JSON object and as the table of nccl-tests.

_LEFT_OUT = "times have no launch of kernels, NIC, PCIe or NVLink: those of small messages are lower bounds"


def size_object(table: SizeTable) -> dict[str, Any]:
    """An item of `sizes` of a plane."""
    return {
        "pattern": table.pattern,
        "rail": table.rail,
        "ranks": table.ranks,
        "steps": table.steps,
        "way_ns": table.way_ns,
        "rows": [_row(row) for row in table.rows],
        "reason": table.reason,
    }


def _row(row: SizeRow) -> dict[str, Any]:
    return {
        "size_bytes": row.size_bytes,
        "time_ns": spread_object(row.time_ns),
        "alg_gbytes": spread_object(row.alg_gbytes),
        "bus_gbytes": spread_object(row.bus_gbytes),
        "even_bus_gbytes": row.even_bus_gbytes,
    }


def size_lines(tables: Sequence[SizeTable]) -> Iterator[str]:
    """A table of the job for each pattern, and a line with its rails alone at the largest size."""
    for table in tables:
        if table.rail is not None:
            continue
        head = f"bandwidth   {f'plane {table.name}: ' if table.name else ''}{table.pattern}, {table.ranks} ranks"
        if table.reason:
            yield f"{head}: no figures: {table.reason}"
            continue
        yield f"{head}; {table.steps} x {time_text(table.way_ns)} of latency in each time"
        yield f"{'size':>12}{'time us':>14}{'algbw GB/s':>12}{'busbw GB/s':>12}{'least':>9}{'highest':>9}{'even':>9}"
        for row in table.rows:
            bus = row.bus_gbytes
            values = [bus.mean, bus.least, bus.highest, row.even_bus_gbytes] if bus else [None] * 4
            cells = "".join(f"{_number(value):>{width}}" for value, width in zip(values, (12, 9, 9, 9), strict=True))
            yield (
                f"{format_bytes(row.size_bytes):>12}{row.time_ns.mean / 1000:>14.1f}{row.alg_gbytes.mean:>12.2f}{cells}"
            )
        yield from _rails([one for one in tables if one.rail is not None and one.pattern == table.pattern])
    if any(table.rows for table in tables):
        yield f"{'':12}{_LEFT_OUT}"


def _rails(tables: Sequence[SizeTable]) -> Iterator[str]:
    """Rails with equal figures share a line."""
    equal: dict[tuple[int, Spread], list[int]] = {}
    for table in tables:
        if table.rows and (bus := table.rows[-1].bus_gbytes):
            rounded = Spread(round(bus.mean, 2), round(bus.least, 2), round(bus.highest, 2))
            equal.setdefault((table.ranks, rounded), []).append(int(table.rail or 0))
    for (ranks, bus), rails in equal.items():
        names = ", ".join(map(str, rails))
        size = format_bytes(tables[0].rows[-1].size_bytes)
        yield (
            f"{'':12}rail {names} alone, {ranks} ranks, {size}: busbw {bus.mean:.2f} GB/s"
            f" ({bus.least:.2f} to {bus.highest:.2f})"
        )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
