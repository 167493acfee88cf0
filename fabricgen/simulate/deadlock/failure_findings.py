"""Findings about failures, other than cycles."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Location, Place, Severity
from fabricgen.results import FailureSummary
from fabricgen.simulate.deadlock.analysis import PlaneDeadlock
from fabricgen.simulate.deadlock.failures.verdict import DepthVerdict

KINDS = {1: "single failures", 2: "double failures", 3: "triple failures"}


def failure_findings(bundle: Bundle, result: PlaneDeadlock) -> Iterator[Finding]:
    """FG606: failures disconnect hosts. FG607: a sample of the sets was judged. FG608: next hops after failures depend
    on the order of events."""
    for one in result.evidence.failures:
        yield from _disconnected(bundle, result, one)
        if one.summary.sampled is not None:
            yield _sampled(bundle, result, one)
        if one.ambiguous_sets and not result.evidence.routes.ambiguous_sets:
            yield _ambiguous(bundle, result, one)


def _disconnected(bundle: Bundle, result: PlaneDeadlock, one: DepthVerdict) -> Iterator[Finding]:
    if one.first_disconnected is None:
        return
    fabric = result.evidence.fabric
    link = next(link for failure in one.first_disconnected.failures for link in failure.links)
    switch = fabric.names[fabric.network.source[link]]
    summary = one.summary
    names = " and ".join(one.first_disconnected.names) + standing_for(summary, one.first_disconnected.names)
    judged = summary.sampled or summary.sets
    often = f"{one.name or KINDS[summary.depth]}: {summary.unreachable_sets} of {judged} sets disconnect"
    yield Finding(
        code="FG606",
        # One failure, or planned work, must not disconnect hosts.
        severity=Severity.WARNING if one.is_planned or summary.depth == 1 else Severity.NOTE,
        message=f"{often} hosts from each other, the first: {names}",
        device=switch,
        place=Place("BGP_NEIGHBOR", fabric.row(link)),
        location=bundle.devices[switch].locate("BGP_NEIGHBOR", fabric.row(link)),
        hint="give each pair of switches with hosts another path: one more link, or a spine that both are connected to",
        confidence=Confidence.PROVED,
        count=summary.unreachable_sets,
    )


def standing_for(summary: FailureSummary, failed_links: tuple[str, ...]) -> str:
    """The number of sets that this one represents, if one set of each orbit was judged; else ""."""
    count = summary.stands_for(failed_links)
    return "" if count is None else f"; this {'one' if summary.depth == 1 else 'pair'} stands for {count}"


def maintenance_findings(bundle: Bundle) -> Iterator[Finding]:
    """FG609: a maintenance set has a name that no switch, link or cable has."""
    wiring = bundle.wiring
    if wiring is None:
        return
    switches = [one.name for one in wiring.devices]
    links = [*(one.id for one in wiring.links), *(f"cable {one.id}" for one in wiring.cables)]
    for one in wiring.checks.maintenance:
        for names, patterns in ((switches, one.switches), (links, one.links)):
            for pattern in patterns:
                if not any(fnmatchcase(name, pattern) for name in names) and bundle.root:
                    yield Finding(
                        code="FG609",
                        severity=Severity.WARNING,
                        message=f"maintenance {one.name}: no switch, link or cable matches {pattern!r}",
                        location=Location(str(bundle.root / "fabric.json")),
                        hint="use the names in fabric.json: switches, links, and `cable NAME`",
                    )


def _sampled(bundle: Bundle, result: PlaneDeadlock, one: DepthVerdict) -> Finding:
    summary = one.summary
    cyclic = (
        f"at most {summary.cyclic_bound:.2%} can deadlock" if summary.cyclic_bound else "none can deadlock (proved)"
    )
    return _of_plane(
        bundle, result, "FG607",
        f"{summary.sets} {KINDS[summary.depth]} are too many to judge each: {summary.sampled} were drawn at random; "
        f"with 95 % confidence, {cyclic} and at most {summary.unreachable_bound:.2%} disconnect hosts",
        "use --seed to draw a different sample", Confidence.OBSERVED,
    )  # fmt: skip


def _ambiguous(bundle: Bundle, result: PlaneDeadlock, one: DepthVerdict) -> Finding:
    return _of_plane(
        bundle, result, "FG608",
        f"next hops depend on the order of events after {one.ambiguous_sets} {KINDS.get(one.summary.depth, 'sets')}: "
        "the verdict covers all possibilities",
        "give all switches of a tier the same ASN, or each a different one", Confidence.POSSIBLE,
    )  # fmt: skip


def _of_plane(
    bundle: Bundle, result: PlaneDeadlock, code: str, message: str, hint: str, confidence: Confidence
) -> Finding:
    device = bundle.devices[result.evidence.fabric.names[0]]
    return Finding(
        code=code,
        severity=Severity.NOTE,
        message=message,
        device=device.name,
        place=Place("DEVICE_METADATA", "localhost", "bgp_asn"),
        location=device.locate("DEVICE_METADATA", "localhost", "bgp_asn"),
        hint=hint,
        confidence=confidence,
    )
