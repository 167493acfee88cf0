"""Jobs that run at the same time as a JSON object and as a table."""

from collections.abc import Iterator
from typing import Any

from fabricgen.quantities import time_text
from fabricgen.report.outages import spread_object
from fabricgen.results import JobsResult, JobTime, PlacementScore, ProposedPlacement, Spread
from fabricgen.units import counted

_MOST_PLACES = 8  # devices with common links, in the JSON of a pair
_LONGEST_NAME = 16


def jobs_object(found: JobsResult) -> dict[str, Any]:
    """The `jobs` of a plane."""
    return {
        "draws": found.draws,
        "hosts": found.hosts,
        "free_hosts": found.free_hosts,
        "fairness": spread_object(found.fairness),
        "least_share": spread_object(found.least_share),
        "jobs": [_job(one) for one in found.jobs],
        "pairs": [
            {
                "job": one.job,
                "other": one.other,
                "links": one.links,
                "worst_link": list(one.worst),
                "slowdown": spread_object(one.slowdown),
                "other_slowdown": spread_object(one.other_slowdown),
                "places": [{"device": device, "links": links} for device, links in one.places[:_MOST_PLACES]],
            }
            for one in found.pairs
        ],
        "blocked": [
            {
                "job": one.job,
                "by": one.by,
                "victims": one.victims,
                "root": list(one.root),
                "shares_links": one.shares_links,
            }
            for one in found.blocks
        ],
        "advice": [{"jobs": list(one.jobs), "text": one.text} for one in found.advice],
        "proposal": None if found.proposal is None else _proposal_object(found.proposal),
        "reason": found.reason,
    }


def _job(one: JobTime) -> dict[str, Any]:
    return {
        "name": one.name,
        "pattern": one.pattern,
        "size_bytes": one.size_bytes,
        "repetitions": one.repetitions,
        "start_ns": one.start_ns,
        "hosts": list(one.hosts),
        "units": [{"name": name, "hosts": hosts} for name, hosts in one.units],
        "rails": list(one.rails),
        "messages": one.messages,
        "lost": one.lost,
        "line_ns": one.line_ns,
        "alone_ns": spread_object(one.alone_ns),
        "together_ns": spread_object(one.together_ns),
        "slowdown": spread_object(one.slowdown),
        "even_slowdown": one.even_slowdown,
        "alone_bus_gbytes": spread_object(one.alone_bus_gbytes),
        "together_bus_gbytes": spread_object(one.together_bus_gbytes),
        "pause_slowdown": one.pause_slowdown,
    }


def _proposal_object(one: ProposedPlacement) -> dict[str, Any]:
    return {
        "given": _score(one.given),
        "proposed": _score(one.proposed),
        "draws": one.draws,
        "first_seed": one.first_seed,
        "evaluated": one.evaluated,
        "exhaustive": one.exhaustive,
        "moved_hosts": one.moved,
        "jobs_file": one.jobs_file,
        "reason": one.reason,
    }


def _score(one: PlacementScore) -> dict[str, Any]:
    return {"worst_slowdown": spread_object(one.worst), "mean_ns": spread_object(one.mean_ns)}


def jobs_lines(found: JobsResult) -> Iterator[str]:
    """A line on all jobs, a table with a row for each, and the proposed placement with its jobs file."""
    plane = f"plane {found.name}: " if found.name else ""
    shares = f"fairness {found.fairness.mean:.2f}, least share {found.least_share.mean:.0%}"
    yield (
        f"jobs        {plane}{counted(len(found.jobs), 'job')} on {counted(found.hosts, 'host')},"
        f" {found.free_hosts} free; {counted(found.draws, 'draw')}: {shares}"
    )
    width = min(_LONGEST_NAME, max(len(one.name) for one in found.jobs))
    yield (
        f"  {'job':<{width}} {'hosts':>5} {'alone us':>10} {'with all':>10}  {'slowdown':<20}"
        f" {'busbw GB/s':>10} {'alone':>7}"
    )
    for one in found.jobs:
        if not one.messages:
            yield f"  {one.name:<{width}} {len(one.hosts):>5} sends nothing over the network"
            continue
        yield (
            f"  {one.name:<{width}} {len(one.hosts):>5} {one.alone_ns.mean / 1000:>10.1f}"
            f" {one.together_ns.mean / 1000:>10.1f}  {_range(one.slowdown):<20}"
            f" {_number(one.together_bus_gbytes):>10} {_number(one.alone_bus_gbytes):>7}"
        )
    if found.reason:
        yield f"  {found.reason}"
    if found.proposal is not None:
        yield from _proposal_lines(found.proposal)


def _proposal_lines(one: ProposedPlacement) -> Iterator[str]:
    compared = f"{counted(one.evaluated, 'placement')} compared{', all' if one.exhaustive else ''}"
    if not one.jobs_file:
        yield f"placement   none better found: {one.reason} ({compared})"
        return
    worst = f"{_range(one.given.worst)} -> {_range(one.proposed.worst)} times the time at line rate"
    mean = f"{_time(one.given.mean_ns)} -> {_time(one.proposed.mean_ns)}"
    yield (
        f"placement   a better one: slowest job {worst}, mean time {mean}, on {one.draws} new draws;"
        f" {counted(one.moved, 'host')} moved; {compared}"
    )
    yield from one.jobs_file.splitlines()


def _range(found: Spread) -> str:
    least, highest = f"{found.least:.2f}", f"{found.highest:.2f}"
    return f"{found.mean:.2f}" if least == highest else f"{found.mean:.2f} ({least} to {highest})"


def _time(found: Spread) -> str:
    return time_text(found.mean)


def _number(found: Spread | None) -> str:
    return "-" if found is None else f"{found.mean:.1f}"
