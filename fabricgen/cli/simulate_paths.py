"""`fabricgen simulate paths`: lists of SRv6 uSIDs."""

from pathlib import Path
from typing import Any

import click

from fabricgen.cli.names import names_in
from fabricgen.cli.options import expand_option, inventory_option, observed_options, policy_of
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import Settings, verb


@click.command("paths")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@observed_options
@click.option("--plane", shell_complete=names_in("planes"), help="Follow the lists of this plane only.")
@expand_option
@inventory_option
@output_options
@verb
def command(settings: Settings, expand: bool, fmt: str, output: Path | None, fail_on: str, **requested: Any) -> int:
    """Follow each list of SRv6 uSIDs through the tables of the switches, and compare its way with the wiring.

    \b
    Examples:
      fabricgen simulate paths build
      fabricgen simulate paths build --plane compute --format json
    """
    from fabricgen.api.paths import simulate_paths
    from fabricgen.api.requests import SimulationRequest
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.paths import paths_lines, paths_object

    request = SimulationRequest(**requested)
    found = simulate_paths(request, policy=policy_of(settings, expand), progress=TerminalProgress(settings))
    return report(
        settings, found, verb="simulate paths", fmt=fmt, output=output, fail_on=fail_on,
        own={"paths": paths_object(found.planes)}, lines=[*paths_lines(found.planes)],
    )  # fmt: skip
