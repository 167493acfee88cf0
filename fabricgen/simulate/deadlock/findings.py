"""Deadlock verdicts to findings, each at the line of the config_db file that makes it."""

from collections.abc import Iterator, Sequence

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Place, Related, Severity, in_order
from fabricgen.results import Claim, Cycle, DeadlockResult
from fabricgen.routing.sessions import AbsentSession
from fabricgen.simulate.deadlock.analysis import Evidence, PlaneDeadlock
from fabricgen.simulate.deadlock.causes import cause_findings
from fabricgen.simulate.deadlock.failure_findings import failure_findings, maintenance_findings, standing_for
from fabricgen.simulate.deadlock.remedy import asn_rows, remedy

NEIGHBORS = "BGP_NEIGHBOR"


def deadlock_findings(bundle: Bundle, results: Sequence[DeadlockResult]) -> list[Finding]:
    """The findings of `analyse_deadlock`'s results.

    FG601 cyclic buffer dependency, FG605 one after failures; FG602 a session that cannot come up as configured and is
    left out; FG603 next hops that depend on history; FG604 no link carries any priority without loss, and no plan says
    so; FG606 to FG609 are about failures, too, FG620 to FG628 about other causes.
    """
    found: list[Finding] = []
    for result in results:
        if isinstance(result, PlaneDeadlock):
            found += _cycle_findings(bundle, result)
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
    alike: dict[tuple[int, ...], list[Cycle]] = {}
    for cycle, links in zip(result.cycles, evidence.cycle_links, strict=True):
        alike.setdefault(links, []).append(cycle)
    for links, cycles in alike.items():
        cycle = cycles[0]
        numbers = ", ".join(str(one.priority) for one in cycles)
        priorities = f"{'priority' if len(cycles) == 1 else 'priorities'} {numbers}"
        around = " -> ".join(f"{switch} {port}" for switch, port in (*cycle.hops, cycle.hops[0]))
        key = evidence.fabric.row(links[0])
        certain = Confidence.PROVED if result.claim is Claim.PROVED else Confidence.POSSIBLE
        after = f"after {' and '.join(cycle.failed_links)} fail: " if cycle.failed_links else ""
        yield Finding(
            code="FG605" if after else "FG601",
            severity=Severity.ERROR,
            message=f"{after}cyclic buffer dependency on {priorities}: {around}{_how_often(result, cycle)}",
            device=cycle.hops[0][0],
            place=Place(NEIGHBORS, key),
            location=bundle.devices[cycle.hops[0][0]].locate(NEIGHBORS, key),
            related=(
                *_failed(bundle, evidence, cycle),
                *_hops(bundle, evidence, links, cycle),
                *asn_rows(bundle, evidence.fabric, evidence.traffic.sources, links),
            ),
            hint=remedy(bundle, evidence.fabric, evidence.traffic.sources, links),
            confidence=certain,
        )


def _how_often(result: PlaneDeadlock, cycle: Cycle) -> str:
    """How many sets of as many failures close a circle."""
    alike = [
        one for one in result.evidence.failures if one.first_cyclic and one.first_cyclic.names == cycle.failed_links
    ]
    if not alike or alike[0].name:
        return ""
    summary = alike[0].summary
    looked_at = summary.sets if summary.sampled is None else summary.sampled
    often = f"{summary.cyclic_sets} of {looked_at} sets of {summary.depth} close one"
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
    """Per hop the row that makes its next hop, for the destination that arrives over the hop before."""
    fabric = evidence.fabric
    arriving = cycle.witnesses[-1:] + cycle.witnesses[:-1]
    for link, (switch, port), prefix in zip(links, cycle.hops, arriving, strict=True):
        far = fabric.names[fabric.network.target[link]]
        text = f"{switch} sends {prefix} on through {port} to {far}"
        yield Related(text, bundle.devices[switch].locate(NEIGHBORS, fabric.row(link)))
    for prefix in dict.fromkeys(cycle.witnesses):
        for (switch, announced), row in fabric.announced.items():
            if announced == prefix:
                yield Related(f"{switch} announces {prefix}", bundle.devices[switch].locate(*row))


def _session_findings(bundle: Bundle, evidence: Evidence) -> Iterator[Finding]:
    """One finding per switch and reason; a row that fails only because of its far end is reported there."""
    groups: dict[tuple[str, str, bool], list[AbsentSession]] = {}
    for absent in evidence.fabric.spoken.absent:
        if not absent.follows:
            reason = absent.reason if absent.inside else "the far end is not among the switches judged"
            groups.setdefault((absent.switch, reason, absent.inside), []).append(absent)
    for (switch, reason, inside), rows in groups.items():
        yield Finding(
            code="FG602",
            severity=Severity.WARNING if inside else Severity.NOTE,
            message=f"BGP session left out of the deadlock verdict: {reason}",
            device=switch,
            place=Place(NEIGHBORS, rows[0].key),
            location=bundle.devices[switch].locate(NEIGHBORS, rows[0].key),
            hint="Make the session possible, or take the row out: the verdict holds only for sessions that come up."
            if inside
            else "Give the files of all switches of the fabric to judge the routes over this session as well.",
            count=len(rows),
        )


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
        message=f"next hops depend on the order of events at {_listing(names)}: the verdict covers all possibilities",
        device=names[0],
        place=Place("DEVICE_METADATA", "localhost", "bgp_asn"),
        location=device.locate("DEVICE_METADATA", "localhost", "bgp_asn"),
        hint="Give all switches of a tier one ASN or each its own, and use multipath-relax.",
        confidence=Confidence.POSSIBLE,
        count=evidence.routes.ambiguous_sets,
    )


def _lossy_findings(bundle: Bundle, result: PlaneDeadlock) -> Iterator[Finding]:
    names = result.evidence.fabric.names
    planes = bundle.wiring.planes if bundle.wiring else ()
    meant = any(plane.name == result.name and not plane.lossless for plane in planes)
    if meant or result.priorities or not result.evidence.fabric.network.links:
        return
    device = bundle.devices[names[0]]
    yield Finding(
        code="FG604",
        severity=Severity.NOTE,
        message="no link between switches has PFC on at both ends for any priority: nothing can deadlock",
        device=device.name,
        place=Place("PORT_QOS_MAP"),
        location=device.locate("PORT_QOS_MAP"),
        hint="Set pfc_enable in PORT_QOS_MAP at both ends of every link if this fabric is to carry lossless traffic.",
    )


def _listing(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
