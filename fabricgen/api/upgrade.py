"""What an upgrade of SONiC changes in rendered files: before the switches boot the new release, and after it."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.aside import render_aside
from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, Progress, open_judging
from fabricgen.api.places import InventoryPlaces
from fabricgen.api.rendering import SWITCHES
from fabricgen.atomic import temporary_folder
from fabricgen.bundle.manifest import NAME as MANIFEST_NAME
from fabricgen.bundle.manifest import read_manifest
from fabricgen.findings import Finding, Location, Severity, has_errors, in_order
from fabricgen.observed.running import bundle_files, is_bundle
from fabricgen.report.anchors import anchored
from fabricgen.sonic.tables import ConfigDb
from fabricgen.vocabulary import InputForm

if TYPE_CHECKING:
    from fabricgen.diff.difference import Difference
    from fabricgen.diff.sides import Side
    from fabricgen.diff.upgrade import Upgrade


@contextmanager
def upgrade(
    source: Path, old: int, new: int, progress: Progress = SILENT, templates: Path | None = None
) -> "Iterator[Upgrade]":
    """The upgrade of an inventory, rendered for both releases, or of a bundle: what each release knows of its files.
    `templates` replace those of fabricgen where an inventory is rendered.

    Nothing is written beside `source`; the files that are compared exist inside the `with` block. Raises
    UnreadableInputError.
    """
    from fabricgen.diff.upgrade import Upgrade

    with temporary_folder("upgrade") as aside:
        folders = [aside / name for name in ("old", "between", "new")]
        make = _moved if is_bundle(source) else partial(_rendered, templates=templates)
        with progress.stage("rendering"):
            findings = [*make(source, folders[0], old), *make(source, folders[2], new)]
        if has_errors(findings):
            yield Upgrade(source, (old, new), tuple(in_order(findings)))
            return
        _reduced(folders[0], folders[1], new)
        findings += _lost(source, folders[0], new)
        with progress.stage("comparing"):
            whole, phases = _compared([_side(folders[0], old), _side(folders[1], new), _side(folders[2], new)])
        yield Upgrade(source, (old, new), tuple(in_order(findings)), whole, phases)


def _compared(sides: "list[Side]") -> "tuple[Difference, Mapping[str, Difference]]":
    from fabricgen.diff.difference import compare

    old, between, new = sides
    phases = {"before": compare(old, between), "after": compare(between, new)}
    return compare(replace(old, release=new.release), new), phases


def _side(folder: Path, release: int) -> "Side":
    from fabricgen.diff.sides import open_side

    return replace(open_side(folder, InputForm.BUNDLE), release=release)


def _rendered(inventory: Path, folder: Path, release: int, templates: Path | None) -> list[Finding]:
    """The inventory rendered for a release into `folder`; the errors that prevent it."""
    from fabricgen.inventory.read_files import Layers
    from fabricgen.sonic.release_models import release_word

    source = Layers((inventory,), (f"sonic.release={release_word(release)}",), templates)
    aside = render_aside(source, folder)
    if aside.is_rendered:
        return []
    return [one for one in (*aside.outcome.findings, *aside.plans.findings) if one.severity is Severity.ERROR]


def _moved(bundle: Path, folder: Path, release: int) -> list[Finding]:
    """A copy of a bundle whose switches have what a release knows of their files, with its pools and headroom."""
    from fabricgen.diff.lookup import at_release

    _reduced(bundle, folder, release, at_release)
    return []


def _reduced(
    bundle: Path, folder: Path, release: int, changed: Callable[[ConfigDb, int], ConfigDb] = lambda config, _: config
) -> None:
    """A copy of a bundle whose switches have what a release knows of their files."""
    from fabricgen.diff.difference import load_tables
    from fabricgen.sonic.dump import dump
    from fabricgen.sonic.load import TableLoader
    from fabricgen.sonic.release_models import as_known_to

    loader = TableLoader()
    shutil.copytree(bundle, folder, ignore=shutil.ignore_patterns(SWITCHES.rstrip("/")))
    for name, file in bundle_files(bundle).items():
        reduced = folder / SWITCHES / name / file.name
        reduced.parent.mkdir(parents=True)
        reduced.write_bytes(dump(changed(as_known_to(load_tables(file, loader), release), release)))
    if manifest := read_manifest(bundle):
        (folder / MANIFEST_NAME).write_bytes(replace(manifest, sonic_release=release).dump())


def _lost(source: Path, rendered: Path, release: int) -> list[Finding]:
    """What the new release does not support of the old files."""
    from fabricgen.inventory.read_files import inventory_files
    from fabricgen.rules.schema.release import of_release

    judging = open_judging([source if is_bundle(source) else rendered], None, None, DEFAULT_POLICY)
    judging.findings += of_release(judging.bundle, release)
    judging.codes |= {finding.code for finding in judging.findings}
    if is_bundle(source):
        return [*judging.outcome(None).findings]
    places, whole = InventoryPlaces(None, source), Location(str(inventory_files(source)[0]), 1, 1)
    return [anchored(one, str(rendered), places, whole) for one in judging.outcome_at(places).findings]
