"""`fabricgen handoff`: a bundle as files for the tools that deploy it. Each registered handoff is a command."""

import importlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricgen.cli.live import LIVE
from fabricgen.cli.names import items, names_in
from fabricgen.cli.settings import FullGroup, Settings, several, verb
from fabricgen.cli.streams import as_words, write

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from fabricgen.handoff import Handoff, Option
    from fabricgen.handoff.folder import WrittenFiles


class Handoffs(FullGroup):
    """The registered handoffs as commands. A completion imports the chosen one only."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        del self.commands  # of the group: the property below takes its place

    @cached_property
    def commands(self) -> dict[str, click.Command]:  # type: ignore[override]  # cached_property can be written
        """All of them, by name."""
        from fabricgen.handoff import handoffs

        return {name: _command(handoff) for name, handoff in handoffs().items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them."""
        if ctx.resilient_parsing:
            with suppress(ImportError, AttributeError):
                return _command(importlib.import_module(f"fabricgen.handoff.{cmd_name.replace('-', '_')}").HANDOFF)
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Names and options that begin so."""
        from fabricgen.extensions import HANDOFFS, member_names

        names = member_names("fabricgen.handoff", "HANDOFF", HANDOFFS)
        return [*items(names, incomplete), *click.Command.shell_complete(self, ctx, incomplete)]


@click.group("handoff", cls=Handoffs)
def command() -> None:
    """Hand a bundle to the tools that deploy it.

    \b
    Examples:
      fabricgen handoff ansible build --output deploy
      fabricgen handoff cabling build --output sheets
    """


def _command(handoff: "Handoff") -> click.Command:
    live = LIVE.get(handoff.name)

    def written(settings: Settings, bundle: Path, output: Path, adopt_folder: bool, **options: Any) -> int:
        from fabricgen.bundle.read import open_bundle
        from fabricgen.cli.progress import TerminalProgress
        from fabricgen.handoff.folder import write_folder
        from fabricgen.handoff.whole_rows import with_whole_rows
        from fabricgen.units import counted

        connection = {name: options.pop(name) for name in live.names} if live else {}

        def put(more: Mapping[str, bytes]) -> "WrittenFiles":
            with TerminalProgress(settings).stage("writing"):
                made = handoff.files(with_whole_rows(open_bundle([bundle])), **options)
                return write_folder(output, chain(made, more.items()), adopt=adopt_folder)

        if live and live.is_wanted(connection):
            return live.run(settings, bundle, lambda more: len(put(more)), **connection, **options)
        files = put({})
        for line in handoff.notes(files):
            settings.say(line)
        text = handoff.next_step(**options) if callable(handoff.next_step) else handoff.next_step
        step = text.format(bundle=as_words(bundle), output=as_words(output), **options)
        write(f"{counted(len(files), 'file')} in {output}." + (f" Next: {step}" if step else ""), wraps=True)
        return 0

    options = several(
        click.argument("bundle", type=click.Path(path_type=Path)),
        click.option(
            "--output",
            "-o",
            required=True,
            type=click.Path(path_type=Path, file_okay=False),
            help="Folder of the files.",
        ),
        click.option("--adopt-folder", is_flag=True, help="Replace files in the folder that fabricgen did not write."),
        *map(_option, handoff.options),
        *(live.options if live else ()),
    )
    return click.command(handoff.name, help=f"{handoff.summary}\n\n{_examples(handoff)}")(options(verb(written)))


def _examples(handoff: "Handoff") -> str:
    first = f"  fabricgen handoff {handoff.name} build -o {handoff.name}"
    return "\n".join(["\b", "Examples:", *(f"{first} {options}".rstrip() for options in handoff.examples)])


def _option(option: "Option") -> Callable[..., Any]:
    from fabricgen.handoff import ONLY_HOSTS

    return click.option(
        f"--{option.name}",
        option.name.replace("-", "_"),
        type=click.Choice(option.choices) if option.choices else str,
        default=option.default,
        show_default=option.default is not None,
        metavar=option.metavar,
        shell_complete=names_in("hosts" if option is ONLY_HOSTS else "devices") if option.name == "only" else None,
        help=option.help,
    )
