"""`fabricgen capacity`: what an inventory takes."""

from pathlib import Path

import click
import orjson

from fabricgen.cli.output import exit_code, print_result
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import tell
from fabricgen.findings import has_errors
from fabricgen.render.plans import capacity_table, design_only
from fabricgen.report.capacity import capacity_markdown, capacity_text
from fabricgen.report.summary import Counts


@click.command("capacity")
@click.argument("inventory", type=click.Path(path_type=Path))
@click.option(
    "--format", "fmt", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True,
    help="Form of the table.",
)  # fmt: skip
@verb
def command(settings: Settings, inventory: Path, fmt: str) -> int:
    """Count switches, links, cables and ports of INVENTORY, plane by plane."""
    fabric, findings = design_only(inventory)
    if has_errors(findings):
        print_result(
            settings,
            findings,
            Counts(devices=len(fabric.switches)),
            fmt="json" if fmt == "json" else "text",
            output=None,
        )
        return exit_code(findings, "error")
    table = capacity_table(fabric)
    if fmt == "json":
        tell(orjson.dumps({"capacity": table}, option=orjson.OPT_INDENT_2).decode())
    else:
        tell(capacity_text(table) if fmt == "text" else capacity_markdown(table))
    return 0
