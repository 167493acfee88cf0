"""The bus bandwidth of a pattern, as nccl-tests prints it (nccl-tests a0b82b2, doc/PERFORMANCE.md)."""

from fabricgen.simulate.patterns import Job, Pattern

_ALL_REDUCE = (Pattern.RING_ALL_REDUCE, Pattern.TREE_ALL_REDUCE)
_GATHER = (Pattern.REDUCE_SCATTER, Pattern.ALL_GATHER)
_PAIRS = (Pattern.PIPELINE, Pattern.PERMUTATION)


def bus_bytes(pattern: str, job: Job, size_bytes: float, gpus_of_node: int) -> float | None:
    """The bytes that, divided by the completion time, are the bus bandwidth; None for patterns that have none.

    `size_bytes` is the buffer of a rank. In an all-to-all, and between pairs, every channel of a node sends, so a GPU
    with two ports sends twice as much; the bandwidth is that of one GPU.
    """
    ranks = max(job.nodes * gpus_of_node, 1)
    of_gpu = size_bytes * job.channels / max(gpus_of_node, 1)
    if pattern in _ALL_REDUCE:
        return 2 * size_bytes * (ranks - 1) / ranks
    if pattern in _GATHER:
        return size_bytes * (ranks - 1) / ranks
    if pattern == Pattern.ALL_TO_ALL:
        return of_gpu * (ranks - 1) / ranks
    return of_gpu if pattern in _PAIRS else None
