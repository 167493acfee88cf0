"""`fabricgen capacity`: the hardware that inventories need."""

import sys
from pathlib import Path
from typing import Any

import click

from fabricgen.cli.options import layers_of, planned_inventory
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import width_of, write


@click.command("capacity")
@planned_inventory()
@click.option(
    "--format", "fmt", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True,
    help="Format of the table.",
)  # fmt: skip
@verb
def command(settings: Settings, inventories: tuple[Path, ...], values: tuple[str, ...], fmt: str) -> int:
    """Count the switches, links, cables and ports of each INVENTORY, plane by plane.

    Several inventories are shown side by side; a site file names its base with `extends`. An inventory needs no
    `addressing` to be counted.

    \b
    Examples:
      fabricgen capacity my-fabric
      fabricgen capacity my-fabric my-fabric-grown --format markdown
    """
    from fabricgen.cli.output import EXIT_FINDINGS, json_text, print_findings
    from fabricgen.findings import has_errors
    from fabricgen.render.plans import capacity_table, design_only
    from fabricgen.report.capacity import capacity_markdown, capacity_text, side_by_side
    from fabricgen.report.summary import Counts

    tables: dict[str, dict[str, Any]] = {}
    for inventory in inventories:
        fabric, findings = design_only(layers_of((inventory,), values))
        if has_errors(findings):
            counts = Counts(devices=len(fabric.switches))
            print_findings(settings, findings, counts, fmt="json" if fmt == "json" else "text")
            return EXIT_FINDINGS
        tables[str(inventory)] = capacity_table(fabric)
    if fmt == "json":
        listed = [{"inventory": name, **table} for name, table in tables.items()]
        shown = {"inventories": listed} if len(inventories) > 1 else next(iter(tables.values()))
        write(json_text({"capacity": shown}))
    elif len(inventories) > 1:
        write(side_by_side(tables, markdown=fmt == "markdown", width=width_of(sys.stdout)), wraps=fmt == "text")
    else:
        (table,) = tables.values()
        write(capacity_text(table) if fmt == "text" else capacity_markdown(table), wraps=fmt == "text")
    return 0
