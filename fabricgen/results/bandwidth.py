"""The results of the bandwidth analysis: what a pattern reaches on a plane, and what failures cost."""

import enum
from dataclasses import dataclass


class FailureKind(enum.StrEnum):
    """What fails."""

    HOST_LINK = "host link"
    LINK = "link"  # between switches
    SWITCH = "switch"


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean, the least and the highest of several draws."""

    mean: float
    least: float
    highest: float


@dataclass(frozen=True)
class PatternTime:
    """A pattern on a plane until its last message has arrived, under fair sharing of the ports.

    `time_ns` and the bandwidths are over the draws of hashes, `even_ns` if load spreads evenly over all equal paths.
    `bus_gbytes` is the bus bandwidth of nccl-tests in GB/s, None where it is not defined; `delivered_gbytes` are the
    payload bytes of all `messages`, per second. `switches` counts those on the paths: least, mean and most. `lost`
    messages have no path.
    """

    pattern: str
    messages: int
    bytes: float
    time_ns: Spread
    even_ns: float
    bus_gbytes: Spread | None
    delivered_gbytes: Spread
    switches: tuple[int, float, int]
    lost: int = 0


@dataclass(frozen=True)
class FailureCost:
    """`depth` failures of a kind at the same time, of `judged` of all `sets`.

    `share_mean` and `share_least` are the bandwidth over that without a failure, with evenly spread load, and
    `delivered_gbytes` is the mean in GB/s. A job stops, which counts as 0, if a message has no path; `stopping` counts
    these sets. Of `cut_off` GPUs no port is left, or no message to or from them has a path. `worst` names the failures
    with the least bandwidth, and of these with the most GPUs cut off. A plane without anything of the kind has 0 sets.
    """

    kind: FailureKind
    depth: int
    sets: int
    judged: int
    share_mean: float
    share_least: float
    delivered_gbytes: float
    stopping: int
    cut_off_mean: float
    cut_off_most: int
    worst: tuple[str, ...] = ()


@dataclass(frozen=True)
class BandwidthResult:
    """One plane. `failures` is empty if its routes after a failure are not known; `reason` says why. `failure_pattern`
    is the traffic of `failures`."""

    name: str
    patterns: tuple[PatternTime, ...]
    failure_pattern: str = ""
    failures: tuple[FailureCost, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outage:
    """A set of failures, and the number of `sets` that cost the same. `share` is the bandwidth over that without a
    failure, 0 if a message has no path; then there is no time. `bus_gbytes` is None for patterns without one.
    `cut_off` GPUs reach no other one after the set that was judged. With a jobs file `jobs` are (name, share of its
    bandwidth with all jobs), of the worst sets those that lose any."""

    names: tuple[str, ...]
    sets: int
    share: float
    time_ns: float | None
    bus_gbytes: float | None
    cut_off: int = 0
    jobs: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class OutageResult:
    """A pattern under all sets of `depth` failures after BGP has converged, with evenly spread load.

    `how`: "each" set was judged, one set of each of the "orbits", or a "sample" of `judged` sets; then at most the
    share `worse_sets` of all sets is worse than `worst` (95 % confidence). After `stopping` sets a GPU has no port: no
    route helps, and the job must restart without it; neither `worst` nor `median` counts them. `drawn` and
    `worst_drawn` are the bus bandwidths over draws of hashes, without a failure and after the worst set; None where
    undefined. `weighted_share` is what weighted ECMP leaves after the worst set; None where the switches have it, or it
    leaves no more. `outcomes` are those judged, worst first. With a jobs file the pattern is that of all jobs together,
    and `stopped_jobs` are (name, sets after which one of its GPUs has no port).
    """

    name: str
    pattern: str
    depth: int
    switches: bool
    sets: int = 0
    judged: int = 0
    how: str = "each"
    time_ns: float = 0.0
    bus_gbytes: float | None = None
    worst: Outage | None = None
    median: Outage | None = None
    stopping: int = 0
    worse_sets: float = 0.0
    drawn: Spread | None = None
    worst_drawn: Spread | None = None
    weighted_share: float | None = None
    outcomes: tuple[Outage, ...] = ()
    stopped_jobs: tuple[tuple[str, int], ...] = ()
    reason: str = ""  # why the failures are not judged


@dataclass(frozen=True, slots=True)
class SizeRow:
    """One size of the buffer of a rank: over draws of hashes the time, and the bandwidths in GB/s as nccl-tests prints
    them; None for patterns without a bus bandwidth. `even_bus_gbytes`: if load spreads evenly over equal paths."""

    size_bytes: int
    time_ns: Spread
    alg_gbytes: Spread
    bus_gbytes: Spread | None
    even_bus_gbytes: float | None


@dataclass(frozen=True)
class SizeTable:
    """The bandwidth of a pattern by size: of the whole job, or of one GPU of each host on `rail`, alone.

    A time is `steps` times `way_ns`, the time of a packet over the slowest path, and the bytes at fair shares.
    `node_bytes_per_ns` is the line rate of the adapters of a node (an NVLink domain), of the slowest one.
    """

    name: str
    pattern: str
    rail: int | None
    ranks: int
    steps: int
    node_bytes_per_ns: float
    way_ns: float = 0.0
    rows: tuple[SizeRow, ...] = ()
    reason: str = ""  # why there are no rows
