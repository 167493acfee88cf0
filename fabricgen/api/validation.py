"""Validation: the rules over rendered files, and over any config_db.json."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Judging, Policy, Progress, codes_of, open_judging
from fabricgen.api.remembering import memory_of
from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.findings import Severity
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.entries import load_switch_platform
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.api.remembering import Memory
    from fabricgen.api.resident import ResidentMemory
    from fabricgen.cache import Store
    from fabricgen.rules.parallel import Elsewhere
    from fabricgen.rules.rule import Rule
    from fabricgen.rules.view.fabric import LayoutLookup
    from fabricgen.sonic.yang import Models

Layouts = Mapping[str, tuple[SwitchPlatform, Layout]]  # by hwsku


def validate(
    paths: Sequence[Path],
    *,
    links: Path | None = None,
    lldp: Path | None = None,
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

    `paths` are bundles, config_db.json files, folders of them, or folders with an opensm.conf. `links` (JSON) or `lldp`
    replace the links of the files. `select` and `ignore` are codes or prefixes of codes. `platforms` are files with
    platform entries, used before those of the bundle and of the catalog. `yang` is a folder of YANG models for an
    additional check with libyang. `deploy` also reports what must not be deployed: placeholder GUIDs, and files that
    differ from the manifest. It makes literal secrets an error. `patch` is an RFC 6902 patch, or the output of `diff`;
    it is judged on these files instead of the rules. `release` is a SONiC release, YYYYMM: what its models do not have
    is reported. `inventory` is where the lines of inventory values are looked up. Rules on large fabrics run in `jobs`
    processes, or on the workers of a Dask `scheduler`, tcp://HOST:PORT, which read the files at the same paths. `cache`
    is a store of earlier results, which change the time only; it cannot be combined with `scheduler`. Raises
    UnreadableInputError and UsageError.
    """
    if scheduler is not None and (cache or patch):
        raise UsageError(f"--scheduler checks rules, and cannot be combined with {'--cache' if cache else '--patch'}")
    known = [load_switch_platform(file) for file in platforms]
    models = None
    if yang is not None:
        from fabricgen.sonic.yang import load_models

        models = load_models(yang)
        progress.step("loaded", f"YANG models of {len(models.tables)} tables")
    judging = open_judging(paths, links, lldp, policy)
    if patch is not None:
        from fabricgen.api.patches import judge_patch

        judge_patch(judging, patch, select, ignore)
        return _judgement(judging, inventory)
    devices = counted(len(judging.bundle.devices), "device")
    memory = memory_of(cache, judging)
    with nullcontext() if scheduler is None else _on_workers(scheduler, paths, links, lldp, platforms) as elsewhere:
        apply_rules(judging, select, ignore, known, progress, jobs, memory, elsewhere)
    progress.step("validated", f"{devices} by {counted(judging.rules, 'rule')}")
    if models is not None:
        _apply_yang(judging, models, select, ignore)
        progress.step("validated", f"{devices} by libyang")
    if release is not None:
        from fabricgen.rules.schema.release import of_release

        judging.findings += of_release(judging.bundle, release, select, ignore)
        judging.codes |= codes_of("FG45")
    if deploy:
        _require_deployable(judging, paths, select, ignore)
    if memory:
        memory.finish()
    return _judgement(judging, inventory)


def _on_workers(
    url: str, paths: Sequence[Path], links: Path | None, lldp: Path | None, platforms: Iterable[Path]
) -> "AbstractContextManager[Elsewhere]":
    from fabricgen.api.rules_on_workers import Files, on_workers

    return on_workers(url, Files(tuple(paths), links, lldp, tuple(platforms)))


def _judgement(judging: Judging, inventory: Path | None) -> Judgement:
    outcome = judging.outcome(inventory)
    return Judgement(
        findings=outcome.findings,
        suppressed=outcome.suppressed,
        counts=judging.counts,
        codes=frozenset(judging.codes),
    )


def apply_rules(
    judging: Judging,
    select: Sequence[str],
    ignore: Sequence[str],
    platforms: Iterable[SwitchPlatform],
    progress: Progress = SILENT,
    jobs: int = 1,
    memory: "Memory | ResidentMemory | None" = None,
    elsewhere: "Elsewhere | None" = None,
) -> None:
    """Add the findings of the chosen rules. `platforms` are used before those of the bundle and of the catalog.
    `elsewhere` checks the rules on other machines."""
    from fabricgen.bundle.forgetful import forgetful
    from fabricgen.rules.parallel import checked
    from fabricgen.rules.registry import chosen_rules
    from fabricgen.rules.run import run

    own = own_layouts(judging.bundle, platforms)

    def tracked(rules: "Sequence[Rule]") -> "Iterable[Rule]":
        return progress.track(rules, len(rules), "validating")

    rules = chosen_rules(select, ignore)
    layout = lookup_in(own)
    remembered = memory.rules(layout, own) if memory else None
    if memory is None:
        judging.bundle = forgetful(judging.bundle)
    prepare = remembered.prepare if remembered else partial(checked, jobs=jobs, elsewhere=elsewhere)
    routed = None if memory or judging.bundle.cabling else judging.routed  # a memory notes what each judge reads
    judging.findings += run(judging.bundle, select, ignore, layout, judging.suppressions, tracked, prepare, routed)
    judging.rules = len(rules)
    judging.codes |= {rule.code for rule in rules}


def own_layouts(bundle: Bundle, platforms: Iterable[SwitchPlatform]) -> Layouts:
    """The layouts that are used before those of the catalog: of `platforms`, then of the bundle."""
    known = [*map(load_switch_platform, bundle.platform_files), *platforms]
    return {layout.hwsku: (platform, layout) for platform in known for layout in platform.layouts}


def lookup_in(own: Layouts) -> "LayoutLookup":
    """The look-up of a layout by hwsku: in `own`, then in the catalog."""
    return lambda hwsku: own.get(hwsku) or layout_by_hwsku(hwsku)


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

    wanted, unwanted = tuple(map(str.upper, select)) or ("",), tuple(map(str.upper, ignore))
    bundle = judging.bundle
    found = (*not_deployable(paths, bundle.wiring), *not_as_rendered(bundle), *without_mac(bundle))
    judging.findings += [
        finding for finding in found if finding.code.startswith(wanted) and not finding.code.startswith(unwanted)
    ]
    judging.codes |= codes_of("FG84", "FG259", "FG262")
    judging.findings = [
        replace(one, severity=Severity.ERROR) if one.code == LITERAL_SECRET else one for one in judging.findings
    ]
