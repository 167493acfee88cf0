"""Queue pair scaling: more queue pairs of a connection, more paths, more bandwidth."""

from pathlib import Path

from benchmarks.published import all_reduce_gbytes, training_fabric
from fabricgen.simulate.patterns import Placement


def test_queue_pairs_raise_the_bandwidth_of_an_all_reduce(tmp_path: Path) -> None:
    """Published (Meta, SIGCOMM 2024): up to 40 % more. Here from 4 to 16 as much, from 1 to 16 more than twice as much.
    NCCL has a connection for each channel, so its first queue pair is several. `benchmarks.published` has 128 GPUs."""
    bundle = training_fabric(tmp_path, hosts=8, unit=2)
    found = [all_reduce_gbytes(bundle, pairs, 12, Placement.FRAGMENTED) for pairs in (1, 4, 16)]
    one, four, sixteen = found
    assert 1.4 < four / one < 2.5
    assert 1.2 < sixteen / four < 1.8
    assert sixteen < all_reduce_gbytes(bundle, 1024, 1, Placement.FRAGMENTED)
