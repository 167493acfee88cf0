"""Flow level and packets have the same bandwidth, and the same worst single failure.

`python -m benchmarks.bandwidth_agreement` compares 100 bundles; these are some of them.
"""

from pathlib import Path

import pytest

from benchmarks.bandwidth_agreement import judged, same_worst

ERROR = 0.05  # of the bus bandwidth


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_bandwidth_is_that_of_packets(seed: int, tmp_path: Path) -> None:
    [found] = judged(seed, tmp_path)
    assert abs(found.error) < ERROR, found


def test_the_worst_failure_is_that_of_packets(tmp_path: Path) -> None:
    found = judged(0, tmp_path, failures=True)
    assert len({round(one.flow_ns) for one in found}) > 1
    assert same_worst(found), found
