"""Acceptance: measurements of a fabric against what its files promise."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Policy, Progress, codes_of, open_judging
from fabricgen.api.validation import apply_rules
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.acceptance.causes.cause import Cause
    from fabricgen.acceptance.counters import SentFairness
    from fabricgen.acceptance.measured import MeasuredTest
    from fabricgen.bundle.read import Bundle

_CABLES = ("FG260", "FG261")
WATERMARKS = ("FG980", "FG981", "FG982", "FG983", "FG984")


@dataclass(frozen=True, kw_only=True)
class Acceptance(Judgement):
    """`measured` are the tests with their values and verdicts, in the order of their stages. `causes` are what makes
    the fabric slow, in words; `fairness` is that of the uplinks of leaves, by their counters. `unjudged` are result
    files that say nothing of this fabric, with the reason. `bundle` is what was judged, with its cabling if the results
    have LLDP dumps."""

    bundle: "Bundle"
    measured: tuple["MeasuredTest", ...] = ()
    causes: tuple["Cause", ...] = ()
    fairness: tuple["SentFairness", ...] = ()
    unjudged: tuple[str, ...] = ()


def accept(
    bundle: Path,
    results: Sequence[Path],
    *,
    unit: str = "Gb/s",
    stages: Sequence[str] = (),
    watermarks: bool = False,
    inventory: Path | None = None,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> Acceptance:
    """Judge the results of acceptance tests.

    `results` are the folder of `handoff acceptance` after its run, or files and folders of results. `unit` is Gb/s or
    MiB/s: perftest does not write in which it measures. `stages` are the stages to judge, by default all. `watermarks`
    also judges the watermarks of buffers. Cables are compared with LLDP dumps below `results`. See `validate` for the
    other arguments. Raises UnreadableInputError and UsageError.
    """
    from fabricgen.acceptance.judge import accept as judged
    from fabricgen.acceptance.judge import lldp_folder
    from fabricgen.acceptance.planned import Stage

    dumps = lldp_folder(results) if not stages or Stage.LLDP in stages else None
    judging = open_judging([bundle], None, dumps, policy)
    if dumps is not None:
        apply_rules(judging, _CABLES, (), ())
    found = judged(judging.bundle, results, unit, stages, watermarks, judging.findings)
    judging.findings += found.findings
    judging.codes |= codes_of("FG96", "FG97", *(WATERMARKS if watermarks else ()))
    progress.step("judged", counted(len(found.measured), "test"))
    return Acceptance(
        **judging.judged(judging.outcome(inventory)),
        bundle=judging.bundle,
        measured=found.measured,
        causes=found.causes,
        fairness=found.fairness,
        unjudged=found.unjudged,
    )
