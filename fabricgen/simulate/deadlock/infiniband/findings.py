"""Verdicts on InfiniBand subnets to findings."""

from collections.abc import Iterator, Sequence

from fabricgen.findings import Confidence, Finding, Location, Severity
from fabricgen.results import Claim, DeadlockResult
from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock
from fabricgen.simulate.opensm import PACKAGES
from fabricgen.simulate.opensm.findings import proof_findings


def subnet_findings(results: Sequence[DeadlockResult]) -> Iterator[Finding]:
    """FG801 to FG805 and FG807 of the run, FG806 a credit loop, FG807 traffic that gets lost, FG808 lanes that nobody
    programmed, FG809 no run at all, FG852 dumps of another wiring than the bundle's."""
    for result in results:
        if isinstance(result, SubnetDeadlock):
            if result.evidence.proof and result.evidence.files:
                yield from proof_findings(result.evidence.files, result.evidence.proof)
            yield from _loop(result)
            yield from _lost(result)
            yield from _lanes(result)
            yield from _not_run(result)
            yield from _other_wiring(result)


def left_out(
    results: Sequence[DeadlockResult], of_failures: Sequence[str], of_tables: Sequence[str]
) -> Iterator[Finding]:
    """What these options ask for and InfiniBand planes have not: FG850 verdicts on failures, FG851 what rests on tables
    where there are none."""
    for result in results:
        if not isinstance(result, SubnetDeadlock):
            continue
        if of_failures:
            yield Finding(
                code="FG850",
                severity=Severity.NOTE,
                message=_said(
                    result, f"{', '.join(of_failures)} left this plane out: its tables are a subnet manager's"
                ),
                path=f"{result.name or 'infiniband'}.routing_engine",
                location=_where(result),
                hint="For a certain failure take the cable out of topology.ibsim and run this again.",
            )
        if of_tables and result.evidence.dumps is None:
            why = _why_not_run(result) if result.evidence.wiring else "no routing engine took"
            yield Finding(
                code="FG851",
                severity=Severity.WARNING,
                message=_said(result, f"{', '.join(of_tables)} left this plane out: it has no tables, since {why}"),
                path=f"{result.name or 'infiniband'}.routing_engine",
                location=_where(result),
                hint="Install the packages, or bring the tables of a running subnet with --lfts.",
            )


def _why_not_run(result: SubnetDeadlock) -> str:
    netlist = result.evidence.files.netlist.is_file() if result.evidence.files else False
    return f"OpenSM and ibsim are not installed ({PACKAGES})" if netlist else "there is no topology.ibsim"


def _where(result: SubnetDeadlock, word: str = "routing_engine") -> Location:
    files, folder = result.evidence.files, result.evidence.folder
    return files.locate("opensm.conf", word) if files else Location(str(folder))


def _said(result: SubnetDeadlock, message: str) -> str:
    return f"{result.name}: {message}" if result.name else message


def _loop(result: SubnetDeadlock) -> Iterator[Finding]:
    for cycle in result.cycles:
        around = " -> ".join(f"{switch} port {port}" for switch, port in (*cycle.hops, cycle.hops[0]))
        lids = ", ".join(dict.fromkeys(cycle.witnesses))
        yield Finding(
            code="FG806",
            severity=Severity.ERROR,
            message=_said(result, f"credit loop on virtual lane {cycle.priority}: {around}; on the way to LIDs {lids}"),
            device=cycle.hops[0][0],
            path=f"{result.name or 'infiniband'}.routing_engine",
            location=_where(result),
            hint="Route with an engine that keeps this wiring free of loops (updn or ftree on a tree, torus-2QoS on a "
            "torus, dfsssp, lash or nue elsewhere), with qos TRUE and as many lanes as it asks for, and no_fallback.",
            confidence=Confidence.PROVED if result.claim is Claim.PROVED else Confidence.POSSIBLE,
        )


def _lost(result: SubnetDeadlock) -> Iterator[Finding]:
    if result.evidence.loops and result.evidence.loops.lost_count:
        switch, lid = result.evidence.loops.lost[0]
        yield Finding(
            code="FG807",
            severity=Severity.ERROR,
            message=_said(result, f"packets to LID {lid} get no further than {switch}"),
            device=switch,
            path=f"{result.name or 'infiniband'}.lft",
            location=_where(result),
            hint="Look for a missing cable, or for tables that were dumped while the subnet manager was at work.",
            count=result.evidence.loops.lost_count,
        )


def _lanes(result: SubnetDeadlock) -> Iterator[Finding]:
    if (other := result.evidence.if_one_lane) is None:
        return
    reading = "a credit loop" if other.cycle else "no credit loop, either"
    yield Finding(
        code="FG808",
        severity=Severity.WARNING,
        message=_said(
            result,
            "paths use several SLs, and no SL-to-VL table is programmed: the verdict takes each SL to have the lane of "
            f"its number; with all on lane 0 there is {reading}",
        ),
        path=f"{result.name or 'infiniband'}.qos",
        location=_where(result, "qos"),
        hint="Set `qos TRUE`, in just this spelling, so that OpenSM programs the tables.",
    )


def _other_wiring(result: SubnetDeadlock) -> Iterator[Finding]:
    if (differing := result.evidence.other_wiring) is None:
        return
    count = f"{differing.strange} of the {differing.cables} cables in the dumps"
    told = f"{count} are none of plane {differing.plane}'s, {differing.lacking} of the plane's are not there"
    yield Finding(
        code="FG852",
        severity=Severity.WARNING,
        message=_said(result, f"{told}: the verdict is on the subnet of the dumps"),
        path=f"{result.name or 'infiniband'}.cables",
        location=_where(result),
        hint="`fabricgen diff BUNDLE ibnetdiscover.txt` names the cables; else these are dumps of another fabric.",
        confidence=Confidence.OBSERVED,
    )


def _not_run(result: SubnetDeadlock) -> Iterator[Finding]:
    if result.evidence.wiring is None:
        return
    missing = _why_not_run(result)
    tree = "up-then-down paths of this wiring cannot wait for each other"
    proved = f"the verdict is for the wiring alone: {tree}" if result.evidence.wiring.is_legal else "nothing is proved"
    yield Finding(
        code="FG809",
        severity=Severity.NOTE if result.evidence.wiring.is_legal else Severity.WARNING,
        message=_said(result, f"the files were not tried on the real OpenSM, since {missing}; {proved}"),
        path=f"{result.name or 'infiniband'}.opensm",
        location=_where(result),
        hint="Install the packages, or bring the tables of a running subnet with --lfts.",
        confidence=Confidence.POSSIBLE,
    )
