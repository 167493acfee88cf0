"""`fabricgen capacity`: the hardware that an inventory needs."""

from pathlib import Path

import click
import orjson

from fabricgen.cli.output import EXIT_FINDINGS, print_findings
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.findings import has_errors
from fabricgen.render.plans import capacity_table, design_only
from fabricgen.report.capacity import capacity_markdown, capacity_text
from fabricgen.report.summary import Counts


@click.command("capacity")
@click.argument("inventory", type=click.Path(path_type=Path))
@click.option(
    "--format", "fmt", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True,
    help="Format of the table.",
)  # fmt: skip
@verb
def command(settings: Settings, inventory: Path, fmt: str) -> int:
    """Count the switches, links, cables and ports of INVENTORY, plane by plane."""
    fabric, findings = design_only(inventory)
    if has_errors(findings):
        counts = Counts(devices=len(fabric.switches))
        print_findings(settings, findings, counts, fmt="json" if fmt == "json" else "text")
        return EXIT_FINDINGS
    table = capacity_table(fabric)
    if fmt == "json":
        write(orjson.dumps({"capacity": table}, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode())
    else:
        write(capacity_text(table) if fmt == "text" else capacity_markdown(table))
    return 0
