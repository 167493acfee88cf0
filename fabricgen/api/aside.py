"""An inventory rendered into a folder that is not kept, for the verbs that judge, compare or measure it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen import OUTPUT_VERSION
from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Policy, Progress, outcome_of_inventory
from fabricgen.api.places import InventoryPlaces
from fabricgen.bundle.scratch import ScratchFolder
from fabricgen.findings import Finding, has_errors

# Not when it is called: netaddr raises errors while it is imported, and keeps the frames of all callers with them.
from fabricgen.render.plans import Plans, lock_would_change, make_plans
from fabricgen.report.outcome import Outcome
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.inventory.read_files import InventorySource


@dataclass(frozen=True)
class Aside:
    """An inventory, rendered into a folder that is not kept.

    `outcome` are the findings about the inventory, and of a template that cannot be rendered. `is_rendered` is False
    where they, or a fabric without planes, prevent it; the folder then does not exist.
    """

    plans: Plans
    places: InventoryPlaces
    outcome: Outcome
    is_rendered: bool


def render_aside(
    inventory: "InventorySource",
    folder: Path,
    *,
    locked: bool | None = None,
    jobs: int = 1,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
    last: "LastRendering | None" = None,
) -> Aside:
    """Plan an inventory and render it into a new folder; its lock file stays as it is. `last` is what is known of the
    last rendering in the same folder.

    The lock file may be out of date, an error if `locked`, a note or a warning if not; with None it is not compared.
    Raises UnreadableInputError.
    """
    from fabricgen.inventory.load import LOCK_NAME, inventory_root
    from fabricgen.render.templates import TemplateProblemError

    with progress.stage("planning"):
        plans = last.kept.plans(inventory) if last else make_plans(inventory)
    if locked is not None:
        lock_file = inventory_root(inventory) / LOCK_NAME
        plans.findings += lock_would_change(plans, lock_file, needed=locked, strict=locked)
    places = InventoryPlaces(None, inventory, plans.fabric.inventory.node)

    def aside(*, is_rendered: bool, findings: Sequence[Finding] = plans.findings) -> Aside:
        accepted = plans.fabric.inventory.suppressions
        return Aside(plans, places, outcome_of_inventory(findings, accepted, places, policy), is_rendered)

    planned = aside(is_rendered=True)
    if has_errors([*plans.findings, *planned.outcome.findings]) or not plans.fabric.planes:
        return replace(planned, is_rendered=False)
    progress.step("planned", counted(len(plans.fabric.switches), "switch"))
    try:
        _render_to(plans, last or LastRendering(folder), jobs, progress)
    except TemplateProblemError as problem:
        return aside(is_rendered=False, findings=[*plans.findings, problem.finding])
    return planned


class LastRendering:
    """What a process that renders again and again into one folder knows of the last time."""

    def __init__(self, folder: Path) -> None:
        from fabricgen.render.again import KeptRendering

        self.kept = KeptRendering()
        self.files = ScratchFolder(folder)


def _render_to(plans: Plans, last: LastRendering, jobs: int, progress: Progress) -> None:
    """Raises TemplateProblemError."""
    fabric, files = plans.fabric.inventory, last.files
    files.begin()
    for path, data in progress.track(
        last.kept.files(plans, jobs, files.write), len(plans.rendered.switches) + 3, "rendering"
    ):
        files.add(path, data)
    files.commit(fabric.fabric, OUTPUT_VERSION, fabric.digest, fabric.sonic.release)
