"""`fabricgen compare`: fabrics side by side, and where each wins."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabricgen.cli.names import names_in, names_of
from fabricgen.cli.options import message_bytes, policy_of, templates_option
from fabricgen.cli.settings import Settings, verb
from fabricgen.cli.streams import width_of, write
from fabricgen.errors import UsageError
from fabricgen.units import parse_span_s

if TYPE_CHECKING:
    from fabricgen.simulate.bandwidth.lost_time import FailureRates

FORMATS = ("text", "json", "markdown", "html")
_RATE = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,12})?")


@click.command("compare")
@click.argument("paths", nargs=-1, metavar="[INVENTORY|BUNDLE]...", type=click.Path(path_type=Path))
@click.option(
    "--designs", metavar="NAMES",
    help="Make candidates for --gpus: all, or designs separated by commas; fat-tree:2 has an oversubscription of 2:1.",
)  # fmt: skip
@click.option("--gpus", type=click.IntRange(1), metavar="N", help="GPUs of the candidates of --designs.")
@click.option(
    "--platform", shell_complete=names_of("platforms"),
    help="Switch platform of the candidates.  [default: that of init]",
)  # fmt: skip
@click.option(
    "--pattern", "patterns", multiple=True, metavar="NAME", shell_complete=names_of("patterns"),
    help="Traffic pattern. The option can be repeated.  [default: all but storage, reduce-scatter and all-gather]",
)  # fmt: skip
@click.option("--size", metavar="BYTES", help="Buffer of one rank, for example 64MB or 256MiB.  [default: 256MiB]")
@click.option(
    "--placement", type=click.Choice(["aligned", "fragmented"]), default="aligned", show_default=True,
    help="Order of the ranks: that of the hosts in the files, or shuffled.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True,
    help="Seed for hashes, shuffles and samples of failures.",
)  # fmt: skip
@click.option("--draws", type=click.IntRange(1, 1000), default=8, show_default=True, help="Number of hashes drawn.")
@click.option(
    "--failure-sets", type=click.IntRange(0, 100_000), default=64, show_default=True, metavar="N",
    help="Most sets of one and of two failures to judge, of links and of switches each; 0: none.",
)  # fmt: skip
@click.option(
    "--failures", type=click.IntRange(0, 3), default=1, show_default=True,
    help="Prove freedom from deadlock for up to this many links that fail at the same time.",
)  # fmt: skip
@click.option(
    "--rates", metavar="KIND=RATE,...",
    help="How often one part of a kind fails in a month, for example host-link=0.02,link=0.01,switch=0.005: print the "
    "GPU-seconds that failures cost. fabricgen has no default rates.",
)  # fmt: skip
@click.option("--repair", metavar="TIME", help="With --rates: how long a failure lasts.  [default: 4h]")
@click.option(
    "--restart", metavar="TIME", help="With --rates: what a job that stops loses on each GPU.  [default: 10min]"
)
@click.option("--grow-to", type=click.IntRange(1), metavar="GPUS", help="GPUs to grow to.  [default: twice as many]")
@click.option("--plane", shell_complete=names_in("planes"), help="Plane to compare.  [default: the first with jobs]")
@click.option(
    "--format", "fmt", type=click.Choice(FORMATS), default="text", show_default=True, help="Format of the comparison."
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of standard output.",
)
@templates_option
@verb
def command(
    settings: Settings,
    paths: tuple[Path, ...],
    designs: str | None,
    gpus: int | None,
    platform: str | None,
    patterns: tuple[str, ...],
    size: str | None,
    placement: str,
    seed: int,
    draws: int,
    failure_sets: int,
    failures: int,
    rates: str | None,
    repair: str | None,
    restart: str | None,
    grow_to: int | None,
    plane: str | None,
    fmt: str,
    output: Path | None,
    templates: Path | None,
) -> int:
    """Compare fabrics: what each costs, carries, loses by failures, and needs to grow; and where each wins.

    Inventories are rendered into a temporary folder. Candidates are made in memory with equal hosts.

    \b
    Examples:
      fabricgen compare my-fabric my-fabric-grown --grow-to 512
      fabricgen compare --designs all --gpus 128 --format markdown
      fabricgen compare my-fabric build --format html -o compare.html
    """
    from fabricgen.api.compared import CompareOptions
    from fabricgen.api.comparing import compare
    from fabricgen.cli.output import EXIT_FINDINGS, json_text, print_findings
    from fabricgen.cli.progress import TerminalProgress
    from fabricgen.report.compare import compare_markdown, compare_text

    options = CompareOptions(
        patterns, None if size is None else message_bytes(size), placement, seed, draws, failure_sets, failures,
        grow_to, plane, settings.jobs, templates, _rates(rates, repair, restart),
    )  # fmt: skip
    found = compare(
        paths, designs=designs, gpus=gpus, platform=platform, options=options, policy=policy_of(settings),
        progress=TerminalProgress(settings),
    )  # fmt: skip
    if not found.content:
        print_findings(settings, found.findings, found.counts, found.suppressed, "json" if fmt == "json" else "text")
        return EXIT_FINDINGS
    if fmt == "json":
        text = json_text({"compare": found.content})
    elif fmt == "markdown":
        text = compare_markdown(found.content)
    elif fmt == "html":
        from fabricgen.page.comparison import comparison_page

        text = comparison_page(found.content)
    else:
        text = compare_text(found.content, 0 if output else width_of(sys.stdout))
    if output is None:
        write(text, wraps=fmt == "text")
    else:
        from fabricgen.atomic import write_atomically

        write_atomically(output, f"{text}\n".encode())
    return 0


def _rates(text: str | None, repair: str | None, restart: str | None) -> "FailureRates | None":
    from fabricgen.results import FailureKind
    from fabricgen.simulate.bandwidth.lost_time import FailureRates

    if text is None:
        if repair is not None or restart is not None:
            raise UsageError("--repair and --restart are for --rates")
        return None
    kinds = {kind.value.replace(" ", "-"): kind for kind in FailureKind}
    found: dict[FailureKind, float] = {}
    for part in text.split(","):
        name, _, rate = part.strip().partition("=")
        if name not in kinds or not _RATE.fullmatch(rate):
            raise UsageError(f"--rates: {part.strip()!r} is not one of {', '.join(kinds)} and a number, as link=0.01")
        found[kinds[name]] = float(rate)
    default = FailureRates(found)
    return FailureRates(
        found, _seconds("--repair", repair, default.repair_s), _seconds("--restart", restart, default.restart_s)
    )


def _seconds(option: str, text: str | None, default: float) -> float:
    try:
        return default if text is None else parse_span_s(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
