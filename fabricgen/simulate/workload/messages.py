"""What the jobs of a plane send."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.simulate.patterns import Adapter, Everyone, Job, Messages, make_job, make_traffic
from fabricgen.simulate.patterns.job import ABSENT, Ints
from fabricgen.simulate.patterns.traffic import joined
from fabricgen.simulate.workload.model import JobRequest, PlacedJob


@dataclass(frozen=True)
class Mix:
    """The messages of several jobs; `owner` is the number of the job of each message, `ranks` the adapters of each."""

    jobs: tuple[PlacedJob, ...]
    ranks: tuple[Job, ...]
    messages: Messages
    owner: Ints

    def __len__(self) -> int:
        return len(self.messages)

    def split(self, parts: int) -> "Mix":
        """Every message split over `parts` queue pairs."""
        return self if parts == 1 else replace(
            self, messages=self.messages.split(parts), owner=np.repeat(self.owner, parts)
        )  # fmt: skip


def mix_of(adapters: Sequence[Adapter], placed: Sequence[PlacedJob], seed: int) -> Mix:
    """The messages of jobs on a plane. `seed` is that of permutations."""
    ranks = tuple(ranks_of(adapters, one.request, one.hosts) for one in placed)
    parts = [
        sent_by(adapters, one.request, its, seed + number)
        for number, (one, its) in enumerate(zip(placed, ranks, strict=True))
    ]
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Mix(tuple(placed), ranks, joined(parts), owner)


def ranks_of(adapters: Sequence[Adapter], request: JobRequest, hosts: Sequence[str]) -> Job:
    """The adapters of a job on hosts in the order of ranks, of its rails."""
    job = make_job(adapters, tuple(hosts))
    if not request.rails:
        return job
    kept = [
        channel
        for channel, column in enumerate(job.members.T)
        if {adapters[number].rail for number in column.tolist() if number != ABSENT} <= set(request.rails)
    ]
    return replace(job, members=job.members[:, kept])


def sent_by(adapters: Sequence[Adapter], request: JobRequest, job: Job, seed: int) -> Messages:
    """The messages of one job, all of its repetitions as one."""
    traffic = make_traffic(request.pattern, job, adapters, request.sent_bytes, seed)
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    return replace(messages, start_ns=np.full(len(messages), request.start_ns))
