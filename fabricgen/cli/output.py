"""What judging verbs share: the options of their output, how it is printed, and the exit code that it means."""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
import orjson

from fabricgen import __version__
from fabricgen.atomic import write_atomically
from fabricgen.cli.settings import Settings, several
from fabricgen.cli.streams import tell
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.report.concise import concise_report
from fabricgen.report.github import github_report
from fabricgen.report.gitlab import gitlab_list
from fabricgen.report.json import json_object
from fabricgen.report.junit import junit_report
from fabricgen.report.pages import pages
from fabricgen.report.run import Run
from fabricgen.report.sarif import sarif_object
from fabricgen.report.summary import Counts
from fabricgen.report.text import text_report

FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab")
OPENED_FROM_HERE = ("sarif", "junit", "github", "gitlab")  # their readers look places up in the repository


def _codes(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Codes and prefixes from repeated or comma-separated options."""
    found = tuple(code for text in given for code in text.replace(",", " ").split())
    for code in found:
        if not code.upper().startswith("FG") or not code[2:].isalnum():
            raise click.BadParameter(f"{code!r} is no code; they look like FG512, prefixes like FG5", ctx, parameter)
        if not any(known.startswith(code.upper()) for known in pages()):
            raise click.BadParameter(
                f"no finding has the code {code!r}; docs/findings.md lists them all", ctx, parameter
            )
    return found


output_options = several(
    click.option(
        "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True,
        help="Form of the result on standard output.",
    ),
    click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="File for the result instead."),
    click.option(
        "--fail-on", type=click.Choice(["error", "warning", "never"]), default="error", show_default=True,
        help="Least severity that makes the exit code 1.",
    ),
)  # fmt: skip
expand_option = click.option(
    "--expand", is_flag=True, help="A finding for each device, not one for all that are alike."
)
inventory_option = click.option(
    "--inventory",
    type=click.Path(path_type=Path, exists=True),
    help="Inventory of the bundle, for the lines of its values; otherwise looked for near the bundle.",
)
platform_option = click.option(
    "--platform",
    "platform_files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="A platform entry of your own; repeatable.",
)
choice_options = several(
    click.option(
        "--select", multiple=True, callback=_codes, metavar="CODES", help="Only rules with these codes or prefixes."
    ),
    click.option(
        "--ignore", multiple=True, callback=_codes, metavar="CODES", help="No rules with these codes or prefixes."
    ),
    expand_option,
)


def print_result(
    settings: Settings,
    findings: Sequence[Finding],
    counts: Counts,
    *,
    fmt: str,
    output: Path | None,
    own: Mapping[str, object] | None = None,
    lines: Sequence[str] = (),
    shorten: str = "",
    suppressed: Sequence[Finding] = (),
    verb: str = "",
    codes: Collection[str] = (),
    fail_on: str = "error",
) -> None:
    """Print findings and results. `own` are a verb's JSON keys, `lines` the same for people; `shorten` is a path prefix
    that is left out (files of a temporary bundle). The others are what formats for machines tell besides: what is
    suppressed, by which verb and of which rules it is."""
    ordered = in_order(findings)
    color = output is None and settings.paints(sys.stdout)
    counts = replace(counts, suppressed=len(suppressed))
    if fmt == "concise":
        text = concise_report(ordered, color)
    elif fmt == "text":
        text = text_report(ordered, counts, color)
        if lines:
            text = "\n".join([*lines, text])
    else:
        threshold = Severity.ERROR if fail_on == "never" else Severity(fail_on)
        code = exit_code(ordered, fail_on)
        text = _for_machines(
            fmt, Run(__version__, verb, ordered, suppressed, counts, codes, threshold, code, own or {})
        )
    if shorten:
        text = text.replace(shorten, "")
    if output is not None:
        write_atomically(output, (text if text.endswith("\n") else text + "\n").encode())
    else:
        tell(text, nl=bool(text) and not text.endswith("\n"), color=color)


def _for_machines(fmt: str, run: Run) -> str:
    if fmt == "junit":
        return junit_report(run)
    if fmt == "github":
        return github_report(run)
    content: object
    if fmt == "sarif":
        content = sarif_object(run)
    elif fmt == "gitlab":
        content = gitlab_list(run)
    else:
        content = json_object(run.version, run.findings, run.counts, **run.own)
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def exit_code(findings: Sequence[Finding], fail_on: str) -> int:
    """1 where a finding is at least as severe as asked."""
    if fail_on == "never":
        return 0
    worst = min((finding.severity.rank for finding in findings), default=Severity.NOTE.rank)
    return int(worst <= Severity(fail_on).rank)
