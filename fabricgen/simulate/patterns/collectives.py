"""Collectives, by the algorithms and byte counts of NCCL (nccl-tests, PERFORMANCE.md), and storage: what each adapter
sends.

`size_bytes` is the buffer of one rank (GPU). Every channel carries its part of the buffer between adapters at the same
place of their nodes. Traffic within a node uses NVLink and is not simulated.
"""

from collections.abc import Iterator

import numpy as np

from fabricgen.simulate.patterns.job import ABSENT, Ints, Job
from fabricgen.simulate.patterns.traffic import Everyone, Messages, joined, messages

INCAST_SENDERS = 16


def ring_all_reduce(job: Job, size_bytes: float) -> Messages:
    """Every rank sends 2(n-1)/n of the buffer to the next rank."""
    return _ring(job, 2 * size_bytes)


def reduce_scatter(job: Job, size_bytes: float) -> Messages:
    """Every rank sends (n-1)/n of the buffer to the next rank, as in an all-gather."""
    return _ring(job, size_bytes)


def _ring(job: Job, bytes_round: float) -> Messages:
    ranks = job.nodes * job.channels
    each = bytes_round * (ranks - 1) / max(ranks, 1) / max(job.channels, 1)
    return joined(messages(column, np.roll(column, -1), each) for column in _columns(job))


def tree_all_reduce(job: Job, size_bytes: float) -> Messages:
    """Two binary trees (Sanders et al., 2009), each with half of the data, up and down again. A rank that is a leaf of
    one tree is an inner node of the other."""
    each = size_bytes / 2 / max(job.channels, 1)
    found = []
    for column in _columns(job):
        size = len(column)
        second = column[::-1] if size % 2 == 0 else np.roll(column, -1)
        for order in (column, second):
            child = np.arange(1, size)
            parent = _parents(child, size)
            found += [messages(order[child], order[parent], each), messages(order[parent], order[child], each)]
    return joined(found)


def _parents(rank: Ints, size: int) -> Ints:
    """The parents in the in-order binary tree with rank 0 as its root: more trailing zeros are further up."""
    lowest = rank & -rank
    above = (rank ^ lowest) | (lowest << 1)
    return np.where(above < size, above, rank ^ lowest)


def all_to_all(job: Job, size_bytes: float) -> Everyone:
    """Expert parallelism: 1/n of the buffer to each rank. NCCL's PXN moves data over NVLink to the adapter on the
    receiver's rail, so each adapter sends one part per node along its channel."""
    return Everyone(tuple(_columns(job)), size_bytes / max(job.nodes, 1))


def pipeline(job: Job, size_bytes: float) -> Messages:
    """Every rank sends its activations to the same rank of the next stage; the last stage sends nothing."""
    return joined(messages(column[:-1], column[1:], size_bytes) for column in _columns(job))


def permutation(job: Job, size_bytes: float, seed: int) -> Messages:
    """Every adapter sends to one other adapter of its channel, in a random cycle."""
    random = np.random.default_rng(seed)
    cycles = (random.permutation(column) for column in _columns(job))
    return joined(messages(cycle, np.roll(cycle, -1), size_bytes) for cycle in cycles)


def _columns(job: Job) -> Iterator[Ints]:
    """The adapters of each channel with more than one node."""
    for column in job.members.T:
        present = column[column != ABSENT]
        if len(present) > 1:
            yield present


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
