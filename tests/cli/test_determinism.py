"""The same input gives the same bytes: for any hash seed, order of files and number of processes."""

from benchmarks.determinism import differences
from benchmarks.fuzz.seeds import HERE


def test_every_verb_writes_the_same_bytes() -> None:
    assert differences(HERE / "inventories" / "roce", ((1, False, 1), (2, True, 2))) == ([], [])
