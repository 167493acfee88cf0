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
