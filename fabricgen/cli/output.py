"""The reports of verbs that judge: the options, the output, and the exit code."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen import __version__
from fabricgen.cli.names import OneOf
from fabricgen.cli.settings import Settings, several
from fabricgen.cli.streams import width_of, write
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.visible import printable

if TYPE_CHECKING:
    from fabricgen.api.judgement import Judgement
    from fabricgen.report.summary import Counts

EXIT_FINDINGS = 1


def _formats() -> Mapping[str, object]:
    from fabricgen.report.formats import formats

    return formats()


def _format_names() -> list[str]:
    from fabricgen.extensions import FORMATS, member_names

    return member_names("fabricgen.report.formats", "FORMAT", FORMATS)


format_option = click.option(
    "--format",
    "fmt",
    type=OneOf(_formats, _format_names),
    default="text",
    show_default=True,
    help="Report format; `fabricgen list formats` describes them.",
)
fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help="Lowest severity that makes the exit code 1.",
)
output_options = several(
    format_option,
    click.option(
        "--output",
        "-o",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write the report to this file instead of standard output.",
    ),
    fail_on_option,
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
    unjudged: Sequence[str] = (),
    shorten: str = "",
) -> int:
    """Print a judgement; returns the exit code.

    `own` are the JSON keys of a verb, `lines` the same for people, `unjudged` what has no verdict. `shorten` is a path
    that is removed from the text: that of a temporary bundle.
    """
    from fabricgen.report.formats import formats
    from fabricgen.report.isolation import isolation_headline, isolation_lines, isolation_object
    from fabricgen.report.run import Run
    from fabricgen.report.summary import tables_unjudged

    ordered = in_order(found.findings)
    unjudged = [*tables_unjudged(ordered), *unjudged]
    code = exit_code(ordered, fail_on)
    if found.isolation:
        own = {"isolation": isolation_object(found.isolation), **(own or {})}
        lines = [*isolation_lines(found.isolation), *lines]
    color = output is None and settings.paints(sys.stdout)
    counts = replace(found.counts, suppressed=len(found.suppressed))
    threshold = Severity.ERROR if fail_on == "never" else Severity(fail_on)
    run = Run(
        __version__, verb, ordered, found.suppressed, counts, found.codes, threshold, code, own or {}, lines, unjudged,
        [*isolation_headline(found.isolation)], color, 0 if output else width_of(sys.stdout), _expands(),
        shorten,
    )  # fmt: skip
    chosen = formats()[fmt]
    text = chosen.write(run)
    if shorten:
        text = text.replace(shorten, "")
    if output is not None:
        from fabricgen.atomic import write_atomically

        text = printable(text, commands=chosen.commands)
        write_atomically(output, (text if text.endswith("\n") else text + "\n").encode())
    elif text:
        write(text.removesuffix("\n"), color=color, commands=chosen.commands, wraps=chosen.for_people)
    return code


def _expands() -> bool:
    """Whether the verb has --expand."""
    context = click.get_current_context(silent=True)
    return bool(context and context.params.get("expand"))


def print_findings(
    settings: Settings,
    findings: Sequence[Finding],
    counts: "Counts",
    suppressed: Sequence[Finding] = (),
    fmt: str = "text",
    shorten: str = "",
    verb: str = "",
) -> None:
    """Print the findings of a verb without a report. `shorten` as for `report`."""
    from fabricgen.api.judgement import Judgement

    found = Judgement(findings=tuple(findings), suppressed=tuple(suppressed), counts=counts)
    report(settings, found, verb=verb, fmt=fmt, output=None, fail_on="error", shorten=shorten)


def exit_code(findings: Sequence[Finding], fail_on: str) -> int:
    """1 if a finding is at least as severe as `fail_on`."""
    if fail_on == "never":
        return 0
    worst = min((finding.severity.rank for finding in findings), default=Severity.NOTE.rank)
    return EXIT_FINDINGS if worst <= Severity(fail_on).rank else 0


def json_text(value: object) -> str:
    """A value as indented JSON, in the order of its keys."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
