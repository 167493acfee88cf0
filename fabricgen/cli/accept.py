"""`fabricgen accept`: measurements against what the files promise."""

from collections.abc import Iterable
from pathlib import Path

import click

from fabricgen.cli.names import OneOf
from fabricgen.cli.options import inventory_option, policy_of, work_order_option
from fabricgen.cli.output import output_options, report
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError


def _stages() -> Iterable[str]:
    from fabricgen.acceptance.planned import Stage

    return [stage.value for stage in Stage]


@click.command("accept")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--unit",
    type=click.Choice(["Gb/s", "MiB/s"]),
    default="Gb/s",
    show_default=True,
    help="Unit of perftest, which does not write it; the scripts of `handoff acceptance` use Gb/s.",
)
@click.option(
    "--stages",
    multiple=True,
    metavar="STAGE",
    type=OneOf(_stages),
    help="Judge this stage only: lldp, loopback, near, back, far, bisection, rails, collectives, incast, watchdog or "
    "failover; can be repeated. Default: all, and a stage without results is an error.",
)
@click.option("--watermarks", is_flag=True, help="Also compare watermarks of buffers with xoff, thresholds and ECN.")
@work_order_option
@inventory_option
@output_options
@verb
def command(
    settings: Settings,
    bundle: Path,
    results: tuple[Path, ...],
    unit: str,
    stages: tuple[str, ...],
    watermarks: bool,
    work_order: Path | None,
    inventory: Path | None,
    fmt: str,
    output: Path | None,
    fail_on: str,
) -> int:
    """Judge measured results against what the files of a bundle promise.

    RESULTS are the folder of `handoff acceptance` after its run, or files and folders with results of nccl-tests,
    rccl-tests, perftest, OSU and iperf3, LLDP dumps, and counters of switches and NICs before and after. The first
    line is the cause of what is slow, with its evidence and the next command.

    \b
    Examples:
      fabricgen accept build acceptance
      fabricgen accept build acceptance --stages near --format junit
    """
    from fabricgen.api.acceptance import accept
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.handoff.work_order import write_work_order
    from fabricgen.report.acceptance import acceptance_json, acceptance_lines

    found = accept(
        bundle,
        results,
        unit=unit,
        stages=stages,
        watermarks=watermarks,
        inventory=inventory,
        policy=policy_of(settings, False),
        progress=TerminalProgress(settings),
    )
    if work_order:
        if found.bundle.cabling is None:
            raise UsageError(
                "--work-order compares cables: the results have no LLDP dumps, or --stages leaves them out"
            )
        write_work_order(work_order, found.bundle, found.bundle.cabling.miscablings)
    own = dict(acceptance_json(found.measured, found.causes, found.fairness, found.unjudged))
    if fmt == "bmwg":
        from fabricgen.api.benchmark import device_under_test

        own["bmwg"] = {"dut": device_under_test(found.bundle)}
    return report(
        settings,
        found,
        verb="accept",
        fmt=fmt,
        output=output,
        fail_on=fail_on,
        own=own,
        lines=acceptance_lines(found.measured, found.causes),
        unjudged=found.unjudged,
    )
