"""The head of the report: whether a change is safe to merge, why, on which evidence, and what was not judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fabricgen.bundle.hosts import FOLDER as HOSTS
from fabricgen.findings import Finding, Severity
from fabricgen.report.causes import causes
from fabricgen.report.congestion import traffic_statement
from fabricgen.report.deadlock import deadlock_statement, failures_statement
from fabricgen.report.isolation import isolation_statement
from fabricgen.report.summary import Counts, tables_unjudged, unread_tables
from fabricgen.results import (
    CongestionModel,
    CongestionResult,
    DeadlockResult,
    IsolationResult,
    Level,
    Statement,
    Verdict,
)


def counted(number: int, noun: str, plural: str = "") -> str:
    """'1 switch', '6,016 switches'."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


_FAMILY = "FG6"  # of the codes about deadlock
_LOSSY = "FG604"  # nothing is lossless, although no plan says so


class Answer(StrEnum):
    """The answer to "is it safe to merge?". Only SAFE is a pass."""

    SAFE = "Safe to merge"
    REVIEW = "Review before merging"
    UNJUDGED = "Not judged yet"
    UNSAFE = "Do not merge"


@dataclass(frozen=True)
class JudgedResults:
    """The results that a report is about. `is_complete` is False if errors prevented the rendering. `digests` are those
    of the certificates, by plane. `packets` are runs over time, as `packet_runs` has them. `other_fabric` is the
    name of the fabric that the differences are from, if it is another one."""

    findings: Sequence[Finding]
    suppressed: Sequence[Finding] = ()
    counts: Counts = field(default_factory=Counts)
    is_complete: bool = True
    isolation: Sequence[IsolationResult] = ()
    deadlock: Sequence[DeadlockResult] = ()
    congestion: Sequence[CongestionResult] = ()
    packets: Sequence[Mapping[str, Any]] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    not_judged: Sequence[str] = ()
    other_fabric: str = ""


def answer(judged: JudgedResults) -> Answer:
    """Errors and cycles forbid a merge, warnings ask for a review."""
    severities = {one.severity for one in judged.findings}
    verdicts = {one.verdict for plane in judged.deadlock for one in (plane, plane.fixed_sl) if one}
    if Severity.ERROR in severities:
        return Answer.UNSAFE
    if not judged.is_complete or not judged.counts.rules or not judged.deadlock or Verdict.UNKNOWN in verdicts:
        return Answer.UNJUDGED
    is_doubtful = Severity.WARNING in severities or Verdict.CYCLIC in verdicts or bool(judged.other_fabric)
    is_doubtful = is_doubtful or bool(unread_tables(judged.findings)) or _is_lossy(judged)
    return Answer.REVIEW if is_doubtful else Answer.SAFE


def _is_lossy(judged: JudgedResults) -> bool:
    """Whether a plane has no lossless link, and no plan says that it carries none."""
    return any(one.code == _LOSSY for one in judged.findings)


def verdict_object(
    judged: JudgedResults, bill: dict[str, Any] | None, cables: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The answer, the reasons in words, the evidence, and what was not judged."""
    given = answer(judged)
    return {
        "answer": given.value,
        "level": {Answer.SAFE: "ok", Answer.UNSAFE: "error"}.get(given, "warning"),
        "reasons": list(_reasons(judged, given)),
        "evidence": [
            _rules(judged),
            *_cables(cables),
            *_tenants(judged),
            _deadlock(judged),
            _failures(judged),
            _traffic(judged),
            _bill(judged, bill),
        ],
        "not_judged": list(_not_judged(judged)),
    }


def _reasons(judged: JudgedResults, given: Answer) -> Iterator[str]:
    cyclic = [one for one in judged.deadlock if one.verdict is Verdict.CYCLIC]
    if cyclic:
        hops = min((len(cycle.hops) for one in cyclic for cycle in one.cycles), default=0)
        failed = all(cycle.failed_links for one in cyclic for cycle in one.cycles)
        yield f"Traffic can deadlock: {counted(hops, 'switch', 'switches')} wait for each other in a cycle" + (
            " after a failure." if failed else "."
        )
    errors = [one for one in judged.findings if one.severity is Severity.ERROR]
    warnings = [one for one in judged.findings if one.severity is Severity.WARNING]
    if errors:
        kinds, places = len({one.code for one in errors}), _where(errors)
        more = f", and {counted(len(warnings), 'warning')}" if warnings else ""
        yield f"{counted(len(errors), 'error')} of {counted(kinds, 'kind')}{places}{more}."
        yield _first(judged.findings)
    elif warnings:
        yield f"No errors, {counted(len(warnings), 'warning')}. {_first(judged.findings)}"
    elif given is Answer.SAFE:
        depth = min((one.failures.depth for one in judged.deadlock if one.channels), default=0)
        depth = 0 if any(one.failures.sampled is not None for one in judged.deadlock) else depth
        failures = {0: "", 1: ", also with any one failure"}.get(depth, f", also with any {depth} failures")
        if any(one.channels for one in judged.deadlock):
            yield f"No errors and no warnings. No cyclic buffer dependency is possible{failures}."
        else:
            yield "No errors and no warnings. Nothing is lossless, as planned, so no buffer waits for another."
    elif judged.is_complete and given is Answer.UNJUDGED:
        yield "No errors and no warnings, but the verdict on deadlock is missing or incomplete."
    if given is Answer.REVIEW and (tables := unread_tables(judged.findings)):
        yield f"No rule reads {', '.join(tables)}, whose rows can stop traffic."
    if given is Answer.REVIEW and _is_lossy(judged):
        yield "No link between switches is lossless: if the fabric carries lossless traffic, PFC is missing."
    if judged.other_fabric:
        yield f"The differences are from another fabric, {judged.other_fabric}: is the bundle the right one?"
    if not judged.is_complete:
        yield "The inventory cannot be rendered until its errors are corrected, so no file was judged."


def _first(findings: Sequence[Finding]) -> str:
    """What to correct first: the worst cause, with what it breaks and explains."""
    worst = causes(findings)[0]
    if worst.explains:
        return f"First: {worst.sentence(sum(one.count for one in findings))}."
    return f"First: {worst.finding.code}, {worst.finding.message}."


def _where(findings: Sequence[Finding]) -> str:
    """' on 20 switches and 1 group of hosts'; "" for findings about an inventory."""
    names = {name for one in findings for name in (one.devices or (one.device,)) if name}
    hosts = sum(name.startswith(f"{HOSTS}/") for name in names)
    switches = len(names) - hosts
    parts = [counted(switches, "switch", "switches")] if switches else []
    parts += [counted(hosts, "group of hosts", "groups of hosts")] if hosts else []
    return f" on {' and '.join(parts)}" if parts else ""


def _cell(name: str, section: str, level: str, value: str, detail: str) -> dict[str, str]:
    return {"name": name, "section": section, "level": level, "value": value, "detail": detail}


def _rules(judged: JudgedResults) -> dict[str, str]:
    rules = judged.counts.rules
    if not rules:
        return _cell("Rules", "findings", "warning", "Not run", "the inventory has errors")
    number = {level: sum(one.severity is level for one in judged.findings) for level in Severity}
    detail = f"{counted(rules, 'rule')} on {counted(judged.counts.devices, 'switch', 'switches')}"
    if judged.suppressed:
        detail += f"; {len(judged.suppressed)} suppressed"
    for level in (Severity.ERROR, Severity.WARNING):
        if number[level]:
            return _cell("Findings", "findings", level.value, counted(number[level], level.value), detail)
    return _cell("Findings", "findings", "ok", "All pass", detail)


def _cables(cables: dict[str, Any] | None) -> Iterator[dict[str, str]]:
    """The cables that LLDP shows; nothing if none were observed."""
    if cables is None:
        return
    if cables["count"]:
        yield _cell("Cables", "cables", "error", f"{cables['count']:,} to correct", cables["summary"])
    else:
        yield _cell("Cables", "topology", "ok", "As planned", "as far as LLDP shows them")


def _tenants(judged: JudgedResults) -> Iterator[dict[str, str]]:
    """Whether tenants are apart; nothing on a fabric without tenants."""
    if judged.isolation:
        said = [(one.plane, isolation_statement(one)) for one in judged.isolation]
        yield _cell_of("Tenants", "tenants", sorted(said, key=lambda one: _WORST.index(one[1].level)))


def _deadlock(judged: JudgedResults) -> dict[str, str]:
    if not judged.deadlock:
        return _cell("Deadlock", "deadlock", "warning", "Not run", "no routes were read")
    said = [(one.name, deadlock_statement(one)) for one in judged.deadlock]
    said += [(f"{one.name}, fixed SL", deadlock_statement(one.fixed_sl)) for one in judged.deadlock if one.fixed_sl]
    found = _cell_of("Deadlock", "deadlock", said)
    caveats = sum(one.severity is Severity.WARNING and one.code.startswith(_FAMILY) for one in judged.findings)
    if caveats and found["level"] in (Level.OK, Level.NONE):
        return {**found, "level": Level.WARNING, "detail": f"{found['detail']}; {counted(caveats, 'warning')}"}
    return found


def _failures(judged: JudgedResults) -> dict[str, str]:
    said = [(one.name, after) for one in judged.deadlock if (after := failures_statement(one))]
    if not said:
        return _cell("Failures", "deadlock", "none", "Not tried", "`checks.failures` of the inventory chooses them")
    return _cell_of("Failures", "deadlock", said)


def _traffic(judged: JudgedResults) -> dict[str, str]:
    if not judged.congestion:
        return _cell("Traffic", "traffic", "none", "Not run", "no plane with traffic that can be computed")
    ordered = sorted(judged.congestion, key=lambda one: -max(one.max_load, one.drawn_load or 0))
    return _cell_of("Traffic", "traffic", [(one.name, traffic_statement(one)) for one in ordered])


_WORST = (Level.ERROR, Level.WARNING, Level.OK, Level.NONE)


def _cell_of(name: str, section: str, said: Sequence[tuple[str, Statement]]) -> dict[str, str]:
    """The worst of the statements, each with the name of its plane, and the number of the others."""
    plane, worst = min(said, key=lambda one: _WORST.index(one[1].level))
    detail = worst.covers if worst.heading == worst.claimed else str(worst)
    where = f"plane {plane}: " if plane and len(said) > 1 else ""
    others = f"; and {len(said) - 1} more below" if len(said) > 1 else ""
    heading = f"{worst.heading[:1].upper()}{worst.heading[1:]}"
    return _cell(name, section, worst.level, heading, f"{where}{detail}{others}")


def _bill(judged: JudgedResults, bill: dict[str, Any] | None) -> dict[str, str]:
    if bill is None:
        return _cell("Bill", "bill", "none", counted(judged.counts.devices, "switch", "switches"), "loose files")
    detail = f"{bill['cables']:,} cables, {bill['gpus']:,} GPUs"
    return _cell("Bill", "bill", "none", counted(bill["switches"], "switch", "switches"), detail)


def _not_judged(judged: JudgedResults) -> Iterator[str]:
    yield from judged.not_judged
    yield from tables_unjudged(judged.findings)
    for one in judged.deadlock:
        name = f" of plane {one.name}" if one.name else ""
        if one.verdict is Verdict.UNKNOWN:
            yield f"deadlock{name}"
        if one.covers and one.covers.without_routes:
            yield f"{one.covers.without_routes:,} of {one.covers.lossless_links:,} lossless links{name}: no routes"
        if one.covers and one.covers.left_out:
            yield f"{one.covers.left_out:,} of {one.covers.sessions:,} BGP sessions{name}: they cannot come up"
        if one.failures.sampled is not None:
            yield f"{one.failures.sets - one.failures.judged:,} of {one.failures.sets:,} sets of failures{name}"
        if one.model == "design":
            yield f"routes{name}: from the wiring only, not tested with OpenSM"
    yield from dict.fromkeys(f"tenants: {one.shared}" for one in judged.isolation)
    for result in judged.congestion:
        if result.model is CongestionModel.SKIPPED:
            yield f"{result.pattern}{f' on plane {result.name}' if result.name else ''}: {result.reason}"
    yield "optics, fibre faults and live counters: files do not show them"
