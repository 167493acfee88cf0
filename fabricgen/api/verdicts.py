"""All verdicts on a bundle, one after the other: rules, tenants, deadlock, congestion."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fabricgen.api.congestion import analyse
from fabricgen.api.deadlock import FailureOptions, prove
from fabricgen.api.isolation import prove_isolation
from fabricgen.api.judgement import SILENT, Judging, Progress
from fabricgen.api.outages import with_outages
from fabricgen.api.validation import apply_rules
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Checks
from fabricgen.findings import Finding
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.results import CongestionModel, CongestionResult, DeadlockResult, IsolationResult, without_evidence
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.api.resident import KeptVerdicts

MOST_COSTED = 1024  # devices; a report of more has no costs of failures, `simulate congestion --failures` has them


@dataclass(frozen=True)
class Wanted:
    """`select` and `ignore` choose rules; `platforms` are used before those of the catalog. `patterns` are names of
    traffic patterns, () for the default one. `depth` is how many links fail at a time, None: as the inventory says.
    `kept` are the verdicts of earlier checks of this process; with `evidence` the proof is made anew, for what its
    certificate needs. With `outages` the results of congestion have what each single failure costs, if any
    failures are judged. `plain` results can be without evidence, which pages show."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    platforms: Iterable[SwitchPlatform] = ()
    patterns: Sequence[str] = ()
    depth: int | None = None
    jobs: int = 1
    kept: "KeptVerdicts | None" = None
    evidence: bool = False
    outages: bool = False
    plain: bool = False


@dataclass(frozen=True)
class Verdicts:
    """The results of the planes, worst first; those of congestion for one pattern after the other. `seals` are the
    digests of the certificates by plane, if evidence was wanted."""

    isolation: Sequence[IsolationResult]
    deadlock: Sequence[DeadlockResult]
    congestion: Sequence[CongestionResult]
    seals: Mapping[str, str] = field(default_factory=dict)


def judge_all(judging: Judging, wanted: Wanted, progress: Progress) -> Verdicts:
    """Run all judges; their findings are added to `judging`. Raises UnreadableInputError and UsageError."""
    from fabricgen.rules.parallel import Beside
    from fabricgen.simulate.patterns import check_pattern

    for pattern in wanted.patterns:
        check_pattern(pattern)
    devices = counted(judging.counts.devices, "device")
    kept = wanted.kept
    beside = Beside(lambda: _simulated_apart(judging, wanted)) if _can_be_apart(judging.bundle, wanted) else None
    apply_rules(judging, wanted.select, wanted.ignore, wanted.platforms, progress, wanted.jobs, kept, beside=beside)
    apart = beside.result if beside else None
    meanwhile = "; meanwhile deadlock and congestion" if apart else ""
    progress.step("validated", f"{devices} by {counted(judging.rules, 'rule')}{meanwhile}")
    isolation = prove_isolation(judging, wanted.select, wanted.ignore, progress, kept)
    if apart is not None:
        deadlock, congestion, seals, own = apart
        judging.findings += own.findings
        judging.codes |= own.codes
    else:
        deadlock, congestion = _simulated(judging, wanted, progress)
        seals = _seals(deadlock, wanted)
    return Verdicts(isolation, deadlock, congestion, seals)


_Simulated = tuple[Sequence[DeadlockResult], Sequence[CongestionResult]]


def _can_be_apart(bundle: Bundle, wanted: Wanted) -> bool:
    """Whether another process can simulate: it sends results without evidence, and does not share many failures."""
    return (
        wanted.plain and wanted.kept is None and not bundle.subnet_roots and _failures(bundle, wanted).most_links <= 1
    )


@dataclass(frozen=True)
class _Own:
    """What the simulators add to a judging."""

    findings: Sequence[Finding]
    codes: Set[str]


_Apart = tuple[Sequence[DeadlockResult], Sequence[CongestionResult], Mapping[str, str], _Own]


def _simulated_apart(judging: Judging, wanted: Wanted) -> _Apart:
    """`_simulated` in a process that checks no rules meanwhile, the seals, and what it adds to `judging`."""
    own = replace(judging, findings=[], codes=set())
    deadlock, congestion = _simulated(own, replace(wanted, jobs=1), SILENT)
    plain = tuple(map(without_evidence, deadlock))
    return plain, congestion, _seals(deadlock, wanted), _Own(own.findings, own.codes)


def _seals(results: Sequence[DeadlockResult], wanted: Wanted) -> Mapping[str, str]:
    if not wanted.evidence:
        return {}
    from fabricgen.simulate.deadlock.certificate import seals

    return seals(results)


def _failures(bundle: Bundle, wanted: Wanted) -> FailureOptions:
    chosen = bundle.wiring.checks if bundle.wiring else Checks()
    depth = chosen.failures if wanted.depth is None else wanted.depth
    return FailureOptions(depth, chosen.switch_failures, chosen.repair, jobs=wanted.jobs)


def _simulated(judging: Judging, wanted: Wanted, progress: Progress) -> _Simulated:
    """The proof and the analysis of each pattern, whose findings are added to `judging`."""
    from fabricgen.simulate.congestion.analysis import MOST_FINITE_AT_GATE, CongestionOptions
    from fabricgen.simulate.outages.options import OutageOptions as OutageOptions
    from fabricgen.simulate.patterns import DEFAULT_PATTERN

    kept, failures = wanted.kept, _failures(judging.bundle, wanted)

    def proved(judging: Judging) -> Sequence[DeadlockResult]:
        return prove(judging, None, None, failures, progress)

    asked = (failures.most_links, failures.switches, failures.repair, failures.seed)
    deadlock = kept.deadlock(judging, asked, proved) if kept and not wanted.evidence else proved(judging)
    progress.step("simulated", f"routes and buffer dependencies of {counted(judging.counts.devices, 'device')}")
    congestion: list[CongestionResult] = []
    least = judging.bundle.wiring.checks.min_busbw_after_failure if judging.bundle.wiring else None
    costed = wanted.outages and failures.most_links > 0 and len(judging.bundle.devices) <= MOST_COSTED
    costed = costed or least is not None
    with progress.stage("congestion"):
        for pattern in wanted.patterns or (DEFAULT_PATTERN,):
            options = CongestionOptions(pattern, most_finite=MOST_FINITE_AT_GATE)
            outages = OutageOptions(pattern, 1, failures.switches)

            def analysed(
                judging: Judging, options: CongestionOptions = options, outages: OutageOptions = outages
            ) -> Sequence[CongestionResult]:
                found = analyse(judging, options, report_skipped=False)
                return with_outages(judging, found, outages, reported=least is not None) if costed else found

            about = (options, outages, least) if costed else options
            congestion += kept.congestion(judging, about, analysed) if kept else analysed(judging)
    computed = {one.name for one in congestion if one.model is not CongestionModel.SKIPPED}
    congestion = [one for one in congestion if one.model is not CongestionModel.SKIPPED or one.name not in computed]
    progress.step("simulated", f"congestion of {counted(len(computed), 'plane')}")
    return deadlock, congestion
