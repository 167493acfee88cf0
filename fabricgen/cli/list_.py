"""`fabricgen list`: the names that inventories and options accept, each with a short description."""

import click

from fabricgen.api.names import KINDS, Rows
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write

__all__ = ["KINDS", "command", "lines"]


@click.command("list")
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.option("--names", is_flag=True, help="Print the names only, one a line.")
@verb
def command(settings: Settings, kind: str, names: bool) -> int:
    """List what inventories and options accept.

    \b
    Examples:
      fabricgen list platforms
      fabricgen list codes --names
    """
    write("\n".join(lines(KINDS[kind](), names_only=names)))
    return 0


def lines(rows: Rows, *, names_only: bool = False) -> list[str]:
    """A line for each name, with its description in a column."""
    if names_only:
        return list(rows)
    width = max(map(len, rows))
    return [f"{name:<{width}}  {text}".rstrip() for name, text in rows.items()]
