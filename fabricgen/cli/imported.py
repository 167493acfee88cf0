"""What the imports share: a new folder for the inventory, and notes on what it does not have."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fabricgen.cli.settings import Settings
from fabricgen.cli.streams import as_words, write
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, in_order
from fabricgen.units import counted


def refuse_full(output: Path) -> None:
    """Raises UsageError for a folder that is not empty."""
    if output.is_dir() and any(output.iterdir()):
        raise UsageError(f"{output} is not empty; import needs a new folder")


def print_notes(settings: Settings, findings: Sequence[Finding]) -> None:
    """Findings on standard error, a line each; those like another one are counted in its line, with -v each has one."""
    from fabricgen.report.formats.concise import concise_report
    from fabricgen.report.grouping import alike
    from fabricgen.report.run import visible_finding

    color = settings.paints(sys.stderr)
    shown = list(map(visible_finding, in_order(findings)))
    if not settings.verbose:
        shown = [
            replace(one, message=f"{one.message}; {len(others)} more like this (-v)") if others else one
            for one, others in alike(shown)
        ]
    write(concise_report(shown, color), err=True, nl=False, color=color, wraps=True)


def write_inventory(settings: Settings, output: Path, files: Mapping[str, str], switches: int, links: int) -> None:
    """Write the files of an inventory into a new folder, and name the next step."""
    from fabricgen.atomic.folder import create_files

    create_files(output, {path: text.encode() for path, text in files.items()})
    settings.say(
        f"wrote {output}: {counted(switches, 'switch')}, {counted(links, 'link')}. "
        f"Next: fabricgen check {as_words(output)}"
    )
