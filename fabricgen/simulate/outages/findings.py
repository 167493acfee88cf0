"""Findings of outages: FG712 where the inventory asks for more bandwidth, FG713 their cost, FG708 unjudged ones."""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Severity
from fabricgen.results import Outage, OutageResult
from fabricgen.simulate.deadlock.failures.named_links import failed_links
from fabricgen.simulate.plane.findings import finding_at

_SLOWER = 0.99  # of the bandwidth; less is reported


def outage_findings(bundle: Bundle, results: Sequence[OutageResult]) -> Iterator[Finding]:
    """The findings of results, single failures compared with `checks.min_busbw_after_failure` of the inventory."""
    least = bundle.wiring.checks.min_busbw_after_failure if bundle.wiring else None
    for one in results:
        plane = f"plane {one.name}: " if one.name else ""
        if one.reason:
            severity = Severity.NOTE if least is None else Severity.WARNING
            message = f"{plane}failures not judged: {one.reason}"
            yield finding_at(bundle, "FG708", severity, message, "", certain=True)
        elif least is not None and one.depth == 1 and (worst := _below(one, least)):
            message = f"{plane}{_left(one, worst)}; checks.min_busbw_after_failure is {least:.0%}"
            hint = _weights_hint(one) or "add uplinks where the failure leaves too few, or lower the limit"
            yield _at(bundle, one, worst, "FG712", Severity.ERROR, message, hint)
        elif (worst := one.worst) and worst.share < _SLOWER:
            severity = Severity.NOTE if worst.share else Severity.WARNING
            yield _at(bundle, one, worst, "FG713", severity, plane + _left(one, worst), _weights_hint(one))


def _weights_hint(one: OutageResult) -> str:
    if one.weighted_share is None:
        return ""
    return f"weighted ECMP leaves {one.weighted_share:.1%}: set `load_balancing: {{wcmp: true}}`"


def _below(one: OutageResult, least: float) -> Outage | None:
    return one.worst if one.worst and one.worst.share < least else None


def _left(one: OutageResult, worst: Outage) -> str:
    names = " and ".join(worst.names)
    found = f"after {names}, {one.pattern} has {worst.share:.1%} of its bandwidth"
    if not worst.share:
        found = f"after {names}, messages of {one.pattern} have no path"
    if worst.sets > 1:
        found += f"; this stands for {worst.sets} of {one.sets} sets"
    return found + (f" (the worst of a sample of {one.judged})" if one.how == "sample" else "")


def _at(
    bundle: Bundle, one: OutageResult, worst: Outage, code: str, severity: Severity, message: str, hint: str
) -> Finding:
    """A finding at the first port that fails, or at the switch."""
    ends = failed_links(bundle, worst.names[0])
    device, port = ends[0][0] if ends else (worst.names[0].removeprefix("switch "), "")
    return finding_at(bundle, code, severity, message, device, hint, port, certain=one.how != "sample")
