"""Validation: the rules over rendered files, and over any config_db.json."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricgen.api.isolation import CODES as ISOLATION
from fabricgen.api.isolation import prove_isolation
from fabricgen.api.judgement import (
    DEFAULT_POLICY,
    SILENT,
    Judgement,
    Judging,
    Policy,
    Progress,
    codes_of,
    lookup_in,
    open_judging,
    own_layouts,
)
from fabricgen.api.rules_on_workers import Files, on_workers
from fabricgen.api.same_inputs import SameInputs, contents_of, names_in
from fabricgen.codes import chosen
from fabricgen.engine.typed_json import dump_value, load_value
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, Severity
from fabricgen.inputs import noted
from fabricgen.platforms.entries import load_switch_platform
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.report.summary import Counts
from fabricgen.results import IsolationResult
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.api.resident import KeptVerdicts
    from fabricgen.engine.store import Store
    from fabricgen.rules.parallel import Beside, Elsewhere
    from fabricgen.rules.rule import Rule
    from fabricgen.sonic.yang import Models

SUPPRESSIONS, DEPLOYABLE = ("FG129", "FG130"), ("FG84", "FG259", "FG262")


def validate(
    paths: Sequence[Path],
    *,
    links: Path | None = None,
    lldp: Path | None = None,
    neighbors: Path | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    platforms: Sequence[Path] = (),
    yang: Path | None = None,
    deploy: bool = False,
    patch: Path | None = None,
    release: int | None = None,
    inventory: Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    cache: "Store | None" = None,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> Judgement:
    """Check files with the rules.

    `paths` are bundles, config_db.json files, folders of them, or folders with an opensm.conf. `links` (JSON), or
    `lldp` and `neighbors` (address tables), replace the links of the files. `select` and `ignore` are codes or prefixes
    of codes. `platforms` are files with platform entries, used before those of the bundle and of the catalog. `yang` is
    a folder of YANG models for an additional check with libyang. `deploy` also reports what must not be deployed:
    placeholder GUIDs, and files that differ from the manifest. It makes literal secrets an error. `patch` is an RFC
    6902 patch, or the output of `diff`; it is judged on these files instead of the rules. `release` is a SONiC release,
    YYYYMM: what its models do not have is reported. `inventory` is where the lines of inventory values are looked up.
    Rules on large fabrics run in `jobs` processes, or on the workers of a Dask `scheduler`, tcp://HOST:PORT, which read
    the files at the same paths. `cache` is a store of earlier results, which change the time only; it cannot be
    combined with `scheduler`. Raises UnreadableInputError and UsageError.
    """
    if scheduler is not None and (cache or patch):
        raise UsageError(f"--scheduler checks rules, and cannot be combined with {'--cache' if cache else '--patch'}")
    if patch is None:
        more = [("FG49",) if yang else (), ("FG45",) if release else (), DEPLOYABLE if deploy else ()]
        _require_codes(select, ignore, (*SUPPRESSIONS, *(family for families in more for family in families)))
    options = (links, lldp, neighbors, select, ignore, platforms, deploy, release, inventory)

    def judge() -> Judgement:
        return _judged(paths, *options, yang, patch, jobs, scheduler, policy, progress)

    if cache is None or yang is not None or patch is not None:
        return judge()
    given = [one for one in (*paths, lldp, neighbors) if one is not None]
    seen = contents_of(given)
    if seen is None:
        return judge()
    folders = names_in([inventory] if inventory else [])
    same = SameInputs(cache, ("validate", tuple(paths), *options, policy), seen + folders)
    if content := same.found():
        progress.step("found", "the result of an earlier run with the same inputs")
        kept: _Kept = load_value(content, _Kept)
        return Judgement(**{**vars(kept), "codes": frozenset(kept.codes)})
    with noted() as notes:
        found = judge()
    if content := dump_value(_kept_of(found), _Kept):
        same.keep(content, notes)
    return found


def _require_codes(select: Sequence[str], ignore: Sequence[str], others: Sequence[str]) -> None:
    """Raises UsageError if no code is left that `validate` can find, because a run that judges nothing does not pass.
    `others` are families of codes in addition to those of rules and of the proof of isolation."""
    from fabricgen.rules.registry import chosen_rules

    known = {*ISOLATION, *codes_of(*others)}
    if chosen_rules(select, ignore) or any(map(chosen(select, ignore), known)):
        return
    options = {"--select": select, "--ignore": ignore}
    given = " ".join(f"{option} {','.join(codes)}" for option, codes in options.items() if codes)
    raise UsageError(f"{given}: no rule is left to check; codes of simulations are those of `check` and `simulate`")


@dataclass(frozen=True)
class _Kept:
    """The fields of a judgement as they are stored."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    counts: Counts
    codes: tuple[str, ...]
    isolation: tuple[IsolationResult, ...]


def _kept_of(found: Judgement) -> _Kept:
    return _Kept(found.findings, found.suppressed, found.counts, tuple(sorted(found.codes)), found.isolation)


def _judged(
    paths: Sequence[Path],
    links: Path | None,
    lldp: Path | None,
    neighbors: Path | None,
    select: Sequence[str],
    ignore: Sequence[str],
    platforms: Sequence[Path],
    deploy: bool,
    release: int | None,
    inventory: Path | None,
    yang: Path | None,
    patch: Path | None,
    jobs: int,
    scheduler: str | None,
    policy: Policy,
    progress: Progress,
) -> Judgement:
    known = [load_switch_platform(file) for file in platforms]
    models = None
    if yang is not None:
        from fabricgen.sonic.yang import load_models

        models = load_models(yang)
        progress.step("loaded", f"YANG models of {len(models.tables)} tables")
    judging = open_judging(paths, links, lldp, policy, neighbors)
    if patch is not None:
        from fabricgen.api.patches import judge_patch

        judge_patch(judging, patch, select, ignore)
        return _judgement(judging, inventory)
    devices = counted(judging.counts.devices, "device")
    files = Files(tuple(paths), links, lldp, tuple(platforms), neighbors)
    with on_workers(scheduler, files) as elsewhere:
        apply_rules(judging, select, ignore, known, progress, jobs, elsewhere=elsewhere)
    progress.step("validated", f"{devices} by {counted(judging.rules, 'rule')}")
    isolation = prove_isolation(judging, select, ignore, progress)
    if models is not None:
        _apply_yang(judging, models, select, ignore)
        progress.step("validated", f"{devices} by libyang")
    if release is not None:
        from fabricgen.rules.schema.release import of_release

        judging.findings += of_release(judging.bundle, release, select, ignore)
        judging.codes |= codes_of("FG45")
    if deploy:
        _require_deployable(judging, paths, select, ignore)
    return _judgement(judging, inventory, isolation)


def _judgement(judging: Judging, inventory: Path | None, isolation: tuple[IsolationResult, ...] = ()) -> Judgement:
    return Judgement(**judging.judged(judging.outcome(inventory)), isolation=isolation)


def apply_rules(
    judging: Judging,
    select: Sequence[str],
    ignore: Sequence[str],
    platforms: Iterable[SwitchPlatform],
    progress: Progress = SILENT,
    jobs: int = 1,
    kept: "KeptVerdicts | None" = None,
    elsewhere: "Elsewhere | None" = None,
    beside: "Beside[Any] | None" = None,
) -> None:
    """Add the findings of the chosen rules. `platforms` are used before those of the bundle and of the catalog.
    `elsewhere` checks the rules on other machines; `beside` is done by a process beside those that check rules here."""
    from fabricgen.bundle.forgetful import forgetful
    from fabricgen.rules.parallel import checked
    from fabricgen.rules.registry import chosen_rules
    from fabricgen.rules.run import run
    from fabricgen.rules.turns import are_forgotten

    own = own_layouts(judging.bundle, platforms)

    def tracked(rules: "Sequence[Rule]") -> "Iterable[Rule]":
        return progress.track(rules, len(rules), "validating")

    rules = chosen_rules(select, ignore)
    layout = lookup_in(own)
    if kept is None and are_forgotten(len(judging.bundle.devices)):
        judging.bundle = forgetful(judging.bundle)
    prepare = (
        kept.rules(layout, own).prepare if kept else partial(checked, jobs=jobs, elsewhere=elsewhere, beside=beside)
    )
    judging.findings += run(judging.bundle, select, ignore, layout, judging.suppressions, tracked, prepare)
    judging.rules = len(rules)
    judging.codes |= {rule.code for rule in rules}


def _apply_yang(judging: Judging, models: "Models", select: Sequence[str], ignore: Sequence[str]) -> None:
    """Merge the findings of libyang into those of the rules."""
    from fabricgen.rules.schema.yang import with_yang

    judging.findings = with_yang(judging.findings, judging.bundle, models, select, ignore)
    judging.codes |= codes_of("FG49")


def _require_deployable(judging: Judging, paths: Sequence[Path], select: Sequence[str], ignore: Sequence[str]) -> None:
    """Add what must not be deployed, if its code is selected."""
    from fabricgen.rules.bundle.completeness import not_as_rendered
    from fabricgen.rules.bundle.identity import without_mac
    from fabricgen.rules.bundle.secrets import CODE as LITERAL_SECRET
    from fabricgen.rules.opensm.deployable import not_deployable

    bundle, is_chosen = judging.bundle, chosen(select, ignore)
    found = (*not_deployable(paths, bundle.wiring), *not_as_rendered(bundle), *without_mac(bundle))
    judging.findings += [finding for finding in found if is_chosen(finding.code)]
    judging.codes |= codes_of(*DEPLOYABLE)
    judging.findings = [
        replace(one, severity=Severity.ERROR) if one.code == LITERAL_SECRET else one for one in judging.findings
    ]
