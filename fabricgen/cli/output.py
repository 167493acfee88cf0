"""The reports of verbs that judge: the options, the output, and the exit code."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen import __version__
from fabricgen.cli.settings import Settings, several
from fabricgen.cli.streams import write
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.report.formats import formats
from fabricgen.report.run import Run
from fabricgen.report.summary import Counts
from fabricgen.visible import printable

if TYPE_CHECKING:
    from fabricgen.api.judgement import Judgement

EXIT_FINDINGS = 1


output_options = several(
    click.option(
        "--format",
        "fmt",
        type=click.Choice(list(formats())),
        default="text",
        show_default=True,
        help="Report format. " + "; ".join(f"{each.name}: {each.summary}" for each in formats().values()) + ".",
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
    found: "Judgement",
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
    threshold = Severity.ERROR if fail_on == "never" else Severity(fail_on)
    run = Run(
        __version__, verb, ordered, found.suppressed, counts, found.codes, threshold, code, own or {}, lines, color
    )
    chosen = formats()[fmt]
    text = chosen.write(run)
    if shorten:
        text = text.replace(shorten, "")
    if output is not None:
        from fabricgen.atomic import write_atomically

        text = printable(text, commands=chosen.commands)
        write_atomically(output, (text if text.endswith("\n") else text + "\n").encode())
    else:
        write(text, nl=bool(text) and not text.endswith("\n"), color=color, commands=chosen.commands)
    return code


def print_findings(
    settings: Settings,
    findings: Sequence[Finding],
    counts: Counts,
    suppressed: Sequence[Finding] = (),
    fmt: str = "text",
    shorten: str = "",
) -> None:
    """Print the findings of a verb without a report. `shorten` as for `report`."""
    from fabricgen.api.judgement import Judgement

    found = Judgement(findings=tuple(findings), suppressed=tuple(suppressed), counts=counts)
    report(settings, found, verb="", fmt=fmt, output=None, fail_on="error", shorten=shorten)


def exit_code(findings: Sequence[Finding], fail_on: str) -> int:
    """1 if a finding is at least as severe as `fail_on`."""
    if fail_on == "never":
        return 0
    worst = min((finding.severity.rank for finding in findings), default=Severity.NOTE.rank)
    return EXIT_FINDINGS if worst <= Severity(fail_on).rank else 0
