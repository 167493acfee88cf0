"""`fabricgen validate`: rules over rendered files."""

from pathlib import Path

import click

from fabricgen.cli.clock import Clock
from fabricgen.cli.judge import ask_libyang, link_options, open_verdicts, validate
from fabricgen.cli.output import exit_code, output_options, print_result
from fabricgen.cli.settings import Settings, verb
from fabricgen.platforms.entries import load_switch_platform


def codes(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Codes and prefixes from repeated or comma-separated options."""
    found = tuple(code for text in given for code in text.replace(",", " ").split())
    for code in found:
        if not code.upper().startswith("FG") or not code[2:].isalnum():
            raise click.BadParameter(f"{code!r} is no code; they look like FG512, prefixes like FG5", ctx, parameter)
    return found


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@link_options
@click.option(
    "--select", multiple=True, callback=codes, metavar="CODES", help="Only rules with these codes or prefixes."
)
@click.option("--ignore", multiple=True, callback=codes, metavar="CODES", help="No rules with these codes or prefixes.")
@click.option(
    "--platform",
    "platform_files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="A platform entry of your own; repeatable.",
)
@click.option(
    "--yang",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Ask libyang as well, with the YANG models in this folder.",
)
@output_options
@verb
def command(
    settings: Settings,
    paths: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    platform_files: tuple[Path, ...],
    yang: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Judge PATHS: a bundle, or any config_db.json files or folders of them."""
    clock = Clock(settings)
    platforms = [load_switch_platform(file) for file in platform_files]
    models = None
    if yang:
        from fabricgen.sonic.yang import load_models

        models = load_models(yang)
        clock.lap("loaded", f"YANG models of {len(models.tables)} tables")
    verdicts = open_verdicts(paths, links, lldp)
    validate(verdicts, select, ignore, platforms)
    clock.lap("validated", f"{len(verdicts.bundle.devices)} devices by {verdicts.rules} rules")
    if models:
        ask_libyang(verdicts, models, select, ignore)
        clock.lap("asked", f"libyang about {len(verdicts.bundle.devices)} devices")
    print_result(settings, verdicts.findings, verdicts.counts, fmt=fmt, output=output)
    return exit_code(verdicts.findings, fail_on)
