"""`fabricgen schema`: the JSON Schema of what people write and pipelines read."""

import click

from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import tell
from fabricgen.resources import resource

NAMES = ("inventory", "findings", "scenario")


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES))
@verb
def command(settings: Settings, name: str) -> int:
    """Print the JSON Schema (2020-12) of an inventory, of what judging verbs print, or of a scenario file."""
    tell(resource("schemas", f"{name}.schema.json").read_text(encoding="utf-8").rstrip("\n"))
    return 0
