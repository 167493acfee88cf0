"""`fabricgen simulate packets`: packet by packet."""

from dataclasses import replace
from pathlib import Path

import click

from fabricgen.cli.clock import Clock
from fabricgen.cli.judge import codes_of, told_of_inventory
from fabricgen.cli.output import exit_code, output_options, print_result
from fabricgen.cli.progress import watching
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, Location
from fabricgen.report.packets import packets_lines, packets_object
from fabricgen.report.summary import Counts
from fabricgen.simulate.packets import prepare


@click.command("packets")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--scenario", type=click.Path(path_type=Path, dir_okay=False), help="Scenario file to run.")
@click.option(
    "--compat",
    type=click.Choice(["hpcc", "none"]),
    help="Clock and tie rules of HPCC's ns-3, or the exact ones though the file asks for those. [default: as the file]",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of random marks and hashes.")
@output_options
@verb
def command(
    settings: Settings,
    paths: tuple[Path, ...],
    scenario: Path | None,
    compat: str | None,
    seed: int,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Run traffic packet by packet: buffers, pause frames, marks, rates; freezes, drops and victims as they happen."""
    if (scenario is None) == (not paths):
        raise UsageError("give a bundle or config_db files, or --scenario FILE")
    if scenario is None:
        raise UsageError("this version runs scenario files; give one with --scenario")
    prepare(settings.say)
    findings, own, lines, counts = _run_scenario(settings, scenario, compat, seed)
    outcome = told_of_inventory(settings, findings, (), Location)
    print_result(
        settings, outcome.findings, counts, fmt=fmt, output=output, own=own, lines=lines, suppressed=outcome.suppressed,
        verb="simulate packets", codes=codes_of("FG64", "FG75", "FG76", "FG79"), fail_on=fail_on,
    )  # fmt: skip
    return exit_code(outcome.findings, fail_on)


def _run_scenario(
    settings: Settings, file: Path, compat: str | None, seed: int
) -> tuple[list[Finding], dict[str, object], list[str], Counts]:
    from fabricgen.simulate.packets.analysis import simulate_scenario
    from fabricgen.simulate.packets.findings import packet_findings
    from fabricgen.simulate.scenario import read_scenario
    from fabricgen.simulate.scenario_check import check_scenario

    if mistakes := check_scenario(file):
        return mistakes, {}, [], Counts()
    clock = Clock(settings)
    scenario = read_scenario(file)
    if compat is not None:
        scenario = replace(scenario, compat="" if compat == "none" else compat)
    result = simulate_scenario(scenario, seed, watching(settings))
    clock.lap("simulated", f"{result.simulated_ns / 1000:.1f} us, {result.wire_transmissions} packet hops")
    switches = sum(node.kind == "switch" for node in scenario.nodes)
    counts = Counts(devices=switches, links=len(scenario.links))
    lines = list(packets_lines(result))
    return packet_findings(result, Location(str(file))), {"packets": packets_object(result)}, lines, counts
