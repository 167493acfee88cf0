"""Plain results of the judges: what `report` prints and the JSON contract promises."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """Counts over the failure sets of exactly `depth` failures.

    Where there are too many, `sampled` of them were drawn at random and the counts are of those; with 95 % confidence
    no larger share of all sets is cyclic, or unreachable, than the bounds say.
    """

    depth: int = 0
    sets: int = 1
    cyclic_sets: int = 0
    unreachable_sets: int = 0
    sampled: int | None = None
    cyclic_bound: float | None = None
    unreachable_bound: float | None = None


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cyclic buffer dependency: each hop is a switch and the port it sends from; one witness destination per hop."""

    priority: int
    hops: tuple[tuple[str, str], ...]
    failed_links: tuple[str, ...] = ()
    witnesses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeadlockResult:
    """The verdict on one plane."""

    verdict: str  # free | cyclic
    claim: str  # proved | possible | observed
    model: str  # bgp | opensm | lfts | design
    priorities: tuple[int, ...]
    channels: int
    dependencies: int
    failures: FailureSummary = field(default_factory=FailureSummary)
    cycles: tuple[Cycle, ...] = ()
    name: str = ""  # of the plane
