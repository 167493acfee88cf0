"""The result of several jobs on one plane: how they slow each other."""

from dataclasses import dataclass

from fabricgen.results.bandwidth import Spread


@dataclass(frozen=True)
class JobTime:
    """A job alone and with all others, from its start to its last message; spreads are over draws of hashes.

    `line_ns` is the time that its NICs need at line rate, the least of any placement. `slowdown` is the time with all
    over the time alone, `even_slowdown` the same if load spreads evenly over equal paths. Bus bandwidths are in GB/s,
    None for patterns without one. `pause_slowdown` is the time of its last flow under PFC over that under fair sharing,
    with the paths of the first draw, while all jobs run and before ECN slows them; None where pauses are not followed.
    `units` are (name, hosts). A job with 0 messages sends nothing over the network. `lost` flows have no path.
    """

    name: str
    pattern: str
    size_bytes: int
    repetitions: int
    start_ns: float
    hosts: tuple[str, ...]
    units: tuple[tuple[str, int], ...]
    rails: tuple[int, ...]
    messages: int
    line_ns: float
    alone_ns: Spread
    together_ns: Spread
    slowdown: Spread
    even_slowdown: float
    alone_bus_gbytes: Spread | None = None
    together_bus_gbytes: Spread | None = None
    pause_slowdown: float | None = None
    lost: int = 0


@dataclass(frozen=True, slots=True)
class JobRun:
    """A job in a packet run: `finished` of its `flows` ended, and the time from its start to its last completion; None
    if a flow did not finish."""

    name: str
    flows: int
    finished: int
    start_ns: int
    time_ns: int | None


@dataclass(frozen=True, slots=True)
class JobPair:
    """Two jobs with common links in the first draw: their number, and the one with the most load, as (device, port).

    `slowdown` is that of `job` if only `other` runs beside it, and `other_slowdown` the opposite, over the draws.
    `places` says where the links are: (device, number of common links), the most first.
    """

    job: str
    other: str
    links: int
    worst: tuple[str, str]
    slowdown: Spread
    other_slowdown: Spread
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class JobBlock:
    """`victims` flows of `job` wait for paused ports behind ports that `by` uses and `job` does not; `root` is the one
    with the most of them. Without `shares_links` no port is common to the jobs: only pauses connect them."""

    job: str
    by: str
    victims: int
    root: tuple[str, str]
    shares_links: bool


@dataclass(frozen=True, slots=True)
class JobAdvice:
    """What a scheduler should avoid: `text` is about `jobs`."""

    jobs: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PlacementScore:
    """A placement over draws: the worst of the times of all jobs over their times at line rate, and the mean time."""

    worst: Spread
    mean_ns: Spread


@dataclass(frozen=True)
class ProposedPlacement:
    """A better placement, compared with the given one on `draws` hashes from `first_seed` on that the search did not
    use. `jobs_file` is its jobs file, "" if none is better. `moved` hosts change their job. `evaluated` placements were
    compared by evenly spread load, in all of them if `exhaustive`."""

    given: PlacementScore
    proposed: PlacementScore
    draws: int
    first_seed: int
    evaluated: int
    exhaustive: bool
    moved: int
    jobs_file: str
    reason: str = ""  # why no placement is proposed


@dataclass(frozen=True)
class JobsResult:
    """All jobs of a plane. `fairness` is Jain's index of the bandwidths over those alone (1: all jobs lose equally),
    `least_share` the least of them. `reason` says what is not judged."""

    name: str
    draws: int
    hosts: int
    free_hosts: int
    jobs: tuple[JobTime, ...]
    fairness: Spread
    least_share: Spread
    pairs: tuple[JobPair, ...] = ()
    blocks: tuple[JobBlock, ...] = ()
    advice: tuple[JobAdvice, ...] = ()
    proposal: ProposedPlacement | None = None
    reason: str = ""

    @property
    def slowed(self) -> tuple[JobTime, ...]:
        """The jobs, the most slowed first."""
        return tuple(sorted(self.jobs, key=lambda one: (-one.slowdown.mean, one.name)))
