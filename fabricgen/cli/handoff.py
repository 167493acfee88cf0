"""`fabricgen handoff`: a bundle as files for the tools that deploy it. Each registered handoff is a command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fabricgen.bundle.read import open_bundle
from fabricgen.cli.settings import Settings, several, verb
from fabricgen.cli.streams import write
from fabricgen.handoff import Handoff, Option, handoffs, write_folder
from fabricgen.handoff.whole_rows import with_whole_rows
from fabricgen.units import counted


@click.group("handoff")
def command() -> None:
    """Hand a bundle to the tools that deploy it."""


def _command(handoff: Handoff) -> click.Command:
    def written(settings: Settings, bundle: Path, output: Path, adopt_folder: bool, **options: str | None) -> int:
        files = dict(handoff.files(with_whole_rows(open_bundle([bundle])), **options))
        count = write_folder(output, files.items(), adopt=adopt_folder)
        for line in handoff.notes(files):
            settings.say(line)
        step = handoff.next_step.format(bundle=bundle, output=output, **options)
        write(f"{counted(count, 'file')} in {output}." + (f" Next: {step}" if step else ""))
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
    )
    return click.command(handoff.name, help=handoff.summary)(options(verb(written)))


def _option(option: Option) -> Callable[..., Any]:
    return click.option(
        f"--{option.name}",
        option.name.replace("-", "_"),
        type=click.Choice(option.choices) if option.choices else str,
        default=option.default,
        show_default=option.default is not None,
        metavar=option.metavar,
        help=option.help,
    )


for _handoff in handoffs().values():
    command.add_command(_command(_handoff))
