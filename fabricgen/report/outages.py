"""Bandwidth after failures as a JSON object and as text."""

from collections.abc import Iterator
from typing import Any

from fabricgen.quantities import time_text
from fabricgen.results import Outage, OutageResult, Spread
from fabricgen.units import counted


def outage_object(one: OutageResult) -> dict[str, Any]:
    """An item of `failures` of a plane."""
    return {
        "pattern": one.pattern,
        "depth": one.depth,
        "switches": one.switches,
        "sets": one.sets,
        "judged": one.judged,
        "how": one.how,
        "time_ns": one.time_ns,
        "bus_gbytes": one.bus_gbytes,
        "worst": None if one.worst is None else _outage(one.worst),
        "median": None if one.median is None else _outage(one.median),
        "stopping": one.stopping,
        "worse_sets": one.worse_sets,
        "drawn_bus_gbytes": spread_object(one.drawn),
        "worst_drawn_bus_gbytes": spread_object(one.worst_drawn),
        "weighted_share": one.weighted_share,
        "outcomes": [_outage(outcome) for outcome in one.outcomes],
        **(
            {"stopped_jobs": [{"name": name, "sets": sets} for name, sets in one.stopped_jobs]}
            if one.stopped_jobs
            else {}
        ),
        "reason": one.reason,
    }


def spread_object(found: Spread | None) -> dict[str, float] | None:
    """The values of several draws."""
    if found is None:
        return None
    return {"mean": round(found.mean, 3), "least": round(found.least, 3), "highest": round(found.highest, 3)}


def _outage(one: Outage) -> dict[str, Any]:
    return {
        "failed": list(one.names),
        "sets": one.sets,
        "share": one.share,
        "time_ns": one.time_ns,
        "bus_gbytes": one.bus_gbytes,
        "cut_off": one.cut_off,
        **({"jobs": [{"name": name, "share": share} for name, share in one.jobs]} if one.jobs else {}),
    }


def outage_lines(one: OutageResult) -> Iterator[str]:
    """A line for the bandwidth, and one for sets that stop the job."""
    kind = "links or switches" if one.switches else "links"
    head = f"failures    {f'plane {one.name}: ' if one.name else ''}{one.pattern}, {one.depth} of the {kind}: "
    if one.reason:
        yield f"{head}not judged: {one.reason}"
        return
    how = {
        "each": "each judged",
        "orbits": f"{one.judged} judged, the others are equal by symmetry",
        "sample": f"a sample of {one.judged}; at most {one.worse_sets:.1%} are worse",
    }[one.how]
    parts = [f"{counted(one.sets, 'set')} ({how})", f"none {_speed(one.time_ns, one.bus_gbytes)}"]
    if one.median and one.worst:
        parts.append(f"median {_cost(one.median)}")
        after = f" after {' and '.join(one.worst.names)}" if one.worst.share < 1 else ""
        parts.append(f"worst {_cost(one.worst)}{after}")
    yield head + ", ".join(parts)
    if one.drawn:
        worst = f", {_range(one.worst_drawn)} after the worst set" if one.worst_drawn else ""
        yield f"{'':12}with drawn hashes {_range(one.drawn)} without a failure{worst}"
    if one.worst and one.worst.jobs:
        yield f"{'':12}the worst set hits {', '.join(f'{name} ({share:.1%} left)' for name, share in one.worst.jobs)}"
    if one.weighted_share is not None:
        yield f"{'':12}weighted ECMP (wcmp) leaves {one.weighted_share:.1%} after the worst set"
    if one.stopping:
        verb = "leaves" if one.stopping == 1 else "leave"
        yield f"{'':12}{counted(one.stopping, 'set')} {verb} GPUs without a port{_of_jobs(one)}"


def _of_jobs(one: OutageResult) -> str:
    return f": {', '.join(f'{name} in {sets}' for name, sets in one.stopped_jobs)}" if one.stopped_jobs else ""


def _range(found: Spread) -> str:
    if found.least == found.highest:
        return f"{found.mean:.1f} GB/s"
    return f"{found.mean:.1f} GB/s ({found.least:.1f} to {found.highest:.1f})"


def _speed(time_ns: float, bus_gbytes: float | None) -> str:
    return time_text(time_ns) if bus_gbytes is None else f"{bus_gbytes:.1f} GB/s"


def _cost(one: Outage) -> str:
    return "no path" if one.time_ns is None else f"{_speed(one.time_ns, one.bus_gbytes)} ({one.share:.1%})"
