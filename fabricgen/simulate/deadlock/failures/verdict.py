"""The failures to judge, and the verdicts on them."""

from dataclasses import dataclass, field

from fabricgen.results import FailureSummary
from fabricgen.simulate.deadlock.failures.failure_sets import FailureSet
from fabricgen.simulate.deadlock.failures.sweep import Spread, in_processes
from fabricgen.vocabulary import Repair


@dataclass(frozen=True, slots=True)
class Failures:
    """The failures to judge: all sets of up to `depth` links, and of switches too if `switches`. `repair` is what
    switches do until BGP has converged. `spread` judges batches of sets, here or elsewhere."""

    depth: int = 0
    switches: bool = False
    repair: Repair = Repair.NONE
    seed: int = 0
    spread: Spread = field(default_factory=lambda: in_processes(1))


@dataclass(frozen=True, slots=True)
class FoundCycle:
    """A cycle after failures. Links are numbered as in the state as configured."""

    failed: FailureSet
    priority: int
    links: tuple[int, ...]
    witnesses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DepthVerdict:
    """The verdict on the sets of one depth, or on the set called `name`.

    `how`: "spares" (one proof for all), "bounces" (many at once), "each", "orbits" (one of each) or "sample".
    `first_cyclic` and `first_disconnected` are the first such sets. `is_planned`: the inventory takes the set out of
    service on purpose.
    """

    summary: FailureSummary
    how: str
    ambiguous_sets: int = 0
    first_cyclic: FailureSet | None = None
    first_disconnected: FailureSet | None = None
    name: str = ""
    is_planned: bool = False
