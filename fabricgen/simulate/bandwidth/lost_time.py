"""GPU-seconds that failures cost in a month, from rates that the user states; it has no default rates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.results import FailureCost, FailureKind


@dataclass(frozen=True, slots=True)
class FailureRates:
    """`per_month` are the failures of one part of a kind in a month; kinds without a rate do not count. Each lasts for
    `repair_s`. A job that stops loses `restart_s` on all of its GPUs: the work since its checkpoint, and its start."""

    per_month: Mapping[FailureKind, float]
    repair_s: float = 4 * 3600.0
    restart_s: float = 600.0


@dataclass(frozen=True, slots=True)
class LostTime:
    """What failures of a kind cost in a month: `failures` are expected; `slower` are GPU-seconds of the lower bandwidth
    until the repair, `cut_off` those of GPUs that no path reaches, `stopped` those of restarts of jobs."""

    kind: FailureKind
    parts: int
    failures: float
    slower: float
    cut_off: float
    stopped: float

    @property
    def gpu_seconds(self) -> float:
        """All three."""
        return self.slower + self.cut_off + self.stopped


def lost_time(costs: Sequence[FailureCost], rates: FailureRates, gpus: int) -> Iterator[LostTime]:
    """For each kind with a rate, from the costs of single failures: the job has all GPUs, and failures are so rare that
    two at the same time do not count.

    After a failure that leaves paths, all GPUs wait for the network for the share of bandwidth that is lost: an upper
    bound, as they also compute. After one that stops the job, it starts again without the GPUs that are cut off.
    """
    for one in costs:
        rate = rates.per_month.get(one.kind)
        if one.depth != 1 or rate is None or not one.judged:
            continue
        failures = rate * one.sets
        stops = one.stopping / one.judged
        running = one.judged - one.stopping
        lost = running / one.judged - one.share_mean  # a set that stops the job has the share 0
        yield LostTime(
            one.kind,
            one.sets,
            failures,
            slower=failures * lost * gpus * rates.repair_s,
            cut_off=failures * one.cut_off_mean * rates.repair_s,
            stopped=failures * stops * gpus * rates.restart_s,
        )
