"""`fabricgen diff`: two bundles, or a bundle and a running fabric, row by row."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen import __version__
from fabricgen.cli.output import json_text
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.errors import UsageError
from fabricgen.vocabulary import InputForm

if TYPE_CHECKING:
    from fabricgen.diff.cables import CableDifference
    from fabricgen.diff.difference import Difference

EXIT_DIFFERENT, EXIT_UNSAFE = 4, 1
FORMATS = ("text", "json", "markdown", "jsonpatch", "plan")


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True,
    help="Format of the result. jsonpatch is RFC 6902, for `config apply-patch`; plan is several patches in order.",
)  # fmt: skip
@click.option(
    "--safe", is_flag=True,
    help="Order the plan so that no step cuts off a host or makes a cycle; exit with 1 and the reasons if none does.",
)  # fmt: skip
@click.option("--exit-code", is_flag=True, help="Exit with 4 if there are differences.")
@click.option(
    "--as", "new_form", type=click.Choice([form.value for form in InputForm]),
    help="Form of NEW. [default: recognized by its content]",
)  # fmt: skip
@click.option(
    "--output", type=click.Path(path_type=Path),
    help="File for the result instead of standard output; with jsonpatch and plan, a folder for the patches.",
)  # fmt: skip
@verb
def command(
    settings: Settings,
    old: Path,
    new: Path,
    fmt: str,
    safe: bool,
    exit_code: bool,
    new_form: str | None,
    output: Path | None,
) -> int:
    """Show how NEW differs from OLD, by table, key and field.

    OLD and NEW are bundles, or the running configuration: a folder of DEVICE.json or DEVICE/config_db.json, or one
    file. Rows that a switch makes by itself are not differences. With a running configuration as OLD and a bundle as
    NEW, the patches change the switches to the bundle. If NEW is an LLDP dump, or the output of ibnetdiscover, it is
    compared with the cabling of OLD.

    \b
    Examples:
      fabricgen diff build build-next
      fabricgen diff build running --exit-code
      fabricgen diff running build --format plan --output patches
    """
    from fabricgen.api.comparison import diff
    from fabricgen.atomic import write_atomically
    from fabricgen.diff.cables import CableDifference
    from fabricgen.observed.running import form_of

    form = InputForm(new_form) if new_form else form_of(new)
    if form.is_cabling and fmt in ("jsonpatch", "plan"):
        raise UsageError("cables cannot be patched: choose text, json or markdown")
    if safe and fmt != "plan":
        raise UsageError("--safe orders the steps of a plan: choose --format plan")
    found = diff(old, new, form=form)
    is_unsafe = False
    color = output is None and settings.paints(sys.stdout)
    if isinstance(found, CableDifference):
        text = _cables(found, fmt, color)
    elif fmt == "jsonpatch":
        text = _patches(settings, found, output)
    elif fmt == "plan":
        text, is_unsafe = _plans(settings, found, output, safe=safe)
    else:
        text = _rows(found, fmt, color)
    if text and output is not None:  # patches are written to their own files
        write_atomically(output, f"{text}\n".encode())
    elif text:
        write(text, color=settings.paints(sys.stdout))
    if is_unsafe:
        return EXIT_UNSAFE
    return EXIT_DIFFERENT if found.differs and exit_code else 0


def _rows(difference: "Difference", fmt: str, color: bool) -> str:
    if fmt == "json":
        from fabricgen.report.diff_json import diff_object

        return json_text(diff_object(__version__, difference))
    if fmt == "markdown":
        from fabricgen.report.diff_markdown import diff_markdown

        return diff_markdown(difference)
    from fabricgen.report.diff_text import diff_text

    return diff_text(difference, color)


def _plans(settings: Settings, difference: "Difference", output: Path | None, *, safe: bool) -> tuple[str, bool]:
    """The plans as one object, and their text on standard error; with `output`, files and the text instead. Also
    whether no safe order was found."""
    from fabricgen.api.comparison import roll_out
    from fabricgen.atomic.folder import write_files
    from fabricgen.report.formats.concise import concise_report
    from fabricgen.report.plan_json import plan_files, plan_object
    from fabricgen.report.plan_text import plan_text
    from fabricgen.rollout.findings import rollout_findings

    rollout = roll_out(difference, safe=safe)
    findings = rollout_findings(difference, rollout)
    plan = plan_object(__version__, difference, rollout, findings)
    text = plan_text(difference, rollout)
    if findings:
        settings.say(concise_report(findings).rstrip())
    if output is None:
        settings.say(text)
        return json_text(plan), bool(findings)
    write_files(output, plan_files(plan))
    write(text)
    return "", bool(findings)


def _cables(difference: "CableDifference", fmt: str, color: bool) -> str:
    from fabricgen.report.diff_cables import cables_markdown, cables_object, cables_text

    if fmt == "json":
        return json_text(cables_object(__version__, difference))
    return cables_markdown(difference) if fmt == "markdown" else cables_text(difference, color)


def _patches(settings: Settings, difference: "Difference", output: Path | None) -> str:
    """The patches as one object; with `output`, a file for each device instead."""
    from fabricgen.atomic.folder import write_files
    from fabricgen.diff.counts import count
    from fabricgen.report.diff_json import patch_files, patch_object
    from fabricgen.report.diff_words import patch_lines
    from fabricgen.units import counted

    counts = count(difference)
    for line in patch_lines(counts):
        settings.say(line)
    if counts.withheld:
        secrets = counted(counts.withheld, "change")
        settings.say(f"{secrets} of secrets in no patch: copy them to the switches from your secret store")
    for device in difference.changed:
        if device.work.sorting.problem:
            settings.say(f"no patch for {device.name}: {device.work.sorting.problem}; see --format plan")
    if output is None:
        return json_text(patch_object(__version__, difference, counts))
    write_files(output, patch_files(difference))
    return ""
