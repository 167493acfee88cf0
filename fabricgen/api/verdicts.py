"""All verdicts on a bundle, one after the other: rules, deadlock, congestion."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabricgen.api.congestion import analyse
from fabricgen.api.deadlock import FailureOptions, prove
from fabricgen.api.judgement import Judging, Progress
from fabricgen.api.outages import with_outages
from fabricgen.api.validation import apply_rules
from fabricgen.bundle.wiring import Checks
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.results import CongestionResult, DeadlockResult
from fabricgen.units import counted


@dataclass(frozen=True)
class Wanted:
    """`select` and `ignore` choose rules; `platforms` are used before those of the catalog. `patterns` are names of
    traffic patterns, () for the default one. `depth` is how many links fail at a time, None: as the inventory says."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    platforms: Iterable[SwitchPlatform] = ()
    patterns: Sequence[str] = ()
    depth: int | None = None
    jobs: int = 1


@dataclass(frozen=True)
class Verdicts:
    """The results of the planes, worst first; those of congestion for one pattern after the other."""

    deadlock: Sequence[DeadlockResult]
    congestion: Sequence[CongestionResult]


def judge_all(judging: Judging, wanted: Wanted, progress: Progress) -> Verdicts:
    """Run all judges; their findings are added to `judging`. Raises UnreadableInputError and UsageError."""
    from fabricgen.simulate.congestion.analysis import MOST_FINITE_AT_GATE, Options
    from fabricgen.simulate.outages.options import Options as OutageOptions
    from fabricgen.simulate.patterns import DEFAULT_PATTERN, check_pattern

    patterns = wanted.patterns or (DEFAULT_PATTERN,)
    for pattern in patterns:
        check_pattern(pattern)
    devices = counted(len(judging.bundle.devices), "device")
    apply_rules(judging, wanted.select, wanted.ignore, wanted.platforms, progress, wanted.jobs)
    progress.step("validated", f"{devices} by {counted(judging.rules, 'rule')}")
    chosen = judging.bundle.wiring.checks if judging.bundle.wiring else Checks()
    depth = chosen.failures if wanted.depth is None else wanted.depth
    failures = FailureOptions(depth, chosen.switch_failures, chosen.repair, jobs=wanted.jobs)
    deadlock = prove(judging, None, None, failures, progress)
    progress.step("simulated", f"routes and buffer dependencies of {counted(judging.counts.devices, 'device')}")
    congestion: list[CongestionResult] = []
    with progress.stage("congestion"):
        for pattern in patterns:
            options = Options(pattern, most_finite=MOST_FINITE_AT_GATE)
            found = analyse(judging, options, report_skipped=False)
            if chosen.min_busbw_after_failure is not None:
                found = with_outages(judging, found, OutageOptions(pattern, 1, chosen.switch_failures))
            congestion += found
    progress.step("simulated", f"congestion of {counted(len(judging.routed), 'plane')}")
    return Verdicts(deadlock, congestion)
