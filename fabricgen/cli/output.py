"""What judging verbs share: the options of their output, how it is printed, and the exit code that it means."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from fabricgen import __version__
from fabricgen.cli.settings import Settings
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.report.concise import concise_report
from fabricgen.report.json import json_object
from fabricgen.report.summary import Counts
from fabricgen.report.text import text_report

FORMATS = ("text", "concise", "json")


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--format, --output, --fail-on."""
    options = [
        click.option(
            "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True,
            help="Form of the result on standard output.",
        ),
        click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="File for the result instead."),
        click.option(
            "--fail-on", type=click.Choice(["error", "warning", "never"]), default="error", show_default=True,
            help="Least severity that makes the exit code 1.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


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
) -> None:
    """Print findings and results. `own` are a verb's JSON keys, `lines` the same for people; `shorten` is a path prefix
    that is left out (files of a temporary bundle)."""
    ordered = in_order(findings)
    color = output is None and settings.paints(sys.stdout)
    if fmt == "json":
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        text = orjson.dumps(json_object(__version__, ordered, counts, **(own or {})), option=options).decode()
    elif fmt == "concise":
        text = concise_report(ordered, color)
    else:
        text = text_report(ordered, counts, color)
        if lines:
            text = "\n".join([*lines, text])
    if shorten:
        text = text.replace(shorten, "")
    if output is not None:
        output.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    else:
        click.echo(text, nl=bool(text) and not text.endswith("\n"), color=color)


def exit_code(findings: Sequence[Finding], fail_on: str) -> int:
    """1 where a finding is at least as severe as asked."""
    if fail_on == "never":
        return 0
    worst = min((finding.severity.rank for finding in findings), default=Severity.NOTE.rank)
    return int(worst <= Severity(fail_on).rank)
