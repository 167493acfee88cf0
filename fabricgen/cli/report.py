"""`fabricgen report`: all verdicts as one page that opens without a network."""

from dataclasses import replace
from pathlib import Path

import click

from fabricgen import __version__
from fabricgen.cli.given_paths import require_place
from fabricgen.cli.names import names_of
from fabricgen.cli.options import inventory_arguments, inventory_option, layers_of, observed_options, policy_of
from fabricgen.cli.output import exit_code, json_text
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write

FORMATS = ("html", "json")


@click.command("report")
@inventory_arguments("BUNDLE|INVENTORY...")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; its ending chooses the format if --format is not given.  [default: report.html, or "
    "report.json with --format json]",
)  # fmt: skip
@click.option(
    "--format", "fmt", type=click.Choice(FORMATS), default="html", show_default=True,
    help="html: one page. json: everything that the page shows, and the results of the verbs.",
)  # fmt: skip
@click.option(
    "--against", metavar="BUNDLE", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Show the differences from this bundle: moved cables, switches, rows, and the cost to apply them.",
)  # fmt: skip
@click.option(
    "--pattern", "patterns", multiple=True, metavar="NAME", shell_complete=names_of("patterns"),
    help="Traffic pattern. The option can be repeated.  [default: ring-all-reduce]",
)  # fmt: skip
@click.option(
    "--failures", type=click.IntRange(0, 3),
    help="Prove every set of up to this many links that fail at the same time.  [default: as the inventory says]",
)  # fmt: skip
@click.option(
    "--series", multiple=True, metavar="DIR", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Also show the packet runs that `simulate packets --series DIR` wrote. The option can be repeated.",
)  # fmt: skip
@observed_options
@inventory_option
@click.option(
    "--headline", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the answer and the evidence as Markdown, for the comment on a pull request.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(["error", "warning", "never"]), default="error", show_default=True,
    help="Lowest severity that makes the exit code 1. The report is written in any case.",
)  # fmt: skip
@verb
def command(
    settings: Settings,
    inventories: tuple[Path, ...],
    values: tuple[str, ...],
    templates: Path | None,
    output: Path | None,
    fmt: str,
    against: Path | None,
    patterns: tuple[str, ...],
    failures: int | None,
    series: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    neighbors: Path | None,
    inventory: Path | None,
    headline: Path | None,
    fail_on: str,
) -> int:
    """Judge a bundle or an inventory with all rules and simulators, and write the results as one page.

    The page needs no network: it can be attached to a pull request, mailed and printed. An inventory is rendered into
    a temporary folder, as `check` does. Several inventories are layers: each one changes those before it.

    \b
    Examples:
      fabricgen report my-fabric --output report.html
      fabricgen report build --pattern all-to-all --pattern incast
      fabricgen report my-fabric --against build --headline comment.md
    """
    from fabricgen.api.reporting import report
    from fabricgen.atomic import write_atomically
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.page.html import html_page, visible_names
    from fabricgen.report.congestion import congestion_object
    from fabricgen.report.deadlock import deadlock_object
    from fabricgen.report.formats.json import json_object
    from fabricgen.report.isolation import isolation_object
    from fabricgen.report.summary import summary_line

    output = output or Path(f"report.{fmt}")
    require_place("--output", output)
    found = report(
        layers_of(inventories, values, templates), against=against, patterns=patterns, failures=failures,
        inventory=inventory, series=series, links=links, lldp=lldp, neighbors=neighbors, jobs=settings.jobs,
        policy=policy_of(settings), progress=TerminalProgress(settings),
    )  # fmt: skip
    counts = replace(found.counts, suppressed=len(found.suppressed))
    head = json_object(__version__, found.findings, counts)
    if fmt == "html":
        text = html_page({**found.content, "tool": head["tool"], "summary": head["summary"]})
    else:
        congestion = {"patterns": [congestion_object([result]) for result in found.congestion]}
        own = {"deadlock": deadlock_object(found.deadlock, found.seals), "congestion": congestion}
        own |= {"isolation": isolation_object(found.isolation)} if found.isolation else {}
        text = json_text(visible_names({**head, **own, "report": found.content}))

    def without_folder(text: str) -> str:
        return text.replace(found.folder, "") if found.folder else text

    write_atomically(output, without_folder(text).encode())
    if headline is not None:
        from fabricgen.page.headline import headline as headline_of

        write_atomically(headline, without_folder(headline_of(found.content)).encode())
    write(f"{found.content['verdict']['answer']}: {' '.join(found.content['verdict']['reasons'])}", wraps=True)
    write(f"{summary_line(found.findings, counts)} The report is in {output}.", wraps=True)
    return exit_code(found.findings, fail_on)
