"""`fabricgen simulate congestion`: completion times and congestion trees, flow by flow."""

from pathlib import Path
from typing import Any

import click

from fabricgen.cli.names import names_in
from fabricgen.cli.options import (
    FILE,
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
    sizes_of,
    subnet_options,
    subnets_of,
    traffic_options,
)
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError
from fabricgen.inputs import read_text


@click.command("congestion")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@observed_options
@traffic_options
@subnet_options
@size_option("256MiB")
@click.option(
    "--placement",
    default="aligned",
    show_default=True,
    metavar="HOW",
    callback=lambda *given: _placement(given[2]),
    help="Hosts of the ranks: aligned, fragmented, a file with one host per line in the order of ranks, or search: "
    "propose a better placement of the jobs.",
)
@jobs_options
@click.option(
    "--save-jobs",
    type=FILE,
    metavar="FILE",
    help="Write the placement that --placement search proposes to this jobs file.",
)
@hash_options
@balance_option
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed for hashes, shuffles and permutations."
)
@click.option(
    "--draws", type=click.IntRange(1), default=1, show_default=True, help="Number of hashes drawn for the link loads."
)
@click.option(
    "--failures",
    type=click.IntRange(0, 2),
    help="Bandwidth after every set of up to this many failed links between switches.  [default: 0; 1 with "
    "--switch-failures]",
)
@click.option("--switch-failures", is_flag=True, help="Let switches fail as well as links.")
@click.option(
    "--sizes",
    metavar="FROM:TO[:FACTOR]",
    callback=lambda *given: () if given[2] is None else sizes_of(given[2]),
    help="Print algorithm and bus bandwidth by buffer size, as nccl-tests does, for example 1KiB:16GiB or "
    "1MiB:1GiB:4; of all collectives, or of --pattern.",
)
@click.option("--plane", shell_complete=names_in("planes"), help="Simulate only this plane.")
@click.option("--svg", type=FOLDER, help="Write pictures of the congestion trees into this folder.")
@expand_option
@inventory_option
@output_options
@verb
def command(
    settings: Settings,
    scenario: Path | None,
    lfts: Path | None,
    vl_buffer: str | None,
    adaptive_routing: bool,
    expand: bool,
    fmt: str,
    output: Path | None,
    fail_on: str,
    **requested: Any,
) -> int:
    """Compute which flows delay which: link loads, fair rates, congestion trees and victims under PFC.

    \b
    Examples:
      fabricgen simulate congestion build --pattern all-to-all --size 64MB
      fabricgen simulate congestion build --failures 1 --switch-failures
      fabricgen simulate congestion build --sizes 1KiB:16GiB --draws 20
      fabricgen simulate congestion build --jobs-file jobs.yaml --placement search
    """
    from fabricgen.api.congestion import CongestionRequest, simulate_congestion, simulate_congestion_of_scenario
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.congestion import congestion_lines, congestion_object, congestion_unjudged

    if print_patterns(requested["pattern"]):
        return 0
    request = CongestionRequest(subnets=subnets_of(lfts, vl_buffer, adaptive_routing), **requested)
    require_one_source(request, scenario, "svg")
    if request.save_jobs is not None and request.placement != "search":
        raise UsageError("--save-jobs is for --placement search")
    if scenario is not None:
        found = simulate_congestion_of_scenario(scenario, svg=request.svg)
    else:
        found = simulate_congestion(request, policy=policy_of(settings, expand), progress=TerminalProgress(settings))
    has_verdict = bool(found.planes) or (scenario is None and request.jobs_file is None)
    own: dict[str, object] = {"congestion": congestion_object(found.planes)} if has_verdict else {}
    if fmt == "bmwg" and scenario is None:
        from fabricgen.api.benchmark import congestion_benchmark

        own["bmwg"] = congestion_benchmark(request)
    return report(
        settings, found, verb="simulate congestion", fmt=fmt, output=output, fail_on=fail_on, own=own,
        lines=[*congestion_lines(found.planes)], unjudged=[*congestion_unjudged(found.planes)],
    )  # fmt: skip


def _placement(text: str) -> str | tuple[str, ...]:
    if text in ("aligned", "fragmented", "search"):
        return text
    if not Path(text).is_file():
        raise UsageError(
            f"--placement: the file {text!r} does not exist; give a file of hosts, or aligned, fragmented or search"
        )
    hosts = tuple(filter(None, map(str.strip, read_text(Path(text)).splitlines())))
    if not hosts:
        raise UsageError(f"--placement: the file {text!r} has no host; write one on each line")
    return hosts
