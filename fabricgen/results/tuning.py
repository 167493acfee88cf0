"""The result of tuning: the settings that were tried by packet runs, and how sure it is that one of them is better."""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.vocabulary import Goal

MARKS = ("kmin_bytes", "kmax_bytes", "pmax_percent")
PARTS = {"ECN": MARKS, "alpha": ("dynamic_th",), "queue pairs": ("queue_pairs",)}  # of a setting: its fields


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """Marking thresholds of a 400G port, from which those of other speeds are scaled; the exponent of alpha of lossless
    groups, None without one; and the queue pairs of a connection."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    dynamic_th: int | None
    queue_pairs: int

    def changed(self, present: "Setting") -> list[str]:
        """The names of the parts that differ from another setting."""
        return [
            part for part, fields in PARTS.items() if any(getattr(self, one) != getattr(present, one) for one in fields)
        ]


@dataclass(frozen=True, slots=True)
class Trial:
    """The mean of some runs with a setting.

    `gbytes` is the bus bandwidth of the pattern in GB/s, of a pattern without one the payload of all messages over the
    time of the whole. `queue_ns` is how long the packets in the longest queue take to be sent, on average over the run.
    `faults` are lost packets of lossless priorities, unfinished flows and freezes of all runs; without a finished flow
    `p99_ns` and `gbytes` are those of the time at which the run was stopped.
    """

    setting: Setting
    draws: int
    p99_ns: float
    gbytes: float
    pauses: float
    queue_ns: float
    faults: int


@dataclass(frozen=True, slots=True)
class Gain:
    """The median of the paired differences from the present setting over equal draws, as a share of the mean of the
    present one, positive where the setting is better, and an interval that contains the true median with a
    confidence."""

    median: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A setting on draws that the search did not see. `name` is what it is: the best one, or the best one with a part
    of the present setting."""

    name: str
    trial: Trial
    gain: Gain


@dataclass(frozen=True, slots=True)
class LibrarySettings:
    """What a version of NCCL or RCCL needs for the settings that `tune` proposes: variables -> values that differ from
    its defaults. `channels` of each NIC are those of the runs; `assumed` is what the files do not have."""

    library: str
    version: str
    channels: int
    queue_pairs: int
    variables: Mapping[str, str]
    assumed: str = ""


@dataclass(frozen=True)
class TuningResult:
    """The tuning of a plane for a pattern.

    `present` is the setting of the files on the draws of `unseen_seeds`; `confirmed` are the best setting of the search
    and its parts on the same draws, empty if the search found nothing better than the present one. `is_better`: the
    whole interval of the best one is above zero, and its median is worth a change. `front` are the settings of the last
    round of the search that no other one exceeds in every respect, over `searched_seeds`. `refused` counts the settings
    that rules do not allow, by code; `limits` are the codes that refuse a neighbor of the best setting. `fixed` has the
    parameters that are not searched, and why. `alpha_rows` are the rows of CONFIG_DB that the alpha of the best setting
    changes: table -> row -> field -> value. With `has_bus`, the bandwidths are bus bandwidths. `hosts` are those of the
    plane. `spreading` is the present setting on the same draws if switches spread packets over all equal links; None
    where they do. `reason` is the part of the traffic that does not run. `libraries` are the settings for a version of
    NCCL or RCCL, empty without one.
    """

    plane: str
    pattern: str
    goal: Goal
    size_bytes: int
    flows: int
    hosts: tuple[str, ...]
    searched_seeds: tuple[int, ...]
    unseen_seeds: tuple[int, ...]
    present: Trial
    confirmed: tuple[Confirmed, ...]
    is_better: bool
    front: tuple[Trial, ...]
    tried: int
    runs: int
    hops: int
    has_bus: bool
    refused: Mapping[str, int]
    limits: tuple[str, ...]
    fixed: Mapping[str, str]
    alpha_rows: Mapping[str, Mapping[str, Mapping[str, str]]]
    spreading: Confirmed | None = None
    reason: str = ""
    libraries: tuple[LibrarySettings, ...] = ()

    @property
    def is_spreading_better(self) -> bool:
        """Whether packets over all links are better than hashed flows beyond chance, without more faults."""
        one = self.spreading
        return one is not None and one.gain.low > 0 and one.trial.faults <= self.present.faults

    @property
    def best(self) -> Confirmed | None:
        """The best setting; None where the search found nothing better than the present one."""
        return self.confirmed[0] if self.confirmed else None

    def shown(self, share: float) -> str:
        """A share of the present mean as text: pauses as their number in a run, all else in percent."""
        return f"{share * self.present.pauses:.1f}" if self.goal is Goal.NO_PAUSE else f"{share:.1%}"

    def shown_gain(self, one: Confirmed) -> str:
        """The gain of a setting with its interval as text."""
        gain = one.gain
        words = {
            Goal.P99: f"p99 {self.shown(gain.median)} lower",
            Goal.BUSBW: f"bandwidth {self.shown(gain.median)} higher",
            Goal.NO_PAUSE: f"{self.shown(gain.median)} fewer pauses in a run",
        }
        return f"{words[self.goal]} ({gain.confidence:.0%}: {self.shown(gain.low)} to {self.shown(gain.high)})"
