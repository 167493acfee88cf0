"""Rendering: an inventory into a bundle, or the comparison of a bundle with what would be rendered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen import OUTPUT_VERSION
from fabricgen.api.comparison import roll_out
from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Policy, Progress, outcome_of_inventory
from fabricgen.api.places import InventoryPlaces
from fabricgen.atomic import temporary_folder
from fabricgen.findings import Finding, Location, Severity, has_errors
from fabricgen.interrupts import held
from fabricgen.report.summary import Counts
from fabricgen.units import counted
from fabricgen.vocabulary import InputForm

if TYPE_CHECKING:
    from fabricgen.allocation.growth import LockGrowth
    from fabricgen.bundle.write import BundleWriter
    from fabricgen.diff.difference import Difference
    from fabricgen.inventory.read_files import InventorySource
    from fabricgen.render.content import BundleContent
    from fabricgen.render.plans import Plans
    from fabricgen.rollout.order import Rollout

_MISSING = "is missing: the inventory renders it"
_DIFFERS, _EDITED = "differs from what the inventory renders", ", and was edited after it was rendered"
SWITCHES, SUBNET_MANAGERS = "sonic/", "infiniband/"  # folders of a bundle


@dataclass(frozen=True)
class FileCounts:
    """The numbers of files of a bundle: all of them, those with other bytes than before, and those removed."""

    files: int
    changed: int
    removed: int


@dataclass(frozen=True, kw_only=True)
class Rendering(Judgement):
    """The findings about the inventory, and what was done.

    `is_written` is False after an error, and for a check. `switches` and `subnet_managers`
    count the files of a bundle that was written, and `edited` are those that were changed by hand before and are
    replaced now. `stale` are the files that a check found to differ, `difference` their rows, and `rollout` the order
    in which the switches change, if they were requested.
    """

    is_written: bool = False
    switches: FileCounts = FileCounts(0, 0, 0)
    subnet_managers: FileCounts = FileCounts(0, 0, 0)
    edited: tuple[str, ...] = ()
    stale: tuple[Finding, ...] = ()
    difference: "Difference | None" = None
    rollout: "Rollout | None" = None


def render(
    inventory: "InventorySource",
    output: Path,
    *,
    check: bool = False,
    diff: bool = False,
    plan: bool = False,
    only: str | None = None,
    locked: bool = False,
    adopt_folder: bool = False,
    renumber: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> Rendering:
    """Render an inventory, a YAML file or a folder of them or `Layers` of several, into the bundle `output`.

    With an error nothing is written.

    With `check` nothing is written either: `stale` names the files that differ from what would be rendered, and with
    `diff` the rows are compared too. With `plan` a safe order of the switches is looked for, too. `only` is a shell
    pattern: other switches keep their files. With `locked` it is an error if the lock file would change. `renumber` is
    a plane whose numbers are allocated anew. `jobs` processes render switches, or the workers of a Dask `scheduler`,
    tcp://HOST:PORT, which read the inventory at the same path. `output` is a new or empty folder, or the bundle of this
    fabric. With `adopt_folder` it can be any folder; only files that are rendered are replaced. Raises
    UnreadableInputError for an inventory that is missing or not YAML, UsageError for another `output`, OSError if it
    cannot be written.
    """
    from fabricgen.bundle.write import BundleWriter
    from fabricgen.inventory.load import LOCK_NAME, inventory_root
    from fabricgen.render.content import BundleContent
    from fabricgen.render.on_workers import on_workers
    from fabricgen.render.plans import lock_would_change, make_plans
    from fabricgen.render.templates import TemplateProblemError

    with progress.stage("planning"):
        plans = make_plans(inventory, renumber=renumber)
    lock_file = inventory_root(inventory) / LOCK_NAME
    if locked or check:
        plans.findings += lock_would_change(plans, lock_file, needed=locked)
    places = InventoryPlaces(None, inventory, plans.fabric.inventory.node)
    outcome = outcome_of_inventory(plans.findings, plans.fabric.inventory.suppressions, places, policy)
    counts = Counts(devices=len(plans.fabric.switches), links=len(plans.fabric.links))
    planned = Rendering(findings=outcome.findings, suppressed=outcome.suppressed, counts=counts)
    if has_errors([*plans.findings, *outcome.findings]):
        return planned
    progress.step("planned", _size(plans))
    with on_workers(scheduler, inventory, renumber) as elsewhere:
        writer = None if check else BundleWriter(output, plans.fabric.inventory.fabric, adopt=adopt_folder)
        content = BundleContent(plans, only, jobs, elsewhere, writer.write if writer else None)
        try:
            if writer is None:
                with temporary_folder("check") as aside:
                    compared = diff or plan
                    stale = tuple(_stale_files(content, output, progress, aside if compared else None))
                    difference = _difference(content, output, aside) if compared else None
                    rollout = roll_out(difference, safe=True) if plan and difference is not None else None
                    return replace(planned, stale=stale, difference=difference, rollout=rollout)
            return _write(planned, content, writer, lock_file, progress, renumber)
        except TemplateProblemError as problem:
            return replace(planned, findings=(*planned.findings, problem.finding))


def _write(
    planned: Rendering,
    content: "BundleContent",
    writer: "BundleWriter",
    lock_file: Path,
    progress: Progress,
    renumber: str | None,
) -> Rendering:
    from fabricgen.allocation.lock import Lock, write_lock
    from fabricgen.allocation.refusals import changed
    from fabricgen.sonic.frr_lines import FRR_CONF

    plans, output = content.plans, writer.given
    with writer:
        for path, data in progress.track(content.made(), len(content.chosen) + 3, "rendering"):
            writer.add(path, data)
        chosen = {plans.allocation.names[switch.key] for switch in content.chosen}
        for name in content.names:
            if name not in chosen:
                writer.keep(f"{SWITCHES}{name}/config_db.json")
                if name in content.vteps:
                    writer.keep(f"{SWITCHES}{name}/{FRR_CONF}")
        inventory = plans.fabric.inventory
        gone = writer.prepare(OUTPUT_VERSION, inventory.digest, inventory.sonic.release)
        with held():
            if plans.lock_changed:
                write_lock(lock_file, plans.lock)
            writer.put_in_place(gone)
    switches, subnet_managers = (_counts(writer, gone, folder) for folder in (SWITCHES, SUBNET_MANAGERS))
    kinds = [f"{len(chosen)} config_db.json"] if chosen or not subnet_managers.files else []
    kinds += [counted(subnet_managers.files, "file") + " for subnet managers"] if subnet_managers.files else []
    progress.step("rendered", f"{' and '.join(kinds)} into {output}")
    if plans.lock_changed:
        if renumber is None:
            progress.note(f"{_growth(plans.growth)} in {lock_file}: commit it")
        else:
            old = plans.old_lock or Lock(plans.fabric.inventory.fabric)
            counts = changed(old, plans.lock, renumber).values()
            number, total = (sum(column) for column in zip((0, 0), *counts, strict=True))
            progress.note(f"renumbered {number} of {total} entries of plane {renumber} in {lock_file}: commit it")
    edited = tuple(sorted(writer.edited))
    return replace(planned, is_written=True, switches=switches, subnet_managers=subnet_managers, edited=edited)


def _growth(growth: "LockGrowth") -> str:
    """What is written into the lock file, counted as `check` counts it (FG382)."""
    words = {"allocated": growth.added, "changed": growth.changed, "removed": growth.removed}
    counts = {word: sum(map(len, entries.values())) for word, entries in words.items()}
    nouns = {"allocated": "new entry"}
    return ", ".join(f"{word} {counted(number, nouns.get(word, 'entry'))}" for word, number in counts.items() if number)


def _counts(writer: "BundleWriter", gone: Sequence[str], folder: str) -> FileCounts:
    from fabricgen.sonic.frr_lines import FRR_CONF

    return FileCounts(
        *(
            sum(path.startswith(folder) and not path.endswith(f"/{FRR_CONF}") for path in paths)
            for paths in (writer.digests, writer.changed, gone)
        )
    )


def _stale_files(content: "BundleContent", output: Path, progress: Progress, aside: Path | None) -> list[Finding]:
    """FG990 for every file on disk that differs from what would be rendered. `aside` is a folder to render into."""
    from fabricgen.bundle.manifest import NAME as MANIFEST_NAME
    from fabricgen.bundle.manifest import Manifest, digest, read_manifest
    from fabricgen.bundle.write import compare

    stale: dict[str, int] = {}
    digests = {}
    for path, data in progress.track(content.files(), len(content.chosen) + 3, "comparing"):
        digests[path] = digest(data)
        if aside is not None:
            (aside / path).parent.mkdir(parents=True, exist_ok=True)
            (aside / path).write_bytes(data)
        if not compare(output, path, data):
            stale[path] = _first_difference(output / path, data)
    inventory = content.plans.fabric.inventory
    manifest = Manifest(inventory.fabric, OUTPUT_VERSION, inventory.digest, digests, inventory.sonic.release)
    if aside is not None:
        (aside / MANIFEST_NAME).write_bytes(manifest.dump())
    if content.only is None and not compare(output, MANIFEST_NAME, manifest.dump()):
        stale[MANIFEST_NAME] = _first_difference(output / MANIFEST_NAME, manifest.dump())
    known = read_manifest(output)
    edited = {path for path in stale if known and _is_edited(output / path, known.files.get(path))}
    findings = [
        _stale(output, path, _DIFFERS + (_EDITED if path in edited else "") if line else _MISSING, line)
        for path, line in stale.items()
    ]
    return findings + _surplus_files(content, output, known.files if known else {}, digests)


def _difference(content: "BundleContent", output: Path, aside: Path) -> "Difference | None":
    """The rows of the bundle `output` that differ from those rendered in `aside`; None without a bundle."""
    from fabricgen.diff.difference import compare
    from fabricgen.diff.sides import open_side

    if not (output / "fabric.json").is_file():
        return None
    for name in {*content.names} - {content.plans.allocation.names[switch.key] for switch in content.chosen}:
        path = f"{SWITCHES}{name}/config_db.json"
        if (output / path).is_file():
            (aside / path).parent.mkdir()
            (aside / path).symlink_to((output / path).resolve())
    return compare(*(open_side(folder, InputForm.BUNDLE) for folder in (output, aside)))


def _is_edited(file: Path, rendered: str | None) -> bool:
    """Whether a file differs from the one whose sha256 is in the manifest."""
    from fabricgen.bundle.manifest import digest

    return rendered is not None and file.is_file() and digest(file.read_bytes()) != rendered


def _surplus_files(
    content: "BundleContent", output: Path, known: Mapping[str, str], rendered: Mapping[str, str]
) -> list[Finding]:
    names = set(content.names)
    folders = (output / "sonic").glob("*/config_db.json") if content.only is None else ()
    extra = sorted(str(file.relative_to(output)) for file in folders if file.parent.name not in names)
    findings = [_stale(output, path, "belongs to a switch that the inventory does not have") for path in extra]
    gone = sorted(path for path in known if path not in rendered)
    for folder, owner in ((SUBNET_MANAGERS, "subnet manager"), ("hosts/", "host")):
        problem = f"belongs to a {owner} that the inventory does not have"
        findings += [_stale(output, path, problem) for path in gone if path.startswith(folder)]
    return findings


def _first_difference(file: Path, wanted: bytes) -> int:
    """The number of the first line of a file that differs; 0 if the file does not exist."""
    if not file.is_file():
        return 0
    lines = zip_longest(file.read_bytes().splitlines(), wanted.splitlines())
    return next((number for number, (found, want) in enumerate(lines, 1) if found != want), 1)


def _stale(output: Path, path: str, problem: str, line: int = 0) -> Finding:
    device = path.split("/")[1] if path.startswith(SWITCHES) else ""
    hint = "run `fabricgen render` and commit the result"
    place = Location(str(output / path), line, 1) if line else Location(str(output / path))
    return Finding("FG990", Severity.ERROR, f"{path} {problem}", device=device, location=place, hint=hint)


def _size(plans: "Plans") -> str:
    fabric = plans.fabric
    roles = [switch.role for switch in fabric.switches]
    counts = [counted(roles.count(role), role) for role in dict.fromkeys(roles)]
    counts += [counted(len(fabric.hosts), "host"), counted(len(fabric.links), "link")]
    return f"{fabric.inventory.fabric}: {', '.join(counts)}"
