"""`fabricgen render`: an inventory into a bundle."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen.cli.options import inventory_arguments, layers_of, policy_of, scheduler_option
from fabricgen.cli.output import EXIT_FINDINGS, format_option, print_findings
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import as_words, write
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, has_errors, in_order
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.api.rendering import FileCounts, Rendering

_SHOWN = 5  # paths in a message


@click.command("render")
@inventory_arguments()
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    envvar="FABRICGEN_OUTPUT",
    help="Folder of the bundle.",
)
@click.option("--check", is_flag=True, help="Write no file; exit with 1 if the bundle differs from the inventory.")
@click.option("--diff", is_flag=True, help="With --check, show the rows that would change, as `fabricgen diff` does.")
@click.option("--only", metavar="GLOB", help="Render only the switches whose names match; keep the files of others.")
@click.option("--locked", is_flag=True, help="Fail if the lock file would change.")
@click.option(
    "--adopt-folder",
    is_flag=True,
    help="Accept an --output that is not a bundle of this fabric. Only files that render writes are replaced.",
)
@click.option("--renumber", metavar="PLANE", help="Allocate the ASNs, addresses and GUIDs of this plane anew.")
@format_option
@scheduler_option
@verb
def command(
    settings: Settings,
    inventories: tuple[Path, ...],
    values: tuple[str, ...],
    templates: Path | None,
    output: Path,
    check: bool,
    diff: bool,
    only: str | None,
    locked: bool,
    adopt_folder: bool,
    renumber: str | None,
    fmt: str,
    scheduler: str | None,
) -> int:
    """Render INVENTORY, a YAML file or a folder of them, into a bundle of configuration files.

    Several inventories are layers: each one changes those before it. The lock file is beside the last one.

    \b
    Examples:
      fabricgen render my-fabric --output build
      fabricgen render my-fabric --output build --check --diff
      fabricgen render my-fabric --output build --check --format github
    """
    from fabricgen.api.rendering import render
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.formats.concise import concise_report
    from fabricgen.report.run import visible_finding

    if fmt != "text" and diff:
        raise UsageError("--diff is text: leave out --format, or use `fabricgen diff --format json` on two bundles")
    if diff and not check:
        raise UsageError("--diff shows what render would change: add --check, or use `fabricgen diff` on two bundles")
    found = render(
        layers_of(inventories, values, templates),
        output,
        check=check,
        diff=diff,
        plan=check and fmt == "github",
        only=only,
        locked=locked,
        adopt_folder=adopt_folder,
        renumber=renumber,
        jobs=settings.jobs,
        scheduler=scheduler,
        policy=policy_of(settings),
        progress=TerminalProgress(settings),
    )
    if found.has_errors or fmt != "text":
        findings = in_order([*found.findings, *found.stale, *_of_switches(found, output)])
        print_findings(settings, findings, found.counts, found.suppressed, fmt=fmt, verb="render")
        return EXIT_FINDINGS if has_errors(findings) else 0
    if found.findings:
        shown = list(map(visible_finding, found.findings))
        settings.say(concise_report(shown, settings.paints(sys.stderr)).rstrip("\n"))
    if check:
        print_findings(settings, found.stale, found.counts, fmt="concise" if found.stale else "text")
        if found.difference is not None and found.stale:
            from fabricgen.report.diff_text import diff_text

            color = settings.paints(sys.stdout)
            write("\n" + diff_text(found.difference, color), color=color, wraps=True)
        return EXIT_FINDINGS if has_errors(found.stale) else 0
    if found.edited:
        names = ", ".join(found.edited[:_SHOWN]) + (", …" if found.edited[_SHOWN:] else "")
        number = counted(len(found.edited), "file")
        write(f"warning: replaced {number} edited by hand since the last render: {names}", err=True, wraps=True)
    written = [
        _written(found.switches, "device", "devices"),
        _written(found.subnet_managers, "file for subnet managers", "files for subnet managers"),
    ]
    write(f"{'; '.join(filter(None, written))}. Next: fabricgen validate {as_words(output)}", wraps=True)
    return 0


def _of_switches(found: "Rendering", output: Path) -> list[Finding]:
    """What the change does to running switches, if a roll-out was requested."""
    if found.rollout is None or found.difference is None:
        return []
    from fabricgen.report.plan_text import plan_findings
    from fabricgen.rollout.findings import rollout_findings

    return [
        *rollout_findings(found.difference, found.rollout),
        *plan_findings(found.difference, found.rollout, output),
    ]


def _written(counts: "FileCounts", noun: str, plural: str) -> str:
    """'4 devices: 1 changed, 3 unchanged, 0 removed'; "" if there are no files and none were removed."""
    if not (counts.files or counts.removed):
        return ""
    unchanged = counts.files - counts.changed
    return (
        f"{counted(counts.files, noun, plural)}: {counts.changed} changed, {unchanged} unchanged, "
        f"{counts.removed} removed"
    )
