"""`fabricgen list`: the names that inventories and options accept, each with a short description."""

from collections.abc import Sequence

import click

from fabricgen.api.names import KINDS, Rows
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import write
from fabricgen.errors import UsageError

__all__ = ["KINDS", "command", "lines"]


@click.command("list")
@click.argument("kind", metavar="KIND", type=click.Choice(list(KINDS)))
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--names", is_flag=True, help="Print the names only, one a line.")
@verb
def command(settings: Settings, kind: str, words: tuple[str, ...], names: bool) -> int:
    """List what inventories and options accept. Words choose the lines that contain all of them.

    KIND is platforms, hosts, nics, designs, patterns, profiles, formats, codes or releases.

    \b
    Examples:
      fabricgen list platforms
      fabricgen list platforms tomahawk5 64x800g
      fabricgen list codes --names
    """
    rows = {name: text for name, text in KINDS[kind]().items() if _has(f"{name} {text}", words)}
    if not rows:
        raise UsageError(f"none of the {kind} has {' '.join(words)}")
    write("\n".join(lines(rows, names_only=names)), wraps=not names)
    return 0


def _has(line: str, words: Sequence[str]) -> bool:
    return all(word.lower() in line.lower() for word in words)


def lines(rows: Rows, *, names_only: bool = False) -> list[str]:
    """A line for each name, with its description in a column."""
    if names_only:
        return list(rows)
    width = max(map(len, rows))
    return [f"{name:<{width}}  {text}".rstrip() for name, text in rows.items()]
