"""`fabricgen simulate packets`: packet by packet."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from fabricgen.cli.clock import Clock
from fabricgen.cli.judge import Verdicts, codes_of, link_options, open_verdicts, told, told_of_inventory
from fabricgen.cli.output import exit_code, expand_option, inventory_option, output_options, print_result
from fabricgen.cli.places import InventoryPlaces
from fabricgen.cli.progress import Watch, watching
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.traffic import lists_patterns, message_bytes, require_one_source, traffic_options
from fabricgen.errors import UsageError
from fabricgen.findings import Location
from fabricgen.report.outcome import Outcome
from fabricgen.report.packets import packets_lines, packets_object, packets_objects
from fabricgen.report.summary import Counts
from fabricgen.results import Compat, DeadlockResult

CODES = ("FG64", "FG708", "FG75", "FG76", "FG79")
_DEFAULT_SIZE = "4MiB"


@click.command("packets")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@link_options
@traffic_options
@click.option("--size", metavar="BYTES", help="Buffer of one rank, as 64MB or 4MiB.  [default: 4MiB]")
@click.option(
    "--compat",
    type=click.Choice(["hpcc", "none"]),
    help="Of a scenario: clock and tie rules of HPCC's ns-3, or exact ones.  [default: what the file asks for]",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of random marks and hashes.")
@click.option("--series", type=click.Path(path_type=Path, file_okay=False), help="Folder for time series and pictures.")
@click.option("--svg", type=click.Path(path_type=Path, file_okay=False), help="Folder for the pictures alone.")
@click.option("--plane", help="Only this plane.")
@click.option(
    "--priorities",
    metavar="LIST",
    help="Run the pattern on each of these at once, as 3,4,0.  [default: the first lossless one]",
)
@expand_option
@inventory_option
@output_options
@verb
def command(
    settings: Settings,
    paths: tuple[Path, ...],
    links: Path | None,
    lldp: Path | None,
    pattern: str | None,
    scenario: Path | None,
    size: str | None,
    compat: str | None,
    seed: int,
    series: Path | None,
    svg: Path | None,
    plane: str | None,
    priorities: str | None,
    expand: bool,
    inventory: Path | None,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Run traffic packet by packet: buffers, pause frames, marks, rates; freezes, drops and victims as they happen."""
    if lists_patterns(pattern):
        return 0
    require_one_source(paths, scenario, pattern=pattern, size=size, plane=plane, priorities=priorities)
    size_bytes = message_bytes(_DEFAULT_SIZE if size is None else size)
    if scenario is None and compat is not None:
        raise UsageError("--compat is for scenarios: files of switches are simulated as they are")
    from fabricgen.simulate.packets import prepare

    prepare(settings.say)
    watch = watching(settings, series, svg)
    own: dict[str, object] = {}
    lines: list[str] = []
    if scenario is not None:
        outcome, counts = _run_scenario(settings, scenario, compat, seed, watch, own, lines)
    else:
        verdicts = open_verdicts(settings, paths, links, lldp)
        _run_bundle(settings, verdicts, pattern, size_bytes, plane, seed, watch, _priorities(priorities))
        outcome = told(settings, verdicts, InventoryPlaces(verdicts.bundle.root, inventory), expand=expand)
        counts, own, lines = verdicts.counts, verdicts.own, verdicts.lines
    print_result(
        settings, outcome.findings, counts, fmt=fmt, output=output, own=own, lines=lines, suppressed=outcome.suppressed,
        verb="simulate packets", codes=codes_of(*CODES), fail_on=fail_on,
    )  # fmt: skip
    return exit_code(outcome.findings, fail_on)


def _run_scenario(
    settings: Settings,
    file: Path,
    compat: str | None,
    seed: int,
    watch: Watch,
    own: dict[str, object],
    lines: list[str],
) -> tuple[Outcome, Counts]:
    from fabricgen.simulate.packets.analysis import simulate_scenario
    from fabricgen.simulate.packets.findings import packet_findings
    from fabricgen.simulate.scenario import check_scenario, read_scenario

    if mistakes := check_scenario(file):
        return told_of_inventory(settings, mistakes, (), Location), Counts()
    clock = Clock(settings)
    scenario = read_scenario(file)
    if compat is not None:
        scenario = replace(scenario, compat=Compat("" if compat == "none" else compat))
    result = simulate_scenario(scenario, seed, watch)
    clock.lap("simulated", f"{result.simulated_ns / 1000:.1f} us, {result.wire_transmissions} packet hops")
    own["packets"] = packets_object(result)
    lines += packets_lines(result)
    switches = sum(node.kind == "switch" for node in scenario.nodes)
    findings = packet_findings(result, Location(str(file)))
    return told_of_inventory(settings, findings, (), Location), Counts(devices=switches, links=len(scenario.links))


def _run_bundle(
    settings: Settings,
    verdicts: Verdicts,
    pattern: str | None,
    size_bytes: int,
    plane: str | None,
    seed: int,
    watch: Watch,
    priorities: Sequence[int],
) -> None:
    from fabricgen.simulate.packets.analysis import simulate_bundle
    from fabricgen.simulate.packets.findings import left_out, packet_findings
    from fabricgen.simulate.packets.probes import probe
    from fabricgen.simulate.patterns import DEFAULT_PATTERN, check_pattern

    check_pattern(pattern or DEFAULT_PATTERN)
    clock = Clock(settings)
    runs = simulate_bundle(verdicts.bundle, pattern or DEFAULT_PATTERN, size_bytes, plane, seed, watch, priorities)
    results = [run.result for run in runs]
    clock.lap("simulated", f"{sum(result.wire_transmissions for result in results)} packet hops")
    for result in results:
        verdicts.findings += packet_findings(result, None, verdicts.bundle)
        verdicts.lines += packets_lines(result)
    verdicts.findings += [*probe(verdicts.bundle, runs), *left_out(verdicts.bundle, plane)]
    clock.lap("probed", "headroom and watchdog of each kind of port")
    verdicts.own["packets"] = packets_objects(results)
    verdicts.codes |= codes_of(*CODES)


def demonstrate(settings: Settings, verdicts: Verdicts, results: Sequence[DeadlockResult]) -> None:
    """Run the worst plane's first cycle packet by packet, where there is one that config_db files make."""
    clock = Clock(settings)
    from fabricgen.simulate.deadlock import PlaneDeadlock
    from fabricgen.simulate.packets import prepare

    cyclic = [result for result in results if isinstance(result, PlaneDeadlock) and result.cycles]
    if not cyclic:
        settings.say("no cycle that config_db.json files make: nothing to demonstrate")
        return
    prepare(settings.say)
    from fabricgen.simulate.demonstration import demonstrate as tried

    result, finding = tried(verdicts.bundle, cyclic[0])
    verdicts.findings.append(finding)
    verdicts.own["packets"] = packets_object(result)
    verdicts.lines += packets_lines(result)
    clock.lap("tried", "the worst cycle, packet by packet")


def _priorities(text: str | None) -> list[int]:
    found = [part.strip() for part in text.split(",")] if text is not None else []
    if any(len(part) != 1 or part not in "01234567" for part in found):
        raise UsageError(f"--priorities: {text!r} is no list of priorities from 0 to 7, such as 3,4")
    return list(dict.fromkeys(int(part) for part in found))
