"""`fabricgen schema`: the JSON Schemas of inventories, scenario and jobs files, and the results of all verbs."""

from collections.abc import Iterable

import click

from fabricgen.cli.names import OneOf
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write


def _names() -> Iterable[str]:
    from fabricgen.report.schemas import schema_names

    return schema_names()


@click.command("schema")
@click.argument("name", metavar="NAME", type=OneOf(_names))
@verb
def command(settings: Settings, name: str) -> int:
    """Print the JSON Schema (2020-12) of an inventory, a scenario or jobs file, or the JSON of a verb.

    NAME is inventory, scenario, jobs, or a verb: check, report, accept, capacity, compare, diff, rehearse, tune.
    findings is that of `validate`; deadlock, congestion, packets and paths are those of `simulate`; patches and plan
    are other formats of `diff`; series is the file that `simulate packets --series` writes.

    \b
    Examples:
      fabricgen schema inventory > inventory.schema.json
      fabricgen schema deadlock
    """
    if name == "inventory":
        from fabricgen.api.starting import schema_text

        write(schema_text().rstrip())
    else:
        from fabricgen.report.schemas import schema_text as text_of

        write(text_of(name))
    return 0
