"""Seeded faults in the files of small bundles: each is found, or known to be harmless."""

from pathlib import Path

import pytest

from benchmarks.mutants_infiniband import file_results
from tests.opensm.small import DRAGONFLY, TORUS, TREE, rendered


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", [TREE, TORUS, DRAGONFLY])
def test_every_change_is_found_or_harmless(tmp_path: Path, name: str, count: int) -> None:
    """`count` changes of each kind of line."""
    root = rendered(tmp_path, name)
    (root / "manifest.json").unlink()
    results = list(file_results(root, name, count=count, seed=5, options=13 * count))
    assert [str(one.mutant) for one in results if not one.is_found and not one.reason] == []
    assert sum(one.is_found for one in results) > 0.7 * len(results)
