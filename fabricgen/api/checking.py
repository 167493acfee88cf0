"""The pre-merge check: render an inventory, then judge what was rendered."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from fabricgen.api.against import Changes, compare_with, moves_of, require_bundle
from fabricgen.api.aside import render_aside
from fabricgen.api.judgement import (
    DEFAULT_POLICY,
    INVENTORY_FAMILIES,
    SILENT,
    Judgement,
    Judging,
    Policy,
    Progress,
    codes_of,
    open_judging,
)
from fabricgen.api.verdicts import Wanted, judge_all
from fabricgen.atomic import temporary_folder
from fabricgen.engine.typed_json import dump_value, load_value
from fabricgen.findings import Finding, Location
from fabricgen.inputs import noted
from fabricgen.report.anchors import anchored
from fabricgen.report.outcome import Outcome
from fabricgen.report.summary import Counts
from fabricgen.results import CongestionResult, DeadlockResult, IsolationResult, without_evidence
from fabricgen.sonic.secrets import is_secret_path, masked
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.api.places import InventoryPlaces
    from fabricgen.api.resident import Resident
    from fabricgen.engine.store import Store
    from fabricgen.inventory.read_files import InventorySource


@dataclass(frozen=True, kw_only=True)
class Check(Judgement):
    """All findings, and the results by plane, worst first.

    `is_complete` is False if errors in the inventory, or in a template, prevented the rendering. `subnets` are the
    choices for InfiniBand planes: name, LIDs, routing engine. `seals` are the digests of the certificates by plane, if
    they were requested. `added` are the entries of the lock file that `render` would add, by section, and `changes`
    compares the rendering with a bundle.
    """

    is_complete: bool = False
    added: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    changes: Changes | None = None
    deadlock: tuple[DeadlockResult, ...] = ()
    congestion: tuple[CongestionResult, ...] = ()
    subnets: tuple[Mapping[str, object], ...] = ()
    seals: Mapping[str, str] = field(default_factory=dict)


def check(
    inventory: "InventorySource",
    *,
    bundle: Path | None = None,
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    jobs: int = 1,
    at_inventory: bool = False,
    locked: bool = False,
    against: Path | None = None,
    cache: "Store | None" = None,
    resident: "Resident | None" = None,
    seals: bool = False,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> Check:
    """Render an inventory into a temporary bundle, validate it, prove it free of deadlock, and analyse congestion.

    The inventory, a path or `Layers` of several, and its lock file are not changed. `bundle` is a new folder to render
    into, whose files the findings name; without it the folder is removed, and findings name files relative to it. With
    `at_inventory` the location of a finding is the inventory value that causes it. `select` and `ignore` choose rules,
    as for `validate`. The failures to prove are those of `checks:` of the inventory. Numbers that the lock file does
    not have yet are allocated in memory; with `locked` that is an error. `against` is a bundle to compare devices and
    cables with. With `seals` the result has the digests of the certificates. `cache` is a store of earlier results,
    which do not change the result: if an earlier run has read the same inputs, nothing is rendered. Then, and with
    several `jobs`, the deadlock results have no evidence. `resident` is what this process keeps of earlier checks of
    the inventory, in its own `bundle`; with it, `cache` is not used. Raises UnreadableInputError and UsageError.
    """
    if against is not None:
        require_bundle(against)
    how = How(
        Wanted(select, ignore, jobs=jobs, evidence=seals, plain=True),
        at_inventory,
        locked,
        against,
        policy,
        progress,
        resident,
        None if resident else cache,
    )
    if resident is not None:
        return check_in(inventory, resident.folder, how)[0]
    if bundle is not None:
        return _checked(inventory, bundle, how)
    with temporary_folder("check") as aside:
        folder = aside / "bundle"
        found = _checked(inventory, folder, how)
        findings, suppressed = (
            tuple(_relative(one, f"{folder}/") for one in each) for each in (found.findings, found.suppressed)
        )
        return replace(found, findings=findings, suppressed=suppressed)


@dataclass(frozen=True)
class How:
    """The options of a check."""

    wanted: Wanted = field(default_factory=Wanted)
    at_inventory: bool = False
    locked: bool = False
    against: Path | None = None
    policy: Policy = DEFAULT_POLICY
    progress: Progress = SILENT
    resident: "Resident | None" = None
    cache: "Store | None" = None


def _checked(inventory: "InventorySource", folder: Path, how: How) -> Check:
    """`check_in`, or the result of an earlier run with the same inputs."""
    wanted = how.wanted
    if how.cache is None or how.against is not None:
        return check_in(inventory, folder, how)[0]
    from fabricgen.api.same_inputs import SameInputs, names_in
    from fabricgen.inventory.read_files import inventory_layers, inventory_root

    about = (inventory, wanted.select, wanted.ignore, wanted.evidence, how.at_inventory, how.locked, how.policy)
    sources = inventory_layers(inventory).inventories
    same = SameInputs(how.cache, ("check", *about), names_in(map(inventory_root, sources)))
    if content := same.found():
        how.progress.step("found", "the result of an earlier run with the same inputs")
        return _loaded(content, folder)
    with noted(folder) as notes:
        found = check_in(inventory, folder, how)[0]
    if kept := _dumped(found, folder):
        same.keep(kept, notes)
    return found


@dataclass(frozen=True)
class _Kept:
    """The fields of a check that are kept."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    counts: Counts
    codes: tuple[str, ...]
    is_complete: bool
    added: Mapping[str, Mapping[str, Any]]
    deadlock: tuple[DeadlockResult, ...]
    congestion: tuple[CongestionResult, ...]
    isolation: tuple[IsolationResult, ...]
    seals: Mapping[str, str]


@dataclass(frozen=True)
class _Entry:
    """A check, and the lines of rendered files that its findings show: path in the rendering -> line number -> text."""

    check: _Kept
    lines: Mapping[str, Mapping[int, str]]


_LONGEST_LINE = 1024
_FOLDER = b"\\u0000folder"  # in place of the folder of the rendering; no text of a finding has this character


def _dumped(found: Check, folder: Path) -> bytes | None:
    """A check rendered into a folder as it is stored; None if it has parts that cannot be read back.

    Results on InfiniBand planes depend on the OpenSM that is installed, and are not stored.
    """
    lines = _lines(found.findings, folder)
    if found.subnets or lines is None:
        return None
    kept = {name: getattr(found, name) for name in _Kept.__dataclass_fields__}
    plain = tuple(map(without_evidence, found.deadlock))
    entry = _Entry(_Kept(**{**kept, "codes": tuple(sorted(found.codes)), "deadlock": plain}), lines)
    content = dump_value(entry, _Entry)
    return content.replace(_quoted(folder), _FOLDER) if content and _FOLDER not in content else None


def _loaded(content: bytes, folder: Path) -> Check:
    """The check as if it had been rendered into a folder, which then has the lines that findings show."""
    entry: _Entry = load_value(content.replace(_FOLDER, _quoted(folder)), _Entry)
    for path, lines in entry.lines.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines.get(number, "") for number in range(1, max(lines) + 1)), "utf-8")
    kept = {name: getattr(entry.check, name) for name in _Kept.__dataclass_fields__}
    return Check(**{**kept, "codes": frozenset(entry.check.codes)})


def _quoted(folder: Path) -> bytes:
    return orjson.dumps(str(folder))[1:-1]


def _lines(findings: Iterable[Finding], folder: Path) -> dict[str, dict[int, str]] | None:
    """The lines of rendered files at which findings are; None if one may have a secret, or cannot be shown."""
    found: dict[str, dict[int, str]] = {}
    texts = cache(lambda file: file.read_text("utf-8", "replace").splitlines())
    for one in findings:
        place = one.location
        if place is None or not Path(place.file).is_relative_to(folder) or is_secret_path(one.path):
            continue
        try:
            line = texts(Path(place.file))[place.line - 1]
        except (OSError, IndexError):
            return None
        if len(line) > _LONGEST_LINE or masked(line) != line:
            return None
        found.setdefault(str(Path(place.file).relative_to(folder)), {})[place.line] = line
    return found


def check_in(inventory: "InventorySource", folder: Path, how: How) -> tuple[Check, Judging | None]:
    """`check` in a new `folder`, and what was judged there; None if it was not rendered."""
    progress, resident = how.progress, how.resident
    aside = render_aside(
        inventory,
        folder,
        locked=how.locked,
        jobs=how.wanted.jobs,
        policy=how.policy,
        progress=progress,
        last=resident.last if resident else None,
    )
    plans, places, outcome = aside.plans, aside.places, aside.outcome
    subnets = tuple({"name": name, **subnet.choice} for name, subnet in plans.subnets.items())
    codes = codes_of(*INVENTORY_FAMILIES)
    if not aside.is_rendered:
        counts = Counts(devices=len(plans.fabric.switches), links=len(plans.fabric.links))
        found = Check(
            findings=outcome.findings, suppressed=outcome.suppressed, counts=counts, codes=codes, subnets=subnets
        )
        return found, None
    progress.step("rendered", f"{counted(len(plans.fabric.switches), 'device')} into a temporary folder")
    platforms = [switch.platform for switch in plans.rendered.switches]
    added = plans.growth.added if plans.old_lock else {}
    planned, findings = plans.fabric.inventory, plans.findings
    del aside, plans  # of thousands of switches they are a fifth of the memory
    judging = resident.open(how.policy) if resident else open_judging([folder], None, None, how.policy)
    kept = resident.verdicts if resident else None
    verdicts = judge_all(judging, replace(how.wanted, platforms=platforms, kept=kept), progress)
    judging.codes |= codes
    changes = compare_with(how.against, folder, judging.bundle) if how.against else None
    moves = moves_of(changes, planned, inventory, judging.bundle) if changes else []
    outcome = judging.outcome_at(places, [*findings, *moves])
    if how.at_inventory:
        outcome = _anchored(outcome, folder, places, inventory)
    found = Check(
        **judging.judged(outcome),
        is_complete=True,
        added=added,
        changes=changes,
        isolation=tuple(verdicts.isolation),
        deadlock=tuple(verdicts.deadlock),
        congestion=tuple(verdicts.congestion),
        subnets=subnets,
        seals=verdicts.seals,
    )
    return found, judging


def _anchored(outcome: Outcome, folder: Path, places: "InventoryPlaces", inventory: "InventorySource") -> Outcome:
    """Findings at inventory values: the rendered files are temporary."""
    from fabricgen.inventory.load import inventory_files

    whole = Location(str(inventory_files(inventory)[0]), 1, 1)
    findings, suppressed = (
        tuple(anchored(one, str(folder), places, whole) for one in those)
        for those in (outcome.findings, outcome.suppressed)
    )
    return Outcome(findings, suppressed)


def _relative(one: Finding, folder: str) -> Finding:
    """The finding without the path of the temporary folder in its texts and places."""

    def place(location: Location) -> Location:
        return replace(location, file=location.file.removeprefix(folder))

    related = tuple(
        replace(each, message=each.message.replace(folder, ""), location=place(each.location)) for each in one.related
    )
    return replace(
        one,
        message=one.message.replace(folder, ""),
        hint=one.hint.replace(folder, ""),
        location=place(one.location) if one.location else None,
        related=related,
    )
