"""`fabricgen simulate`: what a fabric does, from its rendered files."""

from collections.abc import Sequence
from pathlib import Path

import click

from fabricgen.cli import packets
from fabricgen.cli.clock import Clock
from fabricgen.cli.failures import FailureChoice, failure_options
from fabricgen.cli.judge import codes_of, link_options, open_verdicts, simulate_congestion, simulate_deadlock, told
from fabricgen.cli.output import exit_code, expand_option, inventory_option, output_options, print_result
from fabricgen.cli.places import InventoryPlaces
from fabricgen.cli.proof import proof_options, write_proof
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError
from fabricgen.report.summary import Counts
from fabricgen.results import CongestionResult
from fabricgen.units import parse_bytes


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
@click.option("--demonstrate", is_flag=True, help="Run flows around a cycle packet by packet, and show the freeze.")
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
    demonstrate: bool,
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
    of_failures = [
        name for name, given in {"--failures": failures, "--switch-failures": switch_failures}.items() if given
    ]
    of_tables = [name for name, given in {"--certificate": certificate, "--routes": routes}.items() if given]
    if of_failures or of_tables:
        from fabricgen.simulate.deadlock.infiniband_findings import left_out

        verdicts.findings += left_out(results, of_failures, of_tables)
    write_proof(verdicts.bundle, results, certificate, routes, svg)
    clock.lap("simulated", f"routes and buffer dependencies of {len(verdicts.bundle.devices)} devices")
    if demonstrate:
        packets.demonstrate(settings, verdicts, results)
        clock.lap("tried", "the worst cycle, packet by packet")
    outcome = told(settings, verdicts, InventoryPlaces(verdicts.bundle.root, inventory), expand=expand)
    print_result(
        settings, outcome.findings, verdicts.counts, fmt=fmt, output=output, own=verdicts.own, lines=verdicts.lines,
        suppressed=outcome.suppressed, verb="simulate deadlock", codes=verdicts.codes, fail_on=fail_on,
    )  # fmt: skip
    return exit_code(outcome.findings, fail_on)


@command.command("congestion")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@link_options
@click.option("--pattern", metavar="NAME", help="Traffic pattern; `list` prints them.  [default: ring-all-reduce]")
@click.option("--scenario", type=click.Path(path_type=Path, dir_okay=False), help="A scenario file instead of PATHS.")
@click.option("--size", metavar="BYTES", help="Buffer of one rank, as 64MB or 256MiB.  [default: 256MiB]")
@click.option(
    "--placement",
    default="aligned",
    show_default=True,
    metavar="HOW",
    help="aligned, fragmented, or a file with a host on each line in the order of ranks.",
)
@click.option(
    "--queue-pairs", type=click.IntRange(1, 64), default=1, show_default=True, help="Of a connection, hashed apart."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of hashes, shuffles, permutations.")
@click.option("--draws", type=click.IntRange(1), default=1, show_default=True, help="Hashes to draw for the load.")
@click.option("--plane", help="Only this plane.")
@click.option("--svg", type=click.Path(path_type=Path, file_okay=False), help="Folder for pictures of the trees.")
@expand_option
@inventory_option
@output_options
@verb
def congestion(
    settings: Settings,
    paths: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    pattern: str | None,
    scenario: Path | None,
    size: str | None,
    placement: str,
    queue_pairs: int,
    seed: int,
    draws: int,
    plane: str | None,
    svg: Path | None,
    expand: bool,
    inventory: Path | None,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Say who would hold up whom: link loads, fair rates, congestion trees and victims under PFC, by arithmetic."""
    if pattern == "list":
        from fabricgen.simulate.patterns import PATTERNS

        click.echo("\n".join(PATTERNS))
        return 0
    if bool(paths) == (scenario is not None):
        raise UsageError("give a bundle or config_db files, or one scenario with --scenario")
    clock = Clock(settings)
    if scenario is not None:
        if pattern is not None or plane is not None:
            raise UsageError("a scenario brings its own flows: --pattern and --plane are for bundles")
        return _congestion_of_scenario(settings, scenario, svg, fmt, output, fail_on)
    from fabricgen.simulate.congestion.analysis import Options
    from fabricgen.simulate.patterns import DEFAULT_BYTES, DEFAULT_PATTERN, check_pattern

    check_pattern(pattern or DEFAULT_PATTERN)
    options = Options(
        pattern or DEFAULT_PATTERN, _bytes(size) if size else DEFAULT_BYTES, _placement(placement), queue_pairs, seed,
        draws,
    )  # fmt: skip
    verdicts = open_verdicts(settings, paths, links, lldp)
    results = simulate_congestion(verdicts, options, plane)
    clock.lap("simulated", f"{options.pattern} on {len(verdicts.bundle.devices)} devices")
    _draw(svg, results)
    outcome = told(settings, verdicts, InventoryPlaces(verdicts.bundle.root, inventory), expand=expand)
    print_result(
        settings, outcome.findings, verdicts.counts, fmt=fmt, output=output, own=verdicts.own, lines=verdicts.lines,
        suppressed=outcome.suppressed, verb="simulate congestion", codes=verdicts.codes, fail_on=fail_on,
    )  # fmt: skip
    return exit_code(outcome.findings, fail_on)


def _congestion_of_scenario(
    settings: Settings, file: Path, svg: Path | None, fmt: str, output: Path | None, fail_on: str
) -> int:
    from fabricgen.report.congestion import congestion_lines, congestion_object
    from fabricgen.simulate.congestion.analysis import analyse_scenario
    from fabricgen.simulate.congestion.findings import congestion_findings
    from fabricgen.simulate.scenario import read_scenario
    from fabricgen.simulate.scenario_check import check_scenario

    if mistakes := check_scenario(file):
        print_result(settings, mistakes, Counts(), fmt=fmt, output=output, verb="simulate congestion", fail_on=fail_on)
        return exit_code(mistakes, fail_on)
    scenario = read_scenario(file)
    results = [analyse_scenario(scenario)]
    findings = congestion_findings(None, results)
    _draw(svg, results)
    counts = Counts(sum(node.kind == "switch" for node in scenario.nodes), len(scenario.links))
    print_result(
        settings, findings, counts, fmt=fmt, output=output, own={"congestion": congestion_object(results)},
        lines=list(congestion_lines(results)), verb="simulate congestion", codes=codes_of("FG7"), fail_on=fail_on,
    )  # fmt: skip
    return exit_code(findings, fail_on)


def _draw(folder: Path | None, results: Sequence[CongestionResult]) -> None:
    if folder is None:
        return
    from fabricgen.report.congestion_svg import tree_pictures

    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in tree_pictures(results):
        (folder / name).write_text(picture, encoding="utf-8")


def _bytes(text: str) -> int:
    try:
        size = parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"--size: {error}") from error
    if not size:
        raise UsageError("--size: a message has at least one byte")
    return size


def _placement(text: str) -> str | tuple[str, ...]:
    if text in ("aligned", "fragmented"):
        return text
    if not Path(text).is_file():
        raise UsageError(f"--placement takes aligned, fragmented or a file of hosts; there is no file {text!r}")
    return tuple(filter(None, map(str.strip, Path(text).read_text(encoding="utf-8").splitlines())))


command.add_command(packets.command)
