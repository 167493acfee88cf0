"""The causes of an acceptance run, from its evidence.

A cause is stated only if the measurements exclude the others: two ends of one slow pair, or collectives without a
measurement of the pairs below them, are not enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabricgen.acceptance.causes.cause import OF_PAIRS, Cause, CauseKind, Evidence, Observations, worst
from fabricgen.acceptance.causes.collectives import collectives
from fabricgen.acceptance.causes.links import MOST_LINES, damaged_cable, evenness, single, together
from fabricgen.acceptance.causes.parts import all_slow, blamed, good_peers
from fabricgen.acceptance.culprits import FabricPart, PartKind
from fabricgen.acceptance.link_errors import lines_of
from fabricgen.acceptance.measured import MeasuredTest, Verdict
from fabricgen.acceptance.slow import Slow
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Severity
from fabricgen.units import counted, listed

_OF_FINDINGS = {
    "FG260": CauseKind.CABLING,
    "FG261": CauseKind.CABLING,
    "FG966": CauseKind.LOST_PACKETS,
    "FG965": CauseKind.TRAFFIC_CLASS,
    "FG968": CauseKind.PAUSE_STORM,
}
# Ranks that did not run, wrong elements, pairs above the wire, an incast without pauses and marks, a watchdog that does
# not act.
_OF_THE_RUN = ("FG967", "FG968", "FG969", "FG971", "FG973")


def causes_of(found: Sequence[MeasuredTest], slow: Slow, bundle: Bundle, seen: Observations) -> tuple[Cause, ...]:
    """The causes, at least one. A cause that explains others comes before them. If nothing is slow, one cause says so,
    or names what counters show, or says that the run cannot tell."""
    evidence = Evidence(found, slow, bundle, seen)
    return tuple(_all(evidence)) or (_nothing_slow(evidence),)


def _all(evidence: Evidence) -> Iterator[Cause]:
    of_findings = list(_from_findings(evidence))
    writers = [cause.part for cause in of_findings if cause.kind is CauseKind.TRAFFIC_CLASS]
    if len(writers) > 1:  # a port counts what all of its writers sent
        of_findings = [cause for cause in of_findings if cause.kind is not CauseKind.TRAFFIC_CLASS]
        yield _several_writers(writers)
    yield from of_findings
    explained = {cause.part for cause in of_findings}
    of_parts = [
        blamed(evidence, one) for one in evidence.slow.blamed if explained.isdisjoint(_places(evidence, one.part))
    ]
    if len(of_parts) > 1 and not good_peers(evidence):
        of_parts = [all_slow(evidence)]  # no part differs from the others
    yield from of_parts
    yield from together(evidence)
    yield from collectives(evidence)
    if not (of_findings or writers):
        yield from single(evidence)


def _from_findings(evidence: Evidence) -> Iterator[Cause]:
    """Cables in wrong ports, and what counters of switches show."""
    for finding in evidence.seen.findings:
        kind = _OF_FINDINGS.get(finding.code)
        if kind is None or finding.severity is not Severity.ERROR or _failed_watchdog(finding):
            continue
        port = finding.path.partition("|")[2].partition("|")[0] if "|" in finding.path else finding.path
        part = f"{finding.device} {port}".strip()
        yield Cause(kind, part, finding.message, (), finding.hint)


def _places(evidence: Evidence, part: FabricPart) -> set[str]:
    """The names under which findings about counters have a part."""
    at = evidence.switch_port((part.name, part.port))
    return {f"{part.name} {part.port}".rstrip(), part.name if part.kind is PartKind.HOST else at} - {""}


def _nothing_slow(evidence: Evidence) -> Cause:
    """Nothing was slow: that is good only as far as it was measured."""
    seen = evidence.seen
    measured = [one for one in evidence.found if one.value is not None]
    missing = sum(one.verdict is Verdict.MISSING for one in evidence.found)
    wrong = [one for one in seen.findings if one.severity is Severity.ERROR and one.code in _OF_THE_RUN]
    if measured and wrong:
        text = f"nothing is slow, but the run is not good: {wrong[0].message}"
        return Cause(CauseKind.UNKNOWN, wrong[0].device, text, (), wrong[0].hint)
    if seen.damaged:
        cause = damaged_cable(seen.damaged[0])
        more = f", and {counted(len(seen.damaged) - 1, 'other link')}" if len(seen.damaged) > 1 else ""
        slow = "nothing that was measured is slow" if measured else "no pair and no collective was measured"
        evidenced = tuple(lines_of(seen.damaged, 2 * MOST_LINES))
        return replace(cause, sentence=f"{slow}, but {cause.sentence}{more}", evidence=evidenced)
    left_out = f"; {counted(seen.left_out, 'file')} not judged" if seen.left_out else ""
    if not measured:
        text = f"cannot tell: no result says what it measured on this fabric{left_out}"
        shown: tuple[str, ...] = ()
        if seen.switches:
            shown = tuple(line for one in seen.fairness for line in evenness(evidence, one.device))
            switches = counted(len(evidence.bundle.devices), "switch", "switches")
            text = (
                "cannot tell whether anything is slow: no pair and no collective was measured; counters of "
                f"{seen.switches} of {switches} were read (lost packets: of {seen.with_drops}, pause storms: of "
                f"{seen.with_storms}, damaged frames: of {seen.with_errors}), without a fault{left_out}"
            )
        return Cause(
            CauseKind.UNKNOWN, "", text, shown, "run the tests of `fabricgen handoff acceptance`"
        )  # fmt: skip
    if missing:
        text = (
            f"cannot tell: {missing} of {counted(len(evidence.found), 'test')} have no result; the others are not slow"
            f"{left_out}"
        )
        return Cause(CauseKind.UNKNOWN, "", text, (), "run the missing tests")
    pairs = [one for one in measured if one.test.stage in OF_PAIRS]
    collectives = [one for one in measured if one.test.hosts]
    parts = [counted(len(pairs), "pair")] if pairs else []
    parts += [counted(len(collectives), "collective")] if collectives else []
    text = f"nothing is slow: {' and '.join(parts) or counted(len(measured), 'test')} reach what the files promise"
    text += left_out
    return Cause(CauseKind.NONE, "", text, tuple(f"lowest {worst(group)}" for group in (pairs, collectives) if group))


def _several_writers(writers: Sequence[str]) -> Cause:
    names = listed(sorted(writers))
    return Cause(
        CauseKind.UNKNOWN,
        "",
        f"cannot tell which of {names} sends in a lossy class: the ports that count it received from all of them",
        (f"{counted(len(writers), 'writer')} to these ports only: {names}",),
        "clear the counters, run one pair of each writer, and compare `show queue counters`",
    )


def _failed_watchdog(finding: Finding) -> bool:
    """The watchdog's own test failed: nothing is slow by it."""
    return finding.code == "FG968" and finding.message.startswith("no storm")
