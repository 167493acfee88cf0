"""Findings of jobs, each at its job in the jobs file: FG714 to FG718."""

from collections.abc import Iterator, Mapping, Sequence

from fabricgen.findings import Confidence, Finding, Location, Severity
from fabricgen.results import CongestionResult, JobsResult, JobTime, OutageResult, Spread
from fabricgen.simulate.jobs.advice import SLOWER
from fabricgen.simulate.workload import PlacedJob
from fabricgen.units import listed

WARNED = 1.2  # times as long as alone; the factor of a victim of head-of-line blocking
_HITS = 0.99  # of the bandwidth after a failure; less is reported


def job_findings(placed: Sequence[PlacedJob], results: Sequence[CongestionResult]) -> Iterator[Finding]:
    """The findings of the jobs of all planes. Slowed jobs are warnings above 1.2 times, else notes."""
    place = {one.name: one.request.locations.get("name") for one in placed}
    for result in results:
        if result.jobs is not None:
            yield from _slowed(place, result.jobs)
            yield from _blocked(place, result.jobs, ecn=result.ecn)
            yield from _advice(place, result.jobs)
            yield from _proposal(place, result.jobs)


def failure_findings(placed: Sequence[PlacedJob], results: Sequence[OutageResult]) -> Iterator[Finding]:
    """FG717 for the jobs that the worst set of failures hits, and for those that sets of failures stop."""
    place = {one.name: one.request.locations.get("name") for one in placed}
    for one in results:
        for name, share in one.worst.jobs if one.worst else ():
            if one.worst and share < _HITS:
                after = " and ".join(one.worst.names)
                left = f"has {share:.1%} of its bandwidth" if share else "has messages without a path"
                yield _at(place, one.name, name, "FG717", Severity.NOTE, f"job {name} {left} after {after}")
        for name, sets in one.stopped_jobs:
            message = f"job {name} loses all ports of a GPU in {sets} of {one.sets} sets of failures"
            yield _at(place, one.name, name, "FG717", Severity.NOTE, message)


def _slowed(place: Mapping[str, Location | None], found: JobsResult) -> Iterator[Finding]:
    for one in found.slowed:
        if one.slowdown.mean < SLOWER:
            continue
        severity = Severity.WARNING if one.slowdown.mean > WARNED else Severity.NOTE
        message = f"job {one.name} takes {one.slowdown.mean:.2f} times as long as alone{_range(one.slowdown, found)}"
        message += f"{_by(one, found)}; {one.even_slowdown:.2f} times if load spreads evenly"
        hint = "change the placement as FG716 says, or run --placement search"
        yield _at(place, found.name, one.name, "FG714", severity, message, hint)


def _by(one: JobTime, found: JobsResult) -> str:
    """The jobs that slow a job by themselves."""
    beside = [(pair.slowdown.mean, pair.other) for pair in found.pairs if pair.job == one.name]
    beside += [(pair.other_slowdown.mean, pair.job) for pair in found.pairs if pair.other == one.name]
    worst = [name for factor, name in sorted(beside, key=lambda each: (-each[0], each[1])) if factor >= SLOWER]
    return f", by {listed(worst, 3)}" if worst else ""


def _range(spread: Spread, found: JobsResult) -> str:
    return f" ({spread.least:.2f} to {spread.highest:.2f} over {found.draws} draws)" if found.draws > 1 else ""


def _blocked(place: Mapping[str, Location | None], found: JobsResult, *, ecn: bool) -> Iterator[Finding]:
    slowed = {one.name: one.pause_slowdown or 1.0 for one in found.jobs}
    for name in dict.fromkeys(block.job for block in found.blocks):
        own = [block for block in found.blocks if block.job == name]
        apart = [block.by for block in own if not block.shares_links]
        by = listed([block.by for block in own], 3)
        device, port = own[0].root
        message = f"flows of job {name} wait for pauses behind ports that it does not use: {by}; most of them "
        message += f"({own[0].victims}) behind {port} of {device}"
        message += f"; it shares no link with {', '.join(apart[:3])}" if apart else ""
        message += ", until ECN slows the senders" if ecn else ""
        severity = Severity.WARNING if apart and slowed[name] > WARNED else Severity.NOTE
        hint = "place the jobs below different leaves, or let fewer hosts send to one"
        yield _at(place, found.name, name, "FG715", severity, message, hint)


def _advice(place: Mapping[str, Location | None], found: JobsResult) -> Iterator[Finding]:
    for one in found.advice:
        yield _at(place, found.name, one.jobs[0], "FG716", Severity.NOTE, one.text)


def _proposal(place: Mapping[str, Location | None], found: JobsResult) -> Iterator[Finding]:
    proposal = found.proposal
    if proposal is not None and proposal.jobs_file:
        message = f"a better placement exists: the slowest job takes {proposal.proposed.worst.mean:.2f} times as long "
        message += f"as at line rate, now {proposal.given.worst.mean:.2f} times ({proposal.draws} draws that the "
        message += "search did not use)"
        hint = "use the jobs file of the report, or write it with --save-jobs"
        yield _at(place, found.name, found.jobs[0].name, "FG718", Severity.NOTE, message, hint)


def _at(
    place: Mapping[str, Location | None],
    plane: str,
    job: str,
    code: str,
    severity: Severity,
    message: str,
    hint: str = "",
) -> Finding:
    text = f"plane {plane}: {message}" if plane else message
    return Finding(code, severity, text, path=job, location=place.get(job), hint=hint, confidence=Confidence.POSSIBLE)
