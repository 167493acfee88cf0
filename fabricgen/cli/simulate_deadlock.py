"""`fabricgen simulate deadlock`: routes and buffer dependencies."""

from pathlib import Path
from typing import Any

import click

from fabricgen.cli.names import names_in
from fabricgen.cli.options import (
    FILE,
    FOLDER,
    expand_option,
    inventory_option,
    observed_options,
    policy_of,
)
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import Settings, verb
from fabricgen.vocabulary import Repair


@click.command("deadlock")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@observed_options
@click.option(
    "--failures",
    type=click.IntRange(0, 3),
    help="Prove every set of up to this many links that fail at the same time.  [default: 0; 1 with "
    "--switch-failures or --repair local]",
)
@click.option("--switch-failures", is_flag=True, help="Let switches fail as well as links.")
@click.option(
    "--repair",
    type=click.Choice([word.value for word in Repair]),
    default=Repair.NONE.value,
    show_default=True,
    help="local: a switch next to a failure sends packets to another neighbor at once (fast reroute).",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed for samples of failure sets.")
@click.option("--scheduler", metavar="URL", help="Use the workers of the Dask scheduler at tcp://HOST:PORT.")
@click.option("--plane", shell_complete=names_in("planes"), help="Prove only this plane.")
@click.option(
    "--lfts",
    type=FOLDER,
    help="Folder with dumps of OpenSM or ibdiagnet, which replace a run of OpenSM.",
)
@click.option("--demonstrate", is_flag=True, help="Run flows around a cycle packet by packet, and show the freeze.")
@click.option(
    "--certificate",
    type=FILE,
    metavar="FILE",
    help="Write the proof to this file: the order of channels, and the tables of InfiniBand planes.",
)
@click.option(
    "--routes",
    type=FILE,
    metavar="FILE",
    help="Write the next hops to this file, as JSON by switch and prefix, or by InfiniBand port GUID.",
)
@click.option("--svg", type=FOLDER, metavar="DIR", help="Write a picture of each cycle into this folder.")
@expand_option
@inventory_option
@output_options
@verb
def command(
    settings: Settings,
    failures: int | None,
    switch_failures: bool,
    repair: str,
    seed: int,
    scheduler: str | None,
    expand: bool,
    fmt: str,
    output: Path | None,
    fail_on: str,
    **requested: Any,
) -> int:
    """Prove that no cyclic buffer dependency can exist, or show a cycle that can freeze the fabric.

    InfiniBand planes are proved with OpenSM and ibsim if both are installed, otherwise by their wiring.

    \b
    Examples:
      fabricgen simulate deadlock build --failures 2 --switch-failures
      fabricgen simulate deadlock build --certificate proof.json
    """
    from fabricgen.api.deadlock import DeadlockRequest, FailureOptions, simulate_deadlock
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.deadlock import deadlock_lines, deadlock_object, deadlock_unjudged
    from fabricgen.report.packets import packets_lines, packets_object
    from fabricgen.simulate.deadlock.certificate import seals

    chosen = FailureOptions(failures, switch_failures, Repair(repair), seed, scheduler, settings.jobs)
    request = DeadlockRequest(failures=chosen, **requested)
    found = simulate_deadlock(request, policy=policy_of(settings, expand), progress=TerminalProgress(settings))
    own: dict[str, object] = {"deadlock": deadlock_object(found.planes, seals(found.planes) if fmt == "json" else None)}
    lines = [*deadlock_lines(found.planes)]
    if found.packets is not None:
        own["packets"] = packets_object(found.packets)
        lines += packets_lines(found.packets)
    if fmt == "bmwg":
        from fabricgen.api.benchmark import deadlock_benchmark

        own["bmwg"] = deadlock_benchmark(request)
    return report(
        settings, found, verb="simulate deadlock", fmt=fmt, output=output, fail_on=fail_on, own=own, lines=lines,
        unjudged=[*deadlock_unjudged(found.planes)],
    )  # fmt: skip
