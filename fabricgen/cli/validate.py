"""`fabricgen validate`: rules over rendered files."""

from pathlib import Path

import click

from fabricgen.cli.names import OneOf, releases
from fabricgen.cli.options import (
    cache_options,
    choice_options,
    inventory_option,
    observed_options,
    platform_option,
    policy_of,
    scheduler_option,
    store_of,
)
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import Settings, verb


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@observed_options
@choice_options
@platform_option
@click.option(
    "--yang",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Also check with libyang and the YANG models in this folder.",
)
@click.option(
    "--deploy",
    is_flag=True,
    help="Also report what must not be deployed: placeholder GUIDs, files that differ from the manifest, and secrets.",
)
@click.option(
    "--patch",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Judge a patch for `config apply-patch` on these files instead: what the updater and the daemons do with it.",
)
@click.option(
    "--release",
    type=OneOf(releases),
    help="Also report what the files have that this SONiC release does not know, such as 202605 or master.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write why the tenants are apart, as JSON that docs/isolation_check.py verifies.",
)
@inventory_option
@scheduler_option
@cache_options
@output_options
@verb
def command(
    settings: Settings,
    paths: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    neighbors: Path | None,
    platform_files: tuple[Path, ...],
    yang: Path | None,
    deploy: bool,
    patch: Path | None,
    release: str | None,
    certificate: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    expand: bool,
    inventory: Path | None,
    scheduler: str | None,
    cache: Path | None,
    no_cache: bool,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Check rendered files, or any config_db.json, with the rules.

    PATHS are bundles, config_db.json files or folders of them, or folders with an opensm.conf.

    \b
    Examples:
      fabricgen validate build --deploy
      fabricgen validate build --release 202605
      fabricgen validate running --select FG5,FG6 --format json
    """
    from fabricgen.api.validation import validate
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.sonic.release_models import release_number

    if certificate is not None:  # first: it is refused for files without tenants
        from fabricgen.api.isolation import write_certificate

        write_certificate(paths, certificate)
    found = validate(
        paths,
        links=links,
        lldp=lldp,
        neighbors=neighbors,
        select=select,
        ignore=ignore,
        platforms=platform_files,
        yang=yang,
        deploy=deploy,
        patch=patch,
        release=release_number(release) if release else None,
        inventory=inventory,
        jobs=settings.jobs,
        scheduler=scheduler,
        cache=store_of(cache, no_cache=no_cache or bool(scheduler or patch)),
        policy=policy_of(settings, expand),
        progress=TerminalProgress(settings),
    )
    return report(settings, found, verb="validate", fmt=fmt, output=output, fail_on=fail_on)
