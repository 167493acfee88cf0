"""`fabricgen render`: an inventory into a bundle."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen.cli.options import policy_of
from fabricgen.cli.output import EXIT_FINDINGS, print_findings
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.findings import has_errors
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.api.rendering import FileCounts


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
@click.option("--check", is_flag=True, help="Write no file; exit with 1 if the bundle differs from the inventory.")
@click.option("--only", metavar="GLOB", help="Render only the switches whose names match; keep the files of others.")
@click.option(
    "--templates",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with templates that replace those of fabricgen.",
)
@click.option("--locked", is_flag=True, help="Fail if the lock file would change.")
@click.option(
    "--adopt-folder",
    is_flag=True,
    help="Accept an --output that is not a bundle of this fabric. Only files that render writes are replaced.",
)
@click.option("--renumber", metavar="PLANE", help="Allocate the ASNs, addresses and GUIDs of this plane anew.")
@verb
def command(
    settings: Settings,
    inventory: Path,
    output: Path,
    check: bool,
    only: str | None,
    templates: Path | None,
    locked: bool,
    adopt_folder: bool,
    renumber: str | None,
) -> int:
    """Render INVENTORY, a YAML file or a folder of them, into a bundle of configuration files.

    \b
    Examples:
      fabricgen render my-fabric --output build
      fabricgen render my-fabric --output build --check
    """
    from fabricgen.api.rendering import render
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.formats.concise import concise_report
    from fabricgen.report.run import visible_finding

    found = render(
        inventory,
        output,
        check=check,
        only=only,
        templates=templates,
        locked=locked,
        adopt_folder=adopt_folder,
        renumber=renumber,
        jobs=settings.jobs,
        policy=policy_of(settings),
        progress=TerminalProgress(settings),
    )
    if found.has_errors:
        print_findings(settings, found.findings, found.counts, found.suppressed)
        return EXIT_FINDINGS
    if found.findings:
        shown = list(map(visible_finding, found.findings))
        settings.say(concise_report(shown, settings.paints(sys.stderr)).rstrip("\n"))
    if check:
        print_findings(settings, found.stale, found.counts, fmt="concise" if found.stale else "text")
        return EXIT_FINDINGS if has_errors(found.stale) else 0
    written = [
        _written(found.switches, "device", "devices"),
        _written(found.subnet_managers, "file for subnet managers", "files for subnet managers"),
    ]
    write(f"{'; '.join(filter(None, written))}. Next: fabricgen validate {output}")
    return 0


def _written(counts: "FileCounts", noun: str, plural: str) -> str:
    """'4 devices: 1 changed, 3 unchanged, 0 removed'; "" if there are no files and none were removed."""
    if not (counts.files or counts.removed):
        return ""
    unchanged = counts.files - counts.changed
    return (
        f"{counted(counts.files, noun, plural)}: {counts.changed} changed, {unchanged} unchanged, "
        f"{counts.removed} removed"
    )
