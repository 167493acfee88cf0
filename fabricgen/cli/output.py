"""What judging verbs share: the options of their output, how it is printed, and the exit code that it means."""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from fabricgen import __version__
from fabricgen.atomic import write_atomically
from fabricgen.cli.settings import Settings, several
from fabricgen.cli.streams import tell
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.report.formats import formats
from fabricgen.report.pages import pages
from fabricgen.report.run import Run
from fabricgen.report.summary import Counts


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
        "--format", "fmt", type=click.Choice(list(formats())), default="text", show_default=True,
        help="Report format; " + "; ".join(f"{each.name}: {each.summary}" for each in formats().values()) + ".",
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
    threshold = Severity.ERROR if fail_on == "never" else Severity(fail_on)
    code = exit_code(ordered, fail_on)
    run = Run(__version__, verb, ordered, suppressed, counts, codes, threshold, code, own or {}, lines, color)
    text = formats()[fmt].write(run)
    if shorten:
        text = text.replace(shorten, "")
    if output is not None:
        write_atomically(output, (text if text.endswith("\n") else text + "\n").encode())
    else:
        tell(text, nl=bool(text) and not text.endswith("\n"), color=color)


def exit_code(findings: Sequence[Finding], fail_on: str) -> int:
    """1 where a finding is at least as severe as asked."""
    if fail_on == "never":
        return 0
    worst = min((finding.severity.rank for finding in findings), default=Severity.NOTE.rank)
    return int(worst <= Severity(fail_on).rank)
