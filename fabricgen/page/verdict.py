"""The head of the report: whether a change is safe to merge, why, on which evidence, and what was not judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fabricgen.bundle.hosts import FOLDER as HOSTS
from fabricgen.findings import Finding, Severity
from fabricgen.report.causes import causes
from fabricgen.report.summary import Counts, tables_unjudged, unread_tables
from fabricgen.results import CongestionModel, CongestionResult, DeadlockResult, Verdict


def counted(number: int, noun: str, plural: str = "") -> str:
    """'1 switch', '6,016 switches'."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


_FAMILY = "FG6"  # of the codes about deadlock


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
    is_doubtful = is_doubtful or bool(unread_tables(judged.findings))
    return Answer.REVIEW if is_doubtful else Answer.SAFE


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
        yield f"No errors and no warnings. No cyclic buffer dependency is possible{failures}."
    elif judged.is_complete and given is Answer.UNJUDGED:
        yield "No errors and no warnings, but the verdict on deadlock is missing or incomplete."
    if given is Answer.REVIEW and (tables := unread_tables(judged.findings)):
        yield f"No rule reads {', '.join(tables)}, whose rows can stop traffic."
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


def _deadlock(judged: JudgedResults) -> dict[str, str]:
    planes = judged.deadlock
    if not planes:
        return _cell("Deadlock", "deadlock", "warning", "Not run", "no routes were read")
    worst, dependencies = planes[0], sum(one.dependencies for one in planes)
    detail = f"{worst.claim} over {counted(dependencies, 'dependency', 'dependencies')}"
    digest = next(iter(judged.digests.values()), "")
    detail += f"; certificate {digest[:12]}" if digest else ""
    if any(one.verdict is Verdict.CYCLIC for one in planes):
        return _cell("Deadlock", "deadlock", "error", counted(sum(len(one.cycles) for one in planes), "cycle"), detail)
    if any(one.verdict is Verdict.UNKNOWN for one in planes):
        return _cell("Deadlock", "deadlock", "warning", "Not judged", "routes do not cover all lossless links")
    if not any(one.channels for one in planes):
        return _cell("Deadlock", "deadlock", "warning", "Not judged", "no link between switches is lossless")
    if any(one.fixed_sl and one.fixed_sl.verdict is not Verdict.FREE for one in planes):
        return _cell("Deadlock", "deadlock", "error", "Cycle on a fixed SL", detail)
    caveats = sum(one.severity is Severity.WARNING and one.code.startswith(_FAMILY) for one in judged.findings)
    if caveats:
        return _cell(
            "Deadlock", "deadlock", "warning", "None, with caveats", f"{detail}; {counted(caveats, 'warning')}"
        )
    return _cell("Deadlock", "deadlock", "ok", "None possible", detail)


def _failures(judged: JudgedResults) -> dict[str, str]:
    tried = [one.failures for one in judged.deadlock if one.failures.depth]
    if not tried:
        return _cell("Failures", "deadlock", "none", "Not tried", "`checks.failures` of the inventory chooses them")
    if any(one.verdict is Verdict.UNKNOWN for one in judged.deadlock):
        return _cell("Failures", "deadlock", "warning", "Not judged", "the base state has no verdict")
    sets, cyclic, cut = (
        sum(getattr(one, name) for one in tried) for name in ("sets", "cyclic_sets", "unreachable_sets")
    )
    sampled = [one.sampled for one in tried if one.sampled is not None]
    depth = max(one.depth for one in tried)
    detail = f"{counted(sets, 'set')} of {'one failure' if depth == 1 else f'{depth} failures'}"
    detail += f", {sum(sampled):,} of them judged" if sampled else ""
    if cyclic:
        return _cell("Failures", "deadlock", "error", f"{cyclic:,} cyclic", detail)
    if cut:
        return _cell("Failures", "deadlock", "warning", f"{cut:,} disconnect hosts", detail)
    return _cell("Failures", "deadlock", "ok", "Sample survives" if sampled else "All survive", detail)


def _traffic(judged: JudgedResults) -> dict[str, str]:
    ran = [one for one in judged.congestion if one.model is not CongestionModel.SKIPPED and one.flows]
    if not ran:
        return _cell("Traffic", "traffic", "none", "Not run", "no plane with traffic that can be computed")
    worst = max(ran, key=lambda one: (one.unfinished, max((flow.hol_factor or 0 for flow in one.flows), default=0)))
    if worst.unfinished:
        return _cell("Traffic", "traffic", "warning", f"{worst.unfinished:,} not finished", f"flows of {worst.pattern}")
    ratio = max((flow.hol_factor or 0 for flow in worst.flows), default=0)
    patterns = len({one.pattern for one in ran})
    load = max(one.max_load for one in ran)
    if ratio < 1.005 and load > 1.005:
        detail = f"of {counted(patterns, 'pattern')}; flows share the fullest link equally"
        return _cell("Traffic", "traffic", "warning", f"{load:.1f} × capacity", detail)
    if ratio < 1.005:
        return _cell("Traffic", "traffic", "ok", "All at fair share", f"of {counted(patterns, 'pattern')}")
    victims = sum(flow.count for flow in worst.victims)
    level, detail = "warning" if victims else "ok", f"slowest of {worst.pattern}; {counted(victims, 'victim')}"
    return _cell("Traffic", "traffic", level, f"{ratio:.2f} × fair time", detail)


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
        if one.verdict is not Verdict.UNKNOWN and not one.channels:
            yield f"deadlock{name}: no link between switches is lossless"
        if one.covers and one.covers.without_routes:
            yield f"{one.covers.without_routes:,} of {one.covers.lossless_links:,} lossless links{name}: no routes"
        if one.covers and one.covers.left_out:
            yield f"{one.covers.left_out:,} of {one.covers.sessions:,} BGP sessions{name}: they cannot come up"
        if one.failures.sampled is not None:
            yield f"{one.failures.sets - one.failures.sampled:,} of {one.failures.sets:,} sets of failures{name}"
        if one.model == "design":
            yield f"routes{name}: from the wiring only, not tested with OpenSM"
    for result in judged.congestion:
        if result.model is CongestionModel.SKIPPED:
            yield f"{result.pattern}{f' on plane {result.name}' if result.name else ''}: {result.reason}"
    yield "optics, fibre faults and live counters: files do not show them"
