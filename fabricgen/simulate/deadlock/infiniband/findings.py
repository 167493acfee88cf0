"""Verdicts on InfiniBand subnets to findings."""

from collections.abc import Iterator, Sequence

from fabricgen.findings import Confidence, Finding, Related, Severity
from fabricgen.results import Claim, DeadlockResult
from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock
from fabricgen.simulate.deadlock.infiniband.failure_findings import failure_findings
from fabricgen.simulate.deadlock.infiniband.failures import NO_FAILURES, WantedFailures
from fabricgen.simulate.deadlock.infiniband.wording import of_subnet, place_of, why_not_run
from fabricgen.simulate.opensm.findings import proof_findings


def subnet_findings(results: Sequence[DeadlockResult], wanted: WantedFailures = NO_FAILURES) -> Iterator[Finding]:
    """FG801 to FG805 and FG807: the run of OpenSM. FG806: a credit loop. FG807: packets that do not arrive. FG808: no
    SL-to-VL tables. FG809: OpenSM was not run. FG843: a credit loop on the SL of NCCL. FG852: the wiring of the dumps
    differs from the bundle's."""
    for result in results:
        if isinstance(result, SubnetDeadlock):
            if result.evidence.proof and result.evidence.files:
                yield from proof_findings(result.evidence.files, result.evidence.proof)
            yield from _loop(result)
            yield from _fixed(result)
            yield from _lost(result)
            yield from _lanes(result)
            yield from _not_run(result)
            yield from _other_wiring(result)
            yield from failure_findings(result, wanted)


def without_tables(results: Sequence[DeadlockResult], of_tables: Sequence[str]) -> Iterator[Finding]:
    """FG851: options that need forwarding tables, for planes without tables."""
    for result in results:
        if isinstance(result, SubnetDeadlock) and result.evidence.dumps is None:
            why = why_not_run(result) if result.evidence.wiring else "no routing engine succeeded"
            yield Finding(
                code="FG851",
                severity=Severity.WARNING,
                message=of_subnet(
                    result, f"{', '.join(of_tables)} does not cover this plane: it has no tables, because {why}"
                ),
                path=f"{result.name or 'infiniband'}.routing_engine",
                location=place_of(result),
                hint="install the packages, or give the tables of a running subnet with --lfts",
            )


def _loop(result: SubnetDeadlock) -> Iterator[Finding]:
    for cycle in result.cycles if result.evidence.failures is None else ():  # FG847 has those of failures
        around = " -> ".join(f"{switch} port {port}" for switch, port in (*cycle.hops, cycle.hops[0]))
        lids = ", ".join(dict.fromkeys(cycle.witnesses))
        yield Finding(
            code="FG806",
            severity=Severity.ERROR,
            message=of_subnet(
                result, f"credit loop on virtual lane {cycle.priority}: {around}; destination LIDs {lids}"
            ),
            device=cycle.hops[0][0],
            path=f"{result.name or 'infiniband'}.routing_engine",
            location=place_of(result),
            hint="use an engine that is free of credit loops on this wiring (updn or ftree on a tree, torus-2QoS on a "
            "torus, dfsssp, lash or nue elsewhere), with qos TRUE, the number of lanes that it needs, and no_fallback",
            confidence=Confidence.PROVED if result.claim is Claim.PROVED else Confidence.POSSIBLE,
        )


def _fixed(result: SubnetDeadlock) -> Iterator[Finding]:
    """The loop that only the fixed SL closes: an error if collectives run on the plane."""
    fixed, jobs = result.fixed_sl, result.evidence.jobs
    if fixed is None or any(not one.failed_links for one in result.cycles):
        return
    for cycle in (one for one in fixed.cycles if not one.failed_links):
        around = " -> ".join(f"{switch} port {port}" for switch, port in (*cycle.hops, cycle.hops[0]))
        levels = " or ".join(f"SL {level}" for level in fixed.service_levels)
        who = f"as NCCL on group {', '.join(jobs.groups)} sends them" if jobs.groups else "the default of NCCL"
        yield Finding(
            code="FG843",
            severity=Severity.ERROR if jobs.groups else Severity.NOTE,
            message=of_subnet(
                result,
                f"credit loop on virtual lane {cycle.priority} if packets use fixed {levels}, {who}: {around}; with "
                "the SLs of path records the subnet is free",
            ),
            device=cycle.hops[0][0],
            path=f"{result.name or 'infiniband'}.routing_engine",
            location=place_of(result),
            related=(Related("the SL of NCCL", jobs.place),) if jobs.place else (),
            hint="use an engine that needs one SL only (nue with nue_max_num_vls 1; on a tree updn or ftree); if all "
            "jobs request path records, suppress FG843 with this reason",
            confidence=Confidence.PROVED if fixed.claim is Claim.PROVED else Confidence.POSSIBLE,
        )


def _lost(result: SubnetDeadlock) -> Iterator[Finding]:
    if result.evidence.loops and result.evidence.loops.lost_count:
        switch, lid = result.evidence.loops.lost[0]
        yield Finding(
            code="FG807",
            severity=Severity.ERROR,
            message=of_subnet(result, f"packets to LID {lid} are lost at {switch}"),
            device=switch,
            path=f"{result.name or 'infiniband'}.lft",
            location=place_of(result),
            hint="check for a missing cable, and for tables that were dumped while the subnet manager changed them",
            count=result.evidence.loops.lost_count,
        )


def _lanes(result: SubnetDeadlock) -> Iterator[Finding]:
    if (other := result.evidence.if_one_lane) is None:
        return
    reading = "a credit loop" if other.cycle else "no credit loop either"
    yield Finding(
        code="FG808",
        severity=Severity.WARNING,
        message=of_subnet(
            result,
            "paths use several SLs, but no SL-to-VL table is programmed: the verdict maps each SL to the lane of the "
            f"same number; with all SLs on lane 0 there is {reading}",
        ),
        path=f"{result.name or 'infiniband'}.qos",
        location=place_of(result, "qos"),
        hint="set `qos TRUE`, with exactly this spelling, so that OpenSM programs the tables",
    )


def _other_wiring(result: SubnetDeadlock) -> Iterator[Finding]:
    if (differing := result.evidence.other_wiring) is None:
        return
    count = f"{differing.unknown} of the {differing.cables} cables in the dumps"
    problem = f"{count} are not in plane {differing.plane}, {differing.missing} of the plane's cables are missing"
    yield Finding(
        code="FG852",
        severity=Severity.WARNING,
        message=of_subnet(result, f"{problem}: the verdict is on the subnet of the dumps"),
        path=f"{result.name or 'infiniband'}.cables",
        location=place_of(result),
        hint="run `fabricgen diff BUNDLE ibnetdiscover.txt` to list the cables; check if the dumps are of this fabric",
        confidence=Confidence.OBSERVED,
    )


def _not_run(result: SubnetDeadlock) -> Iterator[Finding]:
    if result.evidence.wiring is None:
        return
    missing = why_not_run(result)
    tree = "its up-then-down paths have no cycle"
    proved = f"the verdict is on the wiring only: {tree}" if result.evidence.wiring.is_legal else "nothing is proved"
    yield Finding(
        code="FG809",
        severity=Severity.NOTE if result.evidence.wiring.is_legal else Severity.WARNING,
        message=of_subnet(result, f"the files were not tested with the real OpenSM, because {missing}; {proved}"),
        path=f"{result.name or 'infiniband'}.opensm",
        location=place_of(result),
        hint="install the packages, or give the tables of a running subnet with --lfts",
        confidence=Confidence.POSSIBLE,
    )
