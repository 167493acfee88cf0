"""`fabricgen validate`: rules over rendered files."""

from pathlib import Path

import click

from fabricgen.cli.clock import Clock
from fabricgen.cli.judge import ask_libyang, check_deployable, conclude, link_options, open_verdicts, validate
from fabricgen.cli.output import (
    choice_options,
    inventory_option,
    output_options,
    platform_option,
)
from fabricgen.cli.settings import Settings, verb
from fabricgen.platforms.entries import load_switch_platform


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@link_options
@choice_options
@platform_option
@click.option(
    "--yang",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Ask libyang as well, with the YANG models in this folder.",
)
@click.option(
    "--deploy",
    is_flag=True,
    help="Refuse what is fit for design work only, too: placeholder GUIDs of InfiniBand planes.",
)
@inventory_option
@output_options
@verb
def command(
    settings: Settings,
    paths: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    platform_files: tuple[Path, ...],
    yang: Path | None,
    deploy: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    expand: bool,
    inventory: Path | None,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Judge PATHS: a bundle, any config_db.json files or folders of them, or a folder with an opensm.conf."""
    clock = Clock(settings)
    platforms = [load_switch_platform(file) for file in platform_files]
    models = None
    if yang:
        from fabricgen.sonic.yang import load_models

        models = load_models(yang)
        clock.lap("loaded", f"YANG models of {len(models.tables)} tables")
    verdicts = open_verdicts(settings, paths, links, lldp)
    validate(verdicts, select, ignore, platforms)
    clock.lap("validated", f"{len(verdicts.bundle.devices)} devices by {verdicts.rules} rules")
    if models:
        ask_libyang(verdicts, models, select, ignore)
        clock.lap("asked", f"libyang about {len(verdicts.bundle.devices)} devices")
    if deploy:
        check_deployable(verdicts, paths, select, ignore)
    return conclude(
        settings, verdicts, inventory, verb="validate", expand=expand, fmt=fmt, output=output, fail_on=fail_on
    )
