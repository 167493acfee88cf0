"""Times of jobs that share ports: max-min fair rates of flows, where all flows of a job progress together.

The rates of all flows grow equally until a port is full. The jobs that cross it keep their rate, and the others
continue. When a job starts or ends, the rates are computed anew, so there are at most two steps for each job.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabricgen.simulate.plane.ports import Flags, Floats, Ints

_ALIKE = 1e-9


@dataclass(frozen=True)
class JobLoads:
    """`needed` (ports x jobs): the ns that a port needs for the bytes of a job. Per job: `flow_bytes`, the mean bytes
    of its flows, which get equal rates; `latency_ns`, the longest of a message; `start_ns`. A job without flows has
    0."""

    needed: Floats
    flow_bytes: Floats
    latency_ns: Floats
    start_ns: Floats

    @property
    def alone_ns(self) -> Floats:
        """The time of each job alone."""
        found: Floats = self.needed.max(axis=0, initial=0.0) + self.latency_ns
        return found

    def of(self, jobs: Sequence[int] | Ints) -> "JobLoads":
        """Some of the jobs."""
        return JobLoads(self.needed[:, jobs], self.flow_bytes[jobs], self.latency_ns[jobs], self.start_ns[jobs])

    def reduced(self) -> "JobLoads":
        """The same times with fewer ports: of those that one job uses, only the one that limits it."""
        users = (self.needed > 0).sum(axis=1)
        limits = np.where(users[:, None] == 1, self.needed, 0.0).max(axis=0, initial=0.0)
        needed = np.concatenate([self.needed[users > 1], np.diag(limits)])
        return JobLoads(needed, self.flow_bytes, self.latency_ns, self.start_ns)


def together_ns(loads: JobLoads) -> Floats:
    """The time of each job from its start, with all jobs."""
    loads = loads.reduced()
    sending = loads.flow_bytes > 0
    left, ended = np.where(sending, 1.0, 0.0), loads.start_ns.astype(float)
    now = float(loads.start_ns[sending].min()) if sending.any() else 0.0
    while (left > 0).any():
        waiting = left > 0
        active = waiting & (loads.start_ns <= now)
        later = loads.start_ns[waiting & ~active]
        horizon = float(later.min()) - now if len(later) else np.inf
        speed = progress(loads, active)
        needed = np.divide(left, speed, out=np.full(len(left), np.inf), where=active)
        step = min(float(needed.min(initial=np.inf)), horizon)
        done = active & (needed <= step * (1 + _ALIKE))
        left = np.where(active, left - speed * step, left)
        now += step
        left[done], ended[done] = 0.0, now
    found: Floats = ended - loads.start_ns + loads.latency_ns
    return found


def progress(loads: JobLoads, active: Flags) -> Floats:
    """The share of its bytes that each active job sends in a ns while all of them run; 0 for the others."""
    speed = np.zeros(len(loads.flow_bytes))
    growing = active.copy()
    weight = np.divide(1.0, loads.flow_bytes, out=np.zeros_like(speed), where=active)
    taken = np.zeros(len(loads.needed))
    while growing.any():
        demand = loads.needed[:, growing] @ weight[growing]
        rate = np.divide(1.0 - taken, demand, out=np.full(len(demand), np.inf), where=demand > 0)
        least = float(rate.min())
        full = rate <= least * (1 + _ALIKE)
        settled = growing & (loads.needed[full] > 0).any(axis=0)
        speed[settled] = least * weight[settled]
        taken += loads.needed[:, settled] @ speed[settled]
        growing &= ~settled
    return speed


def jain(shares: Floats) -> float:
    """Jain's index of fairness: 1 if all shares are equal, 1/n if one has everything (Jain, Chiu and Hawe, 1984)."""
    total = float((shares**2).sum())
    return float(shares.sum()) ** 2 / (len(shares) * total) if total else 1.0
