"""A bundle and a source of truth, NetBox or Nautobot: how they differ, and the changes that make them equal."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Policy, Progress, codes_of, open_judging

if TYPE_CHECKING:
    from fabricgen.dcim.changes import DcimPlan
    from fabricgen.dcim.system import System

CODES = ("FG985", "FG986", "FG987", "FG988", "FG989")


@dataclass(frozen=True, kw_only=True)
class SourceOfTruth(Judgement):
    """The differences as findings. `plan` has the changes, and `applied` is whether they were made."""

    plan: "DcimPlan"
    applied: bool = False


def source_of_truth(
    bundle: Path,
    system: "System",
    *,
    site: str | None = None,
    only: str | None = None,
    adopt: bool = False,
    apply: bool = False,
    before: Callable[["DcimPlan"], None] = lambda _: None,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> SourceOfTruth:
    """Compare a bundle with a source of truth; with `apply` also make the changes, unless an object is in the way.

    `system` comes from `fabricgen.dcim.connecting.connect`. `only` are shell patterns for devices, separated by
    commas; nothing is deleted then. `adopt` takes over objects of the same name. `before` gets the plan at first.
    Raises UnreadableInputError, and UsageError for what the server refuses.
    """
    from fabricgen.dcim.applying import apply as applied
    from fabricgen.dcim.changes import compare
    from fabricgen.dcim.drift import drift_findings
    from fabricgen.handoff.netbox import planned_objects

    judging = open_judging([bundle], None, None, policy)
    planned = planned_objects(judging.bundle, site, only)
    with progress.stage(f"reading {system.name}"):
        plan = compare(system, planned, adopt=adopt, delete=only is None)
    judging.findings += drift_findings(plan, system.name)
    judging.codes |= codes_of(*CODES)
    outcome = judging.outcome(None)
    before(plan)
    does_apply = apply and not plan.blocked
    if does_apply:
        with progress.stage(f"writing to {system.name}"):
            applied(system, plan)
    return SourceOfTruth(
        **judging.judged(outcome),
        plan=plan,
        applied=does_apply,
    )
