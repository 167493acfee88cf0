"""A process that checks again and again finds and renders the same as checks from nothing."""

from pathlib import Path

import pytest

from benchmarks.incremental import compare_watched
from tests.inventories import explicit, rail_optimized


@pytest.mark.parametrize("seed", [3, 4])
def test_edits_of_an_explicit_fabric(seed: int, tmp_path: Path) -> None:
    done = compare_watched(tmp_path, explicit(), seed, 12)
    assert done.different == []
    assert done.rendered >= 6


def test_edits_of_a_fabric_with_planes(tmp_path: Path) -> None:
    done = compare_watched(tmp_path, rail_optimized(hosts=4), 1, 8)
    assert done.different == []
