"""The report: all verdicts on a bundle or an inventory, as one object that the page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabricgen.api.against import Changes, compare_with, require_bundle
from fabricgen.api.checking import How, check_in
from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Judgement, Judging, Policy, Progress, open_judging
from fabricgen.api.verdicts import Wanted, judge_all
from fabricgen.atomic import temporary_folder
from fabricgen.bundle.manifest import read_manifest
from fabricgen.bundle.names import CONFIG_NAME
from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.inventory.read_files import InventorySource, inventory_layers, inventory_path
from fabricgen.results import CongestionResult, DeadlockResult

_OF_BUNDLES = ("fabric.json", "manifest.json", CONFIG_NAME, OPTIONS_NAME, f"*/{CONFIG_NAME}", "infiniband/*/")


@dataclass(frozen=True, kw_only=True)
class Report(Judgement):
    """The findings and the results by plane, worst first. `content` is all that the page shows, `seals` are the digests
    of the certificates by plane. `folder` is the temporary bundle of an inventory, whose path the texts contain; "" for
    a bundle."""

    content: Mapping[str, Any]
    deadlock: Sequence[DeadlockResult] = ()
    congestion: Sequence[CongestionResult] = ()
    seals: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""


def report(
    source: InventorySource,
    *,
    against: Path | None = None,
    patterns: Sequence[str] = (),
    failures: int | None = None,
    inventory: Path | None = None,
    series: Sequence[Path] = (),
    links: Path | None = None,
    lldp: Path | None = None,
    neighbors: Path | None = None,
    jobs: int = 1,
    policy: Policy = DEFAULT_POLICY,
    progress: Progress = SILENT,
) -> Report:
    """Judge a bundle, other files with a config_db.json, or an inventory (or layers of it), which is rendered into a
    temporary folder.

    `against` is a bundle to compare with. `patterns` are names of traffic patterns, by default ring-all-reduce.
    `failures` is how many links fail at a time, by default as the inventory says. `inventory` is where the lines of
    inventory values of a bundle are looked up. `series` are folders of `simulate packets --series`, whose runs are
    shown. `links`, `lldp` and `neighbors` replace the cables of a bundle, as for `validate`. Raises
    UnreadableInputError and UsageError.
    """
    from fabricgen.page.packets import packet_runs
    from fabricgen.simulate.patterns import check_pattern

    files = files_of(source)
    for pattern in patterns:
        check_pattern(pattern)
    if against is not None:
        require_bundle(against)
    runs = packet_runs(series)
    wanted = Wanted(patterns=patterns, depth=failures, jobs=jobs, outages=True)
    if files is not None:
        if against is not None:
            require_bundle(files)
        opened = open_judging([files], links, lldp, policy, neighbors)
        return _of_bundle(opened, files, inventory, against, runs, wanted, progress)
    if links or lldp or neighbors:
        raise UsageError("--links, --lldp and --neighbors are for bundles and other files of switches")
    with temporary_folder("report") as aside:
        folder = aside / "bundle"
        found, judging = check_in(source, folder, How(wanted, against=against, policy=policy, progress=progress))
        name = inventory_path(source).stem
        return _report(found, judging, folder, found.changes, name, runs, found.deadlock, found.congestion)


def files_of(source: InventorySource) -> Path | None:
    """The bundle, or other files of switches, that a source names; None for an inventory. Templates concern inventories
    only.

    Raises UnreadableInputError for a missing path, UsageError for a layer that is not an inventory.
    """
    layers = inventory_layers(source)
    is_one = not layers.inventories[1:] and not layers.settings
    for path in layers.inventories:
        if not path.exists():
            raise UnreadableInputError("no such file or folder", Location(str(path)))
        if is_judged_as_it_is(path):
            if is_one:
                return path
            raise UsageError(f"{path} is not an inventory: it is reported alone, without --set")
    return None


def is_judged_as_it_is(source: Path) -> bool:
    """Whether a path is a bundle, or has files of switches or of subnet managers; otherwise it is an inventory."""
    if source.is_file():
        return source.suffix not in (".yaml", ".yml")
    return any(next(source.glob(pattern), None) for pattern in _OF_BUNDLES)


def _of_bundle(
    judging: Judging,
    source: Path,
    inventory: Path | None,
    against: Path | None,
    runs: Sequence[Mapping[str, Any]],
    wanted: Wanted,
    progress: Progress,
) -> Report:
    verdicts = judge_all(judging, wanted, progress)
    changes = compare_with(against, source, judging.bundle) if against else None
    found = Judgement(**judging.judged(judging.outcome(inventory)), isolation=tuple(verdicts.isolation))
    made = _report(found, judging, source, changes, source.name, runs, verdicts.deadlock, verdicts.congestion)
    return replace(made, folder="")


def _report(
    found: Judgement,
    judging: Judging | None,
    folder: Path,
    changes: Changes | None,
    name: str,
    runs: Sequence[Mapping[str, Any]],
    deadlock: Sequence[DeadlockResult],
    congestion: Sequence[CongestionResult],
) -> Report:
    from fabricgen.page.differences import differences_object
    from fabricgen.page.report import report_object
    from fabricgen.page.verdict import JudgedResults
    from fabricgen.simulate.deadlock.certificate import seals

    judged = JudgedResults(
        findings=found.findings,
        suppressed=found.suppressed,
        counts=found.counts,
        is_complete=judging is not None,
        isolation=found.isolation,
        deadlock=deadlock,
        congestion=congestion,
        packets=runs,
        digests=seals(deadlock),
        not_judged=[f"{one}, as the inventory says" for one in judging.counts.out_of_service] if judging else (),
        other_fabric=changes.other_fabric if changes else "",
    )
    manifest = read_manifest(folder) if folder.is_dir() else None
    differences = differences_object(str(changes.bundle), changes.difference, changes.cables) if changes else None
    content = report_object(judged, judging.bundle if judging else None, manifest, differences, name)
    return Report(
        findings=found.findings, suppressed=found.suppressed, counts=found.counts, codes=found.codes, content=content,
        isolation=found.isolation, deadlock=deadlock, congestion=congestion, seals=judged.digests, folder=f"{folder}/",
    )  # fmt: skip
