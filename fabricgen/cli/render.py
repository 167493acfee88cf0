"""`fabricgen render`: an inventory into a bundle."""

import sys
from itertools import zip_longest
from pathlib import Path

import click

from fabricgen import OUTPUT_VERSION
from fabricgen.allocation.lock import write_lock
from fabricgen.bundle.manifest import NAME as MANIFEST_NAME
from fabricgen.bundle.manifest import Manifest, digest, read_manifest
from fabricgen.bundle.write import BundleWriter, compare
from fabricgen.cli.clock import Clock
from fabricgen.cli.judge import told_of_inventory
from fabricgen.cli.output import exit_code, print_result
from fabricgen.cli.places import InventoryPlaces
from fabricgen.cli.settings import Settings, interactive, verb
from fabricgen.cli.streams import tell
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, Location, Severity, has_errors
from fabricgen.inventory.load import LOCK_NAME, inventory_root
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import Plans, lock_would_change, make_plans
from fabricgen.render.templates import TemplateProblemError
from fabricgen.report.formats.concise import concise_report
from fabricgen.report.summary import Counts
from fabricgen.units import counted


@click.command("render")
@click.argument("inventory", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    envvar="FABRICGEN_OUTPUT",
    help="Folder of the bundle.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the bundle is not what would be rendered.")
@click.option("--only", metavar="GLOB", help="Render the switches with such names, keep the others.")
@click.option(
    "--templates", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder that overlays templates."
)
@click.option("--locked", is_flag=True, help="Fail if the lock file would change.")
@verb
def command(
    settings: Settings,
    inventory: Path,
    output: Path,
    check: bool,
    only: str | None,
    templates: Path | None,
    locked: bool,
) -> int:
    """Render INVENTORY, a YAML file or a folder of them."""
    clock = Clock(settings)
    plans = make_plans(inventory)
    if locked or check:
        plans.findings += lock_would_change(plans, inventory_root(inventory) / LOCK_NAME, needed=locked)
    places = InventoryPlaces(None, inventory, plans.fabric.inventory.node)
    outcome = told_of_inventory(settings, plans.findings, plans.fabric.inventory.suppressions, places)
    if has_errors([*plans.findings, *outcome.findings]):
        print_result(settings, outcome.findings, _counts(plans), fmt="text", output=None, suppressed=outcome.suppressed)
        return exit_code(outcome.findings, "error")
    if outcome.findings:
        settings.say(concise_report(outcome.findings, settings.paints(sys.stderr)).rstrip("\n"))
    clock.lap("planned", _size(plans))
    content = BundleContent(plans, templates, only, settings.jobs)
    try:
        if check:
            return _check(settings, content, output)
        _write(settings, clock, inventory, plans, content, output)
    except TemplateProblemError as problem:
        print_result(settings, [problem.finding], _counts(plans), fmt="text", output=None)
        return 1
    return 0


def _write(
    settings: Settings, clock: Clock, inventory: Path, plans: Plans, content: BundleContent, output: Path
) -> None:
    fabric = plans.fabric.inventory
    known = read_manifest(output)
    if content.only is not None and known is not None and known.fabric != fabric.fabric:
        raise UsageError(
            f"{output} is a bundle of fabric {known.fabric!r}, this inventory is {fabric.fabric!r}: --only refused"
        )
    with BundleWriter(output) as writer:
        files = content.files()
        if interactive() and not settings.quiet:
            with click.progressbar(files, length=len(content.chosen) + 3, label="rendering", file=sys.stderr) as bar:
                for path, data in bar:
                    writer.add(path, data)
        else:
            for path, data in files:
                writer.add(path, data)
        chosen = {plans.allocation.names[switch.key] for switch in content.chosen}
        for name in content.names:
            if name not in chosen:
                writer.keep(f"sonic/{name}/config_db.json")
        if plans.lock_changed:
            lock_file = inventory_root(inventory) / LOCK_NAME
            write_lock(lock_file, plans.lock)
            new = plans.lock.entries() - (plans.old_lock.entries() if plans.old_lock else 0)
            clock.lap("allocated", f"{new} new entries in {lock_file}: commit it")
        gone = writer.commit(fabric.fabric, OUTPUT_VERSION, fabric.digest)
    clock.lap("rendered", f"{len(chosen)} config_db.json into {output}")
    if known is not None and known.fabric != fabric.fabric:
        settings.say(
            f"warning: {output} was the bundle of another fabric, {known.fabric!r}, and is now that of this one"
        )
    told = [
        _told("sonic/", ("device", "devices"), writer, gone),
        _told("infiniband/", ("file for subnet managers", "files for subnet managers"), writer, gone),
    ]
    tell(f"{'; '.join(filter(None, told))}. Next: fabricgen validate {output}")


def _told(folder: str, nouns: tuple[str, str], writer: BundleWriter, gone: list[str]) -> str:
    """'4 devices: 1 changed, 3 unchanged, 0 removed'; "" where there are none and never were."""
    files, changed, removed = (
        sum(path.startswith(folder) for path in paths) for paths in (writer.digests, writer.changed, gone)
    )
    told = f"{counted(files, *nouns)}: {changed} changed, {files - changed} unchanged, {removed} removed"
    return told if files or removed else ""


def _check(settings: Settings, content: BundleContent, output: Path) -> int:
    """Name every file that is not on disk as it would be rendered."""
    stale: dict[str, int] = {}
    digests = {}
    for path, data in content.files():
        digests[path] = digest(data)
        if not compare(output, path, data):
            stale[path] = _first_difference(output / path, data)
    inventory = content.plans.fabric.inventory
    manifest = Manifest(inventory.fabric, OUTPUT_VERSION, inventory.digest, digests)
    if content.only is None and not compare(output, MANIFEST_NAME, manifest.dump()):
        stale[MANIFEST_NAME] = _first_difference(output / MANIFEST_NAME, manifest.dump())
    names = set(content.names)
    folders = (output / "sonic").glob("*/config_db.json") if content.only is None else ()
    extra = sorted(str(file.relative_to(output)) for file in folders if file.parent.name not in names)
    known = read_manifest(output)
    gone = sorted(path for path in (known.files if known else ()) if path not in digests)
    findings = [_stale(output, path, "is not what the inventory renders", line) for path, line in stale.items()]
    findings += [_stale(output, path, "belongs to a switch that the inventory does not have") for path in extra]
    for folder, owner in (("infiniband", "subnet manager"), ("hosts", "host")):
        ours = (path for path in gone if path.startswith(f"{folder}/"))
        findings += [_stale(output, path, f"is of no {owner} that the inventory has") for path in ours]
    counts = Counts(devices=len(names), links=len(content.plans.fabric.links))
    print_result(settings, findings, counts, fmt="concise" if findings else "text", output=None)
    return int(bool(findings))


def _first_difference(file: Path, wanted: bytes) -> int:
    """The number of the first line of a file that differs; 0 for a file that is not there."""
    if not file.is_file():
        return 0
    lines = zip_longest(file.read_bytes().splitlines(), wanted.splitlines())
    return next((number for number, (found, want) in enumerate(lines, 1) if found != want), 1)


def _stale(output: Path, path: str, problem: str, line: int = 0) -> Finding:
    device = path.split("/")[1] if path.startswith("sonic/") else ""
    hint = "run `fabricgen render` and commit the result"
    place = Location(str(output / path), line, 1) if line else Location(str(output / path))
    return Finding("FG990", Severity.ERROR, f"{path} {problem}", device=device, location=place, hint=hint)


def _counts(plans: Plans) -> Counts:
    return Counts(devices=len(plans.fabric.switches), links=len(plans.fabric.links))


def _size(plans: Plans) -> str:
    fabric = plans.fabric
    roles = [switch.role for switch in fabric.switches]
    kinds = ", ".join(f"{roles.count(role)} {role}s" for role in dict.fromkeys(roles)).replace("leafs", "leaves")
    return f"{fabric.inventory.fabric}: {kinds}, {len(fabric.hosts)} hosts, {len(fabric.links)} links"
