"""Which jobs a set of failures hits, with evenly spread load and all jobs at the same time."""

from collections.abc import Sequence

import numpy as np

from fabricgen.simulate.bandwidth.failures import BandwidthJudge, FailingPart, dead_adapters
from fabricgen.simulate.bandwidth.times import EvenLoad
from fabricgen.simulate.jobs.loads import even_loads
from fabricgen.simulate.jobs.sharing import together_ns
from fabricgen.simulate.patterns import Messages
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Flags, Floats, Ints
from fabricgen.simulate.workload import Mix

_HIT = 0.999  # of the bandwidth; less is a loss


class JobLosses:
    """The losses of the jobs of a plane that a `BandwidthJudge` judges."""

    def __init__(self, judge: BandwidthJudge, mix: Mix) -> None:
        self.judge, self.mix = judge, mix
        self._owner = mix.owner[EvenLoad(judge.plane).has_path(mix.messages)]
        self._before = self._times(judge.plane, judge.messages)

    def after(self, parts: Sequence[FailingPart]) -> tuple[tuple[str, float], ...]:
        """(job, share of its bandwidth that is left) of the jobs that lose any, the most first; 0 for a job with a
        message without a path."""
        left = self.judge.after(parts)
        after = self._times(left.plane, left.sent.only(~left.lost), self._owner[~left.lost])
        share = np.divide(self._before, after, out=np.ones_like(after), where=after > 0)
        share[self._owner[left.lost]] = 0.0
        found = [(one.name, round(float(own), 4)) for one, own in zip(self.mix.jobs, share, strict=True) if own < _HIT]
        return tuple(sorted(found, key=lambda hit: (hit[1], hit[0])))

    def stopped_by(self, parts: Sequence[FailingPart]) -> set[str]:
        """The jobs with a GPU that has no port."""
        dead = dead_adapters(self.judge.plane, parts)
        stopped: Flags = self.judge.gpus.without_port(self.judge.messages, dead)
        return {self.mix.jobs[number].name for number in np.unique(self._owner[stopped]).tolist()}

    def _times(self, plane: HostNetwork, messages: Messages, owner: Ints | None = None) -> Floats:
        jobs = Mix(self.mix.jobs, self.mix.ranks, messages, self._owner if owner is None else owner)
        return together_ns(even_loads(plane, jobs))
