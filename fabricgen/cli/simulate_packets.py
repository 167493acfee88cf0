"""`fabricgen simulate packets`: packet by packet."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricgen.cli.names import names_in
from fabricgen.cli.options import (
    FOLDER,
    balance_option,
    expand_option,
    hash_options,
    inventory_option,
    jobs_options,
    observed_options,
    policy_of,
    print_patterns,
    require_one_source,
    size_option,
    subnet_options,
    subnets_of,
    traffic_options,
)
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError
from fabricgen.units import parse_time_ns

if TYPE_CHECKING:
    from fabricgen.results import Compat
    from fabricgen.simulate.packets.failed_link import FailedLink

_COMPAT = {"hpcc": "hpcc", "none": ""}


@click.command("packets")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@observed_options
@traffic_options
@subnet_options
@jobs_options
@hash_options
@balance_option
@click.option(
    "--fail",
    metavar="LINK@TIME",
    help="Take a link between switches down, given by one of its ports: 'leaf1|Ethernet0@20us'.",
)
@click.option(
    "--convergence",
    metavar="TIME",
    help="With --fail: the time until the switches have the routes without the link.  [default: 1ms, an assumption]",
)
@click.option(
    "--up",
    metavar="TIME",
    help="With --fail: the link comes up again after this time, and the switches have its routes --convergence later.",
)
@size_option("4MiB")
@click.option(
    "--compat",
    type=click.Choice(list(_COMPAT)),
    callback=lambda *given: _compat(given[2]),
    help="Clock and tie rules of a scenario: those of HPCC's ns-3, or exact ones.  [default: those of the file]",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed for marking and hashing.")
@click.option(
    "--draws",
    metavar="K",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Run with this number of seeds, from --seed on, in --jobs processes.",
)
@click.option(
    "--max-hops",
    metavar="N",
    type=click.IntRange(1),
    help="Take a slice of the hosts if the run has more packet hops.  [default: 50000000, about ten seconds]",
)
@click.option("--series", type=FOLDER, help="Write time series and their pictures into this folder.")
@click.option("--svg", type=FOLDER, help="Write only the pictures into this folder.")
@click.option("--plane", shell_complete=names_in("planes"), help="Simulate only this plane.")
@click.option(
    "--priorities",
    metavar="LIST",
    callback=lambda *given: _priorities(given[2]),
    help="Run the pattern on each of these priorities at the same time, for example 3,4,0.  [default: the first "
    "lossless one]",
)
@expand_option
@inventory_option
@output_options
@verb
def command(
    settings: Settings,
    scenario: Path | None,
    compat: "Compat | None",
    lfts: Path | None,
    vl_buffer: str | None,
    adaptive_routing: bool,
    fail: str | None,
    convergence: str | None,
    up: str | None,
    expand: bool,
    fmt: str,
    output: Path | None,
    fail_on: str,
    **requested: Any,
) -> int:
    """Simulate traffic packet by packet: buffers, pause frames, ECN marks and rates; freezes, drops and victims.

    \b
    Examples:
      fabricgen simulate packets build --pattern incast --size 1MB
      fabricgen simulate packets --scenario scenario.json --series series
    """
    from fabricgen.api.packets import PacketsRequest, simulate_packets, simulate_packets_of_scenario
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.packets import packets_lines, packets_object, packets_objects

    if print_patterns(requested["pattern"]):
        return 0
    subnets, failed = subnets_of(lfts, vl_buffer, adaptive_routing), _failed(fail, convergence, up)
    request = PacketsRequest(subnets=subnets, failed=failed, jobs=settings.jobs, **requested)
    require_one_source(request, scenario, "balance", "seed", "draws", "jobs", "series", "svg")
    if scenario is None and compat is not None:
        raise UsageError("--compat is for scenarios only")
    policy, progress = policy_of(settings, expand), TerminalProgress(settings)
    if scenario is not None:
        found = simulate_packets_of_scenario(scenario, request, compat=compat, policy=policy, progress=progress)
        own = {"packets": packets_object(found.runs[0])} if found.runs else {}
    else:
        found = simulate_packets(request, policy=policy, progress=progress)
        own = {"packets": packets_objects(found.runs)} if found.runs else {}
        if fmt == "bmwg":
            from fabricgen.api.benchmark import packets_benchmark

            own["bmwg"] = packets_benchmark(request)
    lines = [line for run in found.runs for line in packets_lines(run)]
    return report(
        settings, found, verb="simulate packets", fmt=fmt, output=output, fail_on=fail_on, own=own, lines=lines
    )


def _compat(word: str | None) -> "Compat | None":
    from fabricgen.results import Compat

    return None if word is None else Compat(_COMPAT[word])


def _failed(fail: str | None, convergence: str | None, up: str | None) -> "FailedLink | None":
    from fabricgen.simulate.packets.failed_link import FailedLink

    if fail is None:
        if convergence is not None or up is not None:
            raise UsageError("--convergence and --up are for --fail")
        return None
    end, _, time = fail.rpartition("@")
    switch, _, port = end.partition("|")
    if not (switch and port):
        raise UsageError(f"--fail: {fail!r} is not a port and a time, for example 'leaf1|Ethernet0@20us'")
    at_ns, converging_ns = _time_ns("--fail", time), _time_ns("--convergence", convergence or "1ms")
    if up is None:
        return FailedLink(switch, port, at_ns, at_ns + converging_ns)
    up_at_ns = at_ns + _time_ns("--up", up)
    if up_at_ns == at_ns:
        raise UsageError("--up: the link is up again at the time of its failure")
    return FailedLink(switch, port, at_ns, at_ns + converging_ns, up_at_ns, up_at_ns + converging_ns)


def _time_ns(option: str, text: str) -> int:
    try:
        return parse_time_ns(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error


def _priorities(text: str | None) -> tuple[int, ...]:
    found = [word.strip() for word in text.split(",")] if text is not None else []
    if any(len(word) != 1 or word not in "01234567" for word in found):
        raise UsageError(f"--priorities: {text!r} is not a list of priorities from 0 to 7, for example 3,4")
    return tuple(dict.fromkeys(map(int, found)))
