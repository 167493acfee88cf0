"""`fabricgen diff --release OLD NEW`: what an upgrade of SONiC changes in the files of an inventory or a bundle."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricgen import __version__
from fabricgen.cli import diff_output
from fabricgen.cli.output import EXIT_FINDINGS, json_text
from fabricgen.cli.settings import Settings
from fabricgen.cli.streams import write
from fabricgen.findings import has_errors

if TYPE_CHECKING:
    from fabricgen.diff.upgrade import Upgrade

EXIT_DIFFERENT = 4


def show(
    settings: Settings, source: Path, releases: tuple[str, str], fmt: str, output: Path | None,
    templates: Path | None, *, safe: bool, exit_code: bool,
) -> int:  # fmt: skip
    """Print the changes, or the patches of each phase; returns the exit code."""
    from fabricgen.api.upgrade import upgrade
    from fabricgen.atomic import write_atomically
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.formats.concise import concise_report
    from fabricgen.sonic.release_models import release_number

    old, new = map(release_number, releases)
    with upgrade(source, old, new, TerminalProgress(settings), templates) as found:
        is_json = fmt in ("json", "jsonpatch", "plan")
        if found.findings and (not is_json or output is not None):
            settings.say(concise_report(found.findings).rstrip())
        is_wrong, text = has_errors(found.findings), ""
        if fmt in ("jsonpatch", "plan"):
            phases, is_unsafe = _phases(settings, found, fmt, output, safe=safe)
            is_wrong |= is_unsafe
            text = json_text(_object(found) | phases) if output is None else ""
        elif fmt == "json":
            text = json_text(_object(found) | _compared(found))
        elif found.whole:
            from fabricgen.report.upgrade import upgrade_text

            text = upgrade_text(found, fmt, color=output is None and settings.paints(sys.stdout))
        if text and output is not None:
            write_atomically(output, f"{text}\n".encode())
        elif text:
            write(text, color=settings.paints(sys.stdout), wraps=fmt == "text")
    if is_wrong:
        return EXIT_FINDINGS
    return EXIT_DIFFERENT if exit_code and found.whole and found.whole.differs else 0


def _object(found: "Upgrade") -> dict[str, Any]:
    from fabricgen.report.upgrade import upgrade_object

    return upgrade_object(__version__, found)


def _compared(found: "Upgrade") -> dict[str, Any]:
    """The keys of a comparison, for all changes and for each phase."""
    from fabricgen.report.upgrade import compared

    return compared(__version__, found)


def _phases(
    settings: Settings, found: "Upgrade", fmt: str, output: Path | None, *, safe: bool
) -> tuple[dict[str, Any], bool]:
    """The patches or plans of each phase, in `output` in a folder of its name; and whether a plan is not safe."""
    phases, is_unsafe = {}, False
    for name, difference in found.phases.items():
        folder = output / name if output else None
        if difference.changed:
            settings.say(f"{name} the upgrade:")
        if fmt == "plan":
            phases[name], unsafe = diff_output.plans(settings, difference, folder, safe=safe)
            is_unsafe |= unsafe
        else:
            phases[name] = diff_output.patches(settings, difference, folder)
    return phases, is_unsafe
