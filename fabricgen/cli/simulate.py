"""`fabricgen simulate`: what a fabric does, from its rendered files."""

from pathlib import Path

import click

from fabricgen.cli.clock import Clock
from fabricgen.cli.failures import FailureChoice, failure_options
from fabricgen.cli.judge import link_options, open_verdicts, simulate_deadlock, told
from fabricgen.cli.output import exit_code, expand_option, inventory_option, output_options, print_result
from fabricgen.cli.places import InventoryPlaces
from fabricgen.cli.proof import proof_options, write_proof
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError


@click.group("simulate")
def command() -> None:
    """Prove what the fabric does, from rendered files alone."""


@command.command("deadlock")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@link_options
@failure_options
@click.option("--plane", help="Only this plane.")
@click.option(
    "--lfts",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with dumps of OpenSM or ibdiagnet to judge, instead of running OpenSM.",
)
@proof_options
@expand_option
@inventory_option
@output_options
@verb
def deadlock(
    settings: Settings,
    paths: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    failures: int,
    switch_failures: bool,
    repair: str,
    seed: int,
    scheduler: str | None,
    plane: str | None,
    expand: bool,
    inventory: Path | None,
    lfts: Path | None,
    certificate: Path | None,
    routes: Path | None,
    svg: Path | None,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Prove that no cyclic buffer dependency can exist, or show the cycle that can freeze the fabric.

    InfiniBand planes are proved on the real OpenSM under ibsim where both are installed, else by their wiring.
    """
    if not paths and lfts is None:
        raise UsageError("nothing to judge: give a bundle or config_db files, or dumps with --lfts")
    clock = Clock(settings)
    verdicts = open_verdicts(settings, paths, links, lldp)
    if (
        plane is not None
        and verdicts.bundle.wiring
        and plane not in [each.name for each in verdicts.bundle.wiring.planes]
    ):
        known = ", ".join(each.name for each in verdicts.bundle.wiring.planes)
        raise UsageError(f"no plane is called {plane!r}; the bundle has: {known}")
    wanted = FailureChoice(failures, switch_failures, repair, seed, scheduler)
    results = simulate_deadlock(settings, verdicts, plane, lfts, wanted)
    write_proof(verdicts.bundle, results, certificate, routes, svg)
    clock.lap("simulated", f"routes and buffer dependencies of {len(verdicts.bundle.devices)} devices")
    outcome = told(settings, verdicts, InventoryPlaces(verdicts.bundle.root, inventory), expand=expand)
    print_result(
        settings, outcome.findings, verdicts.counts, fmt=fmt, output=output, own=verdicts.own, lines=verdicts.lines,
        suppressed=outcome.suppressed, verb="simulate deadlock", codes=verdicts.codes, fail_on=fail_on,
    )  # fmt: skip
    return exit_code(outcome.findings, fail_on)
