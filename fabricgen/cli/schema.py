"""`fabricgen schema`: the JSON Schemas of inventories, reports and scenarios."""

import click

from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.resources import resource

NAMES = ("inventory", "findings", "scenario")


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES))
@verb
def command(settings: Settings, name: str) -> int:
    """Print the JSON Schema (2020-12) of an inventory, of a JSON report, or of a scenario file.

    \b
    Examples:
      fabricgen schema inventory > inventory.schema.json
      fabricgen schema findings
    """
    if name == "inventory":
        from fabricgen.api.starting import schema_text

        write(schema_text().rstrip())
    else:
        write(resource("schemas", f"{name}.schema.json").read_text(encoding="utf-8").rstrip("\n"))
    return 0
