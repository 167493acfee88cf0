"""The reports of verbs that judge: the options, the output, and the exit code."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
import orjson

from fabricgen import __version__
from fabricgen.api.judgement import Judgement
from fabricgen.atomic import write_atomically
from fabricgen.cli.settings import Settings, several
from fabricgen.cli.streams import write
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.report.concise import concise_report
from fabricgen.report.github import github_report
from fabricgen.report.gitlab import gitlab_list
from fabricgen.report.json import json_object
from fabricgen.report.junit import junit_report
from fabricgen.report.run import Run
from fabricgen.report.sarif import sarif_object
from fabricgen.report.summary import Counts
from fabricgen.report.text import text_report

FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab")
OPENED_FROM_HERE = ("sarif", "junit", "github", "gitlab")  # their readers open locations in the repository
EXIT_FINDINGS = 1


output_options = several(
    click.option(
        "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True, help="Report format."
    ),
    click.option(
        "--output",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write the report to this file instead of standard output.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice(["error", "warning", "never"]),
        default="error",
        show_default=True,
        help="Lowest severity that makes the exit code 1.",
    ),
)


def report(
    settings: Settings,
    found: Judgement,
    *,
    verb: str,
    fmt: str,
    output: Path | None,
    fail_on: str,
    own: Mapping[str, object] | None = None,
    lines: Sequence[str] = (),
    shorten: str = "",
) -> int:
    """Print a judgement; returns the exit code.

    `own` are the JSON keys of a verb, `lines` the same for people. `shorten` is a path that is removed from the text:
    that of a temporary bundle.
    """
    ordered = in_order(found.findings)
    code = exit_code(ordered, fail_on)
    color = output is None and settings.paints(sys.stdout)
    counts = replace(found.counts, suppressed=len(found.suppressed))
    if fmt == "concise":
        text = concise_report(ordered, color)
    elif fmt == "text":
        text = text_report(ordered, counts, color)
        if lines:
            text = "\n".join([*lines, text])
    else:
        threshold = Severity.ERROR if fail_on == "never" else Severity(fail_on)
        text = _for_machines(
            fmt,
            Run(__version__, verb, ordered, found.suppressed, counts, found.codes, threshold, code, own or {}),
        )
    if shorten:
        text = text.replace(shorten, "")
    if output is not None:
        write_atomically(output, (text if text.endswith("\n") else text + "\n").encode())
    else:
        write(text, nl=bool(text) and not text.endswith("\n"), color=color)
    return code


def print_findings(
    settings: Settings,
    findings: Sequence[Finding],
    counts: Counts,
    suppressed: Sequence[Finding] = (),
    fmt: str = "text",
) -> None:
    """Print the findings of a verb that has no report of its own."""
    found = Judgement(findings=tuple(findings), suppressed=tuple(suppressed), counts=counts)
    report(settings, found, verb="", fmt=fmt, output=None, fail_on="error")


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
    """1 if a finding is at least as severe as `fail_on`."""
    if fail_on == "never":
        return 0
    worst = min((finding.severity.rank for finding in findings), default=Severity.NOTE.rank)
    return EXIT_FINDINGS if worst <= Severity(fail_on).rank else 0
