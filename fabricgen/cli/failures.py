"""Which failures `simulate deadlock` and `check` go through."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from fabricgen.cli.settings import Settings, several
from fabricgen.vocabulary import Repair

if TYPE_CHECKING:
    from fabricgen.simulate.deadlock import Failures


@dataclass(frozen=True)
class FailureChoice:
    """The options as given. What fails besides links, or how switches repair, asks for single failures at least."""

    depth: int | None = None
    switches: bool = False
    repair: str = "none"
    seed: int = 0
    scheduler: str | None = None

    def chosen(self, settings: Settings) -> "Failures":
        """The same for the judge. Raises UsageError where the scheduler cannot be had."""
        from fabricgen.simulate.deadlock import Failures
        from fabricgen.simulate.deadlock.failures.sweep import in_processes, on_dask

        spread = on_dask(self.scheduler) if self.scheduler else in_processes(settings.jobs)
        depth = int(self.switches or self.repair != "none") if self.depth is None else self.depth
        return Failures(depth, self.switches, Repair(self.repair), self.seed, spread)


failure_options = several(
    click.option(
        "--failures",
        type=click.IntRange(0, 3),
        help="Judge every set of up to so many links that fail together.  [default: 0; with --switch-failures or "
        "--repair local 1]",
    ),
    click.option("--switch-failures", is_flag=True, help="Let switches fail, too."),
    click.option(
        "--repair",
        type=click.Choice(["none", "local"]),
        default="none",
        show_default=True,
        help="local: a struck switch sends packets to another neighbor at once (fast reroute).",
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of samples."),
    click.option("--scheduler", metavar="URL", help="Judge on the workers of a Dask scheduler, tcp://HOST:PORT."),
)
