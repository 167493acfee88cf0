"""`fabricgen schema`: the JSON Schema of what people write and pipelines read."""

import json

import click

from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import tell
from fabricgen.design.registry import schema_for_editors
from fabricgen.resources import resource

NAMES = ("inventory", "findings", "scenario")


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES))
@verb
def command(settings: Settings, name: str) -> int:
    """Print the JSON Schema (2020-12) of an inventory, of what judging verbs print, or of a scenario file."""
    if name == "inventory":
        tell(json.dumps(schema_for_editors(), indent=2))
    else:
        tell(resource("schemas", f"{name}.schema.json").read_text(encoding="utf-8").rstrip("\n"))
    return 0
