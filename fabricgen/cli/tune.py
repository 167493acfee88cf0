"""`fabricgen tune`: the ECN thresholds, alpha and queue pairs with which a pattern runs best."""

from pathlib import Path

import click

from fabricgen.cli.names import names_in, names_of
from fabricgen.cli.options import inventory_arguments, layers_of, message_bytes, nccl_option, policy_of
from fabricgen.cli.settings import Settings, verb
from fabricgen.errors import UsageError
from fabricgen.units import whole_number
from fabricgen.vocabulary import Goal

FORMATS = ("text", "json", "markdown")
_MOST_QUEUE_PAIRS = 64
_LEAST_BUDGET = 1_000_000


@click.command("tune")
@inventory_arguments("BUNDLE|INVENTORY...")
@click.option(
    "--pattern", metavar="NAME", required=True, shell_complete=names_of("patterns"),
    help="Traffic pattern; `fabricgen list patterns` prints all.",
)  # fmt: skip
@click.option(
    "--for", "goal", type=click.Choice([word.value for word in Goal]), default=Goal.P99.value, show_default=True,
    help="What to improve: the 99th percentile of completion times, the bus bandwidth, or the number of pauses.",
)  # fmt: skip
@click.option("--size", metavar="BYTES", help="Buffer of one rank, for example 64MB or 4MiB.  [default: 4MiB]")
@click.option(
    "--queue-pairs", metavar="LIST", default="1,2,4,8", show_default=True,
    help="Numbers of queue pairs to try, beside that of the files.",
)  # fmt: skip
@nccl_option
@click.option(
    "--draws", metavar="K", type=click.IntRange(6, 1000), default=12, show_default=True,
    help="Draws on which the best settings are confirmed, after those of the search.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="First seed of hashes and marks, and of the "
    "choice of settings.",
)  # fmt: skip
@click.option(
    "--budget", metavar="HOPS", type=click.IntRange(_LEAST_BUDGET), default=400_000_000, show_default=True,
    help="About the number of packet hops of all runs. A run of more than a 200th of it takes a slice of the hosts.",
)  # fmt: skip
@click.option("--scheduler", metavar="URL", help="Use the workers of the Dask scheduler at tcp://HOST:PORT.")
@click.option("--plane", shell_complete=names_in("planes"), help="Plane to tune.  [default: the first one that marks]")
@click.option(
    "--evidence", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the JSON to this file, for example build/tune/incast.json: `render` keeps it in a bundle.",
)  # fmt: skip
@click.option(
    "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True, help="Format of the result."
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of standard output.",
)  # fmt: skip
@verb
def command(
    settings: Settings,
    inventories: tuple[Path, ...],
    values: tuple[str, ...],
    templates: Path | None,
    pattern: str,
    goal: str,
    size: str | None,
    queue_pairs: str,
    nccl: str | None,
    draws: int,
    seed: int,
    budget: int,
    scheduler: str | None,
    plane: str | None,
    evidence: Path | None,
    fmt: str,
    output: Path | None,
) -> int:
    """Search for the ECN thresholds, alpha and queue pairs with which a pattern runs best, by packet runs.

    Only settings that the rules allow are tried. The best one runs again on draws that the search did not see. If the
    interval of its gain there contains 0, the verdict is to keep the present settings.

    \b
    Examples:
      fabricgen tune my-fabric --pattern incast --for p99
      fabricgen tune build --pattern permutation --for busbw --format markdown
      fabricgen tune build --pattern ring-all-reduce --for busbw --nccl 2.30
    """
    from fabricgen.api.tune import DEFAULT_SIZE_BYTES, tune
    from fabricgen.cli.output import EXIT_FINDINGS, print_findings, report
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.tuning import tuning_lines, tuning_markdown, tuning_object

    found = tune(
        layers_of(inventories, values, templates),
        pattern=pattern,
        goal=Goal(goal),
        size_bytes=DEFAULT_SIZE_BYTES if size is None else message_bytes(size),
        plane=plane,
        draws=draws,
        seed=seed,
        queue_pairs=_numbers(queue_pairs),
        nccl=nccl,
        budget_hops=budget,
        scheduler=scheduler,
        jobs=settings.jobs,
        policy=policy_of(settings),
        progress=TerminalProgress(settings),
    )
    if found.result is None:
        print_findings(settings, found.findings, found.counts, found.suppressed, "json" if fmt == "json" else "text")
        return EXIT_FINDINGS
    own = {"tune": tuning_object(found.result, found.profile, found.digest)}
    if evidence is not None:
        evidence.parent.mkdir(parents=True, exist_ok=True)
        report(settings, found, verb="tune", fmt="json", output=evidence, fail_on="never", own=own)
    if fmt == "markdown":
        _write_markdown(tuning_markdown(found.result, found.profile), output)
        return 0
    return report(
        settings, found, verb="tune", fmt=fmt, output=output, fail_on="error", own=own,
        lines=[*tuning_lines(found.result, found.profile)],
        unjudged=[f"plane {name}: {reason}" for name, reason in found.left_out.items()],
    )  # fmt: skip


def _write_markdown(text: str, output: Path | None) -> None:
    from fabricgen.cli.streams import write

    if output is None:
        write(text)
    else:
        from fabricgen.atomic import write_atomically

        write_atomically(output, f"{text}\n".encode())


def _numbers(text: str) -> tuple[int, ...]:
    found = [whole_number(word.strip()) for word in text.split(",")]
    if not all(number is not None and 1 <= number <= _MOST_QUEUE_PAIRS for number in found):
        raise UsageError(f"--queue-pairs: {text!r} is not a list of numbers from 1 to {_MOST_QUEUE_PAIRS}, as 1,2,4")
    return tuple(sorted({number for number in found if number}))
