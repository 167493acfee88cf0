"""All verdicts on a bundle, one after the other: rules, tenants, deadlock, congestion."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricgen.api.congestion import analyse
from fabricgen.api.deadlock import FailureOptions, prove
from fabricgen.api.isolation import prove_isolation
from fabricgen.api.judgement import Judging, Progress
from fabricgen.api.outages import with_outages
from fabricgen.api.validation import apply_rules
from fabricgen.bundle.wiring import Checks
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.results import CongestionResult, DeadlockResult, IsolationResult, RoutesModel
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
    failures are judged."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    platforms: Iterable[SwitchPlatform] = ()
    patterns: Sequence[str] = ()
    depth: int | None = None
    jobs: int = 1
    kept: "KeptVerdicts | None" = None
    evidence: bool = False
    outages: bool = False


@dataclass(frozen=True)
class Verdicts:
    """The results of the planes, worst first; those of congestion for one pattern after the other."""

    isolation: Sequence[IsolationResult]
    deadlock: Sequence[DeadlockResult]
    congestion: Sequence[CongestionResult]


def judge_all(judging: Judging, wanted: Wanted, progress: Progress) -> Verdicts:
    """Run all judges; their findings are added to `judging`. Raises UnreadableInputError and UsageError."""
    from fabricgen.simulate.congestion.analysis import MOST_FINITE_AT_GATE, CongestionOptions
    from fabricgen.simulate.outages.options import OutageOptions as OutageOptions
    from fabricgen.simulate.patterns import DEFAULT_PATTERN, check_pattern

    patterns = wanted.patterns or (DEFAULT_PATTERN,)
    for pattern in patterns:
        check_pattern(pattern)
    devices = counted(len(judging.bundle.devices), "device")
    kept = wanted.kept
    apply_rules(judging, wanted.select, wanted.ignore, wanted.platforms, progress, wanted.jobs, kept)
    progress.step("validated", f"{devices} by {counted(judging.rules, 'rule')}")
    isolation = prove_isolation(judging, wanted.select, wanted.ignore, progress, kept)
    chosen = judging.bundle.wiring.checks if judging.bundle.wiring else Checks()
    depth = chosen.failures if wanted.depth is None else wanted.depth
    failures = FailureOptions(depth, chosen.switch_failures, chosen.repair, jobs=wanted.jobs)

    def proved(judging: Judging) -> Sequence[DeadlockResult]:
        return prove(judging, None, None, failures, progress)

    asked = (failures.most_links, failures.switches, failures.repair, failures.seed)
    deadlock = kept.deadlock(judging, asked, proved) if kept and not wanted.evidence else proved(judging)
    progress.step("simulated", f"routes and buffer dependencies of {counted(judging.counts.devices, 'device')}")
    congestion: list[CongestionResult] = []
    least = chosen.min_busbw_after_failure
    costed = least is not None or (wanted.outages and depth > 0 and len(judging.bundle.devices) <= MOST_COSTED)
    with progress.stage("congestion"):
        for pattern in patterns:
            options = CongestionOptions(pattern, most_finite=MOST_FINITE_AT_GATE)
            outages = OutageOptions(pattern, 1, chosen.switch_failures)

            def analysed(
                judging: Judging, options: CongestionOptions = options, outages: OutageOptions = outages
            ) -> Sequence[CongestionResult]:
                found = analyse(judging, options, report_skipped=False)
                return with_outages(judging, found, outages, reported=least is not None) if costed else found

            about = (options, outages, least) if costed else options
            congestion += kept.congestion(judging, about, analysed) if kept else analysed(judging)
    planes = {one.name for one in deadlock if one.model is RoutesModel.BGP}
    progress.step("simulated", f"congestion of {counted(len(planes), 'plane')}")
    return Verdicts(isolation, deadlock, congestion)
