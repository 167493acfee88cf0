"""Many to few: incast, and traffic of jobs to and from storage."""

import numpy as np

from fabricgen.simulate.patterns.job import ABSENT, Job
from fabricgen.simulate.patterns.traffic import Messages, messages

INCAST_SENDERS = 16


def incast(job: Job, size_bytes: float, senders: int = INCAST_SENDERS) -> Messages:
    """Nodes 2 to n + 1 send to the first node at once, along its first channel."""
    column = job.members[:, 0] if job.channels else job.targets
    column = column[column != ABSENT]
    return messages(column[1 : senders + 1], np.repeat(column[:1], len(column[1 : senders + 1])), size_bytes)


def checkpoint(job: Job, size_bytes: float) -> Messages:
    """Every rank writes its state to storage. The adapters of storage take turns."""
    writers = job.members[job.members != ABSENT]
    writers = writers[~np.isin(writers, job.targets)]
    return messages(writers, np.resize(job.targets, len(writers)), size_bytes)


def storage_read(job: Job, size_bytes: float) -> Messages:
    """The traffic of a checkpoint in the opposite direction."""
    written = checkpoint(job, size_bytes)
    return messages(written.target, written.source, size_bytes)
