"""Deadlock verdicts to findings, each at the line of the config_db file that causes it."""

from collections.abc import Iterator, Sequence

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Place, Related, Severity, in_order
from fabricgen.results import Claim, Cycle, DeadlockResult
from fabricgen.routing.spoken import AbsentSession
from fabricgen.simulate.deadlock.analysis import Evidence, PlaneDeadlock
from fabricgen.simulate.deadlock.causes import cause_findings
from fabricgen.simulate.deadlock.failure_findings import KINDS, failure_findings, maintenance_findings, standing_for
from fabricgen.simulate.deadlock.remedy import asn_rows, remedy
from fabricgen.simulate.plane.coverage import OF_FRR, coverage_findings
from fabricgen.sonic.image import is_split
from fabricgen.sonic.tables import ConfigDb
from fabricgen.units import listed

NEIGHBORS = "BGP_NEIGHBOR"


def deadlock_findings(bundle: Bundle, results: Sequence[DeadlockResult]) -> list[Finding]:
    """The findings of `analyse_deadlock`'s results.

    FG601: a cyclic buffer dependency. FG605: one after failures. FG602: a session that cannot come up and is left out.
    FG603: next hops that depend on the order of events. FG604: no link has a lossless priority, although the plane is
    planned as lossless. FG606 to FG609: failures. FG610: lossless links without routes. FG620 to FG628: other causes.
    """
    found: list[Finding] = []
    for result in results:
        if isinstance(result, PlaneDeadlock):
            found += _cycle_findings(bundle, result)
            found += coverage_findings(bundle, result.evidence.fabric, result.covers) if result.covers else ()
            found += _session_findings(bundle, result.evidence)
            found += _ambiguity_findings(bundle, result)
            found += _lossy_findings(bundle, result)
            found += failure_findings(bundle, result)
            found += cause_findings(bundle, result)
    if any(result.failures.depth for result in results):
        found += maintenance_findings(bundle)
    return in_order(found)


def _cycle_findings(bundle: Bundle, result: PlaneDeadlock) -> Iterator[Finding]:
    evidence = result.evidence
    by_links: dict[tuple[int, ...], list[Cycle]] = {}
    for cycle, links in zip(result.cycles, evidence.cycle_links, strict=True):
        by_links.setdefault(links, []).append(cycle)
    for links, cycles in by_links.items():
        cycle = cycles[0]
        numbers = ", ".join(str(one.priority) for one in cycles)
        priorities = f"{'priority' if len(cycles) == 1 else 'priorities'} {numbers}"
        around = " -> ".join(f"{switch} {port}" for switch, port in (*cycle.hops, cycle.hops[0]))
        row = _row(evidence, links[0], cycle.witnesses[-1])
        certain = Confidence.PROVED if result.claim is Claim.PROVED else Confidence.POSSIBLE
        after = f"after {' and '.join(cycle.failed_links)} fail: " if cycle.failed_links else ""
        yield Finding(
            code="FG605" if after else "FG601",
            severity=Severity.ERROR,
            message=f"{after}cyclic buffer dependency on {priorities}: {around}{_how_often(result, cycle)}",
            device=cycle.hops[0][0],
            place=Place(*row),
            location=bundle.devices[cycle.hops[0][0]].locate(*row),
            related=(
                *_failed(bundle, evidence, cycle),
                *_hops(bundle, evidence, links, cycle),
                *asn_rows(bundle, evidence.fabric, evidence.traffic.sources, links),
            ),
            hint=_hint(bundle, evidence, links, cycle),
            confidence=certain,
        )


def _hint(bundle: Bundle, evidence: Evidence, links: tuple[int, ...], cycle: Cycle) -> str:
    if any(map(_is_list, cycle.witnesses)):
        return "correct SRV6_MY_SIDS and STATIC_ROUTE of these switches, so that lists of uSIDs go up and then down"
    return remedy(bundle, evidence.fabric, evidence.traffic.sources, links)


def _is_list(witness: str) -> bool:
    """Whether packets are sent to a list of uSIDs, not to a prefix."""
    return "/" not in witness


def _row(evidence: Evidence, link: int, witness: str) -> tuple[str, ...]:
    """The row that sends packets to a destination over a link."""
    return ("STATIC_ROUTE",) if _is_list(witness) else (NEIGHBORS, evidence.fabric.row(link))


def _how_often(result: PlaneDeadlock, cycle: Cycle) -> str:
    """How many of all single, double or triple failures cause a cycle."""
    judged_sets = [
        one for one in result.evidence.failures if one.first_cyclic and one.first_cyclic.names == cycle.failed_links
    ]
    if not judged_sets or judged_sets[0].name:
        return ""
    summary = judged_sets[0].summary
    judged = summary.sets if summary.sampled is None else summary.sampled
    kind = KINDS[summary.depth] if judged > 1 else KINDS[summary.depth].removesuffix("s")
    often = f"{summary.cyclic_sets} of {judged} {kind} {'causes' if summary.cyclic_sets == 1 else 'cause'} a cycle"
    return f" ({often}{standing_for(summary, cycle.failed_links)})"


def _failed(bundle: Bundle, evidence: Evidence, cycle: Cycle) -> Iterator[Related]:
    """The rows of the sessions that fail."""
    fabric = evidence.fabric
    sets = [one.first_cyclic for one in evidence.failures if one.first_cyclic]
    for failure in next((one.failures for one in sets if one.names == cycle.failed_links), ()):
        link = failure.links[0]
        switch = fabric.names[fabric.network.source[link]]
        yield Related(f"{failure.name} fails", bundle.devices[switch].locate(NEIGHBORS, fabric.row(link)))


def _hops(bundle: Bundle, evidence: Evidence, links: tuple[int, ...], cycle: Cycle) -> Iterator[Related]:
    """For each hop, the row that causes its next hop, for the destination that arrives over the previous hop."""
    fabric = evidence.fabric
    arriving = cycle.witnesses[-1:] + cycle.witnesses[:-1]
    for link, (switch, port), prefix in zip(links, cycle.hops, arriving, strict=True):
        far = fabric.names[fabric.network.target[link]]
        text = f"{switch} sends {prefix} through {port} to {far}"
        yield Related(text, bundle.devices[switch].locate(*_row(evidence, link, prefix)))
    for prefix in dict.fromkeys(cycle.witnesses):
        for (switch, announced), row in fabric.announced.items():
            if announced == prefix:
                yield Related(f"{switch} announces {prefix}", bundle.devices[switch].locate(*row))


def _session_findings(bundle: Bundle, evidence: Evidence) -> Iterator[Finding]:
    """One finding for each switch and reason. A row that fails only because of its far end is reported there."""
    groups: dict[tuple[str, str, bool], list[AbsentSession]] = {}
    for absent in evidence.fabric.spoken.absent:
        if not absent.follows and not absent.is_cordoned:
            reason = absent.reason if absent.inside else "the far end is not a judged switch"
            groups.setdefault((absent.switch, reason, absent.inside), []).append(absent)
    for (switch, reason, inside), rows in groups.items():
        yield Finding(
            code="FG602",
            severity=Severity.WARNING if inside else Severity.NOTE,
            message=f"a BGP session is left out of the deadlock verdict: {reason}",
            device=switch,
            place=Place(NEIGHBORS, rows[0].key),
            location=bundle.devices[switch].locate(NEIGHBORS, rows[0].key),
            hint=_hint_of(bundle.devices[rows[0].cause[0]].config if rows[0].cause[0] else {}, inside=inside),
            count=len(rows),
        )


def _hint_of(config: ConfigDb, *, inside: bool) -> str:
    if not inside:
        return "add the files of all switches of the fabric, so that the routes over this session are judged too"
    if is_split(config):
        return OF_FRR
    return "correct the session or remove the row: the verdict covers only sessions that come up"


def _ambiguity_findings(bundle: Bundle, result: PlaneDeadlock) -> Iterator[Finding]:
    evidence = result.evidence
    switches = np.flatnonzero(np.any(evidence.routes.ambiguous, axis=1))
    if not len(switches):
        return
    names = [evidence.fabric.names[switch] for switch in switches]
    device = bundle.devices[names[0]]
    yield Finding(
        code="FG603",
        severity=Severity.WARNING,
        message=f"next hops depend on the order of events at {listed(names)}: the verdict covers all possibilities",
        device=names[0],
        place=Place("DEVICE_METADATA", "localhost", "bgp_asn"),
        location=device.locate("DEVICE_METADATA", "localhost", "bgp_asn"),
        hint="give all switches of a tier the same ASN, or each a different one, and use multipath-relax",
        confidence=Confidence.POSSIBLE,
        count=evidence.routes.ambiguous_sets,
    )


def _lossy_findings(bundle: Bundle, result: PlaneDeadlock) -> Iterator[Finding]:
    names = result.evidence.fabric.names
    planned = {plane.name: plane.lossless for plane in (bundle.wiring.planes if bundle.wiring else ())}.get(result.name)
    is_lossy = planned is not None and not planned
    if is_lossy or result.priorities or not result.evidence.fabric.network.links:
        return
    device = bundle.devices[names[0]]
    yield Finding(
        code="FG604",
        severity=Severity.WARNING if planned else Severity.NOTE,
        message="no link between switches has PFC at both ends on any priority: no deadlock is possible"
        + (f", but lossless is {','.join(map(str, planned))} in fabric.json" if planned else ""),
        device=device.name,
        place=Place("PORT_QOS_MAP"),
        location=device.locate("PORT_QOS_MAP"),
        hint="if this fabric carries lossless traffic, set pfc_enable in PORT_QOS_MAP at both ends of every link",
    )
