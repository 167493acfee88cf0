"""Findings on the failures of an InfiniBand subnet."""

from collections.abc import Iterator

from fabricgen.findings import Confidence, Finding, Severity
from fabricgen.results import Cycle
from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock
from fabricgen.simulate.deadlock.infiniband.failures import SubnetFailures, WantedFailures
from fabricgen.simulate.deadlock.infiniband.wording import of_subnet, place_of, why_not_run
from fabricgen.units import counted


def failure_findings(result: SubnetDeadlock, wanted: WantedFailures) -> Iterator[Finding]:
    """FG606: failures disconnect hosts. FG607: a sample was judged. FG846: failures were not judged. FG847: a credit
    loop after a failure. FG848: no routing engine succeeds after a failure."""
    failures = result.evidence.failures
    if failures is None:
        if wanted.depth and not result.cycles:
            yield _not_judged(result)
        return
    yield from _loops(result, failures)
    yield from _unrouted(result, failures)
    yield from _disconnected(result, failures)
    yield from _sampled(result, failures)


def _finding(result: SubnetDeadlock, code: str, severity: Severity, message: str, hint: str, count: int = 1) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=of_subnet(result, message),
        path=f"{result.name or 'infiniband'}.failures",
        location=place_of(result),
        hint=hint,
        confidence=Confidence.PROVED if result.claim == "proved" else Confidence.POSSIBLE,
        count=count,
    )


def _not_judged(result: SubnetDeadlock) -> Finding:
    if result.evidence.files is None:
        why, hint = "the dumps are of one state", "judge the failures on the bundle"
    elif result.evidence.dumps is None and result.evidence.wiring is None:
        why, hint = "no routing engine succeeded without a failure", "choose an engine that routes the subnet"
    else:
        why, hint = why_not_run(result), "install the packages: only trees with updn or ftree are judged without OpenSM"
    return _finding(result, "FG846", Severity.WARNING, f"failures were not judged: {why}", hint)


def _loops(result: SubnetDeadlock, failures: SubnetFailures) -> Iterator[Finding]:
    """The first loop with path records, else the first one with the fixed SL."""
    with_records = [(one.names, one.loop) for one in failures.judged if one.loop]
    fixed = [(one.names, one.fixed_loop) for one in failures.judged if one.fixed_loop]
    groups = result.evidence.jobs.groups
    if with_records:
        yield _loop(result, with_records, "with the SLs of path records", Severity.ERROR)
    elif fixed and not (result.fixed_sl and any(not one.failed_links for one in result.fixed_sl.cycles)):
        severity = Severity.ERROR if groups else Severity.NOTE
        yield _loop(result, fixed, "with the fixed SL of NCCL", severity)


def _loop(result: SubnetDeadlock, found: list[tuple[tuple[str, ...], Cycle]], how: str, severity: Severity) -> Finding:
    names, cycle = found[0]
    around = " -> ".join(f"{switch} port {port}" for switch, port in (*cycle.hops, cycle.hops[0]))
    message = f"credit loop {how} after the failure of {' and '.join(names)}: {around}"
    hint = "use an engine that stays free of credit loops, such as nue with one lane, or updn on a tree"
    return _finding(result, "FG847", severity, message, hint, len(found))


def _unrouted(result: SubnetDeadlock, failures: SubnetFailures) -> Iterator[Finding]:
    found = [one for one in failures.judged if one.engine is None]
    if found:
        message = f"no routing engine succeeds after the failure of {' and '.join(found[0].names)}: the old tables stay"
        hint = "add an engine to the list that routes what is left, for example nue on a torus or updn on a tree"
        yield _finding(result, "FG848", Severity.WARNING, message, hint, len(found))


def _disconnected(result: SubnetDeadlock, failures: SubnetFailures) -> Iterator[Finding]:
    found = [one for one in failures.judged if one.disconnected]
    if found:
        message = f"{len(found)} of {counted(len(failures.judged), 'failure set')} disconnect hosts from each other, "
        message += f"the first: {' and '.join(found[0].names)}"
        hint = "give each pair of switches with hosts another path"
        severity = Severity.WARNING if any(len(one.names) == 1 for one in found) else Severity.NOTE
        yield _finding(result, "FG606", severity, message, hint, len(found))


def _sampled(result: SubnetDeadlock, failures: SubnetFailures) -> Iterator[Finding]:
    if not failures.is_sample and not failures.left_out:
        return
    judged = f"{len(failures.judged)} of {counted(failures.sets, 'failure set')} were judged"
    if failures.left_out:
        judged += f", without {failures.left_out} that take down the switch of the subnet manager or gave no tables"
    most = max((one.changed for one in failures.judged if one.changed is not None), default=None)
    if most is not None:
        judged += f"; at most {most} entries of forwarding tables change"
    hint = "use --seed to draw another sample"
    yield _finding(result, "FG607", Severity.NOTE, judged, hint)
