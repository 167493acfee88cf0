"""All commands of fabricgen with the examples of their help."""

from collections.abc import Iterator
from functools import cache

import click

from fabricgen.cli.main import main


@cache
def all_commands() -> tuple[tuple[str, click.Command], ...]:
    """('fabricgen simulate deadlock', its command) of every verb and of what is below it."""
    return ("fabricgen", main), *_below("fabricgen", main, click.Context(main, info_name="fabricgen"))


def _below(name: str, group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        yield f"{name} {word}", command
        if isinstance(command, click.Group):
            yield from _below(f"{name} {word}", command, click.Context(command, context, info_name=word))


def examples_of(command: click.Command) -> list[str]:
    """The commands that its help shows."""
    _, _, text = (command.help or "").partition("Examples:\n")
    return [line.strip() for line in text.splitlines() if line.strip()]
