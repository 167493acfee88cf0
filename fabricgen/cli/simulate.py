"""`fabricgen simulate`: what a fabric does, from its rendered files."""

from collections.abc import Sequence
from pathlib import Path

import click

from fabricgen.atomic import write_atomically
from fabricgen.cli import packets
from fabricgen.cli.clock import Clock
from fabricgen.cli.failures import FailureChoice, failure_options
from fabricgen.cli.judge import codes_of, conclude, link_options, open_verdicts, simulate_congestion, simulate_deadlock
from fabricgen.cli.output import exit_code, expand_option, inventory_option, output_options, print_result
from fabricgen.cli.proof import proof_options, write_proof
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.traffic import lists_patterns, message_bytes, require_one_source, traffic_options
from fabricgen.errors import UsageError
from fabricgen.report.summary import Counts
from fabricgen.results import CongestionResult


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
    failures: int | None,
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
    if lfts is None:
        from fabricgen.simulate.plane.names import require_plane

        require_plane(verdicts.bundle, plane)
    wanted = FailureChoice(failures, switch_failures, repair, seed, scheduler)
    results = simulate_deadlock(settings, verdicts, plane, lfts, wanted)
    of_failures = [
        name for name, given in {"--failures": failures, "--switch-failures": switch_failures}.items() if given
    ]
    of_tables = [name for name, given in {"--certificate": certificate, "--routes": routes}.items() if given]
    if of_failures or of_tables:
        from fabricgen.simulate.deadlock.infiniband.findings import left_out

        verdicts.findings += left_out(results, of_failures, of_tables)
    write_proof(verdicts.bundle, results, certificate, routes, svg)
    clock.lap("simulated", f"routes and buffer dependencies of {len(verdicts.bundle.devices)} devices")
    if demonstrate:
        packets.demonstrate(settings, verdicts, results)
    return conclude(
        settings, verdicts, inventory, verb="simulate deadlock", expand=expand, fmt=fmt, output=output, fail_on=fail_on
    )


@command.command("congestion")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@link_options
@traffic_options
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
    if lists_patterns(pattern):
        return 0
    require_one_source(paths, scenario, pattern=pattern, size=size, plane=plane)
    clock = Clock(settings)
    if scenario is not None:
        return _congestion_of_scenario(settings, scenario, svg, fmt, output, fail_on)
    from fabricgen.simulate.congestion.analysis import Options
    from fabricgen.simulate.patterns import DEFAULT_BYTES, DEFAULT_PATTERN, check_pattern

    check_pattern(pattern or DEFAULT_PATTERN)
    size_bytes = DEFAULT_BYTES if size is None else message_bytes(size)
    options = Options(pattern or DEFAULT_PATTERN, size_bytes, _placement(placement), queue_pairs, seed, draws)
    verdicts = open_verdicts(settings, paths, links, lldp)
    results = simulate_congestion(verdicts, options, plane)
    clock.lap("simulated", f"{options.pattern} on {len(verdicts.bundle.devices)} devices")
    _draw(svg, results)
    return conclude(
        settings,
        verdicts,
        inventory,
        verb="simulate congestion",
        expand=expand,
        fmt=fmt,
        output=output,
        fail_on=fail_on,
    )


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
        write_atomically(folder / name, picture.encode())


def _placement(text: str) -> str | tuple[str, ...]:
    if text in ("aligned", "fragmented"):
        return text
    if not Path(text).is_file():
        raise UsageError(f"--placement takes aligned, fragmented or a file of hosts; there is no file {text!r}")
    return tuple(filter(None, map(str.strip, Path(text).read_text(encoding="utf-8").splitlines())))


command.add_command(packets.command)
