"""The same input gives the same bytes: for any hash seed, order of files and number of processes."""

from benchmarks.determinism import differences
from benchmarks.fuzz.seeds import HERE

REFUSED = [f"handoff {name} bundle -o out/{name}" for name in ("dhcp", "host-bgp", "paths")]  # what the fabric lacks


def test_every_verb_writes_the_same_bytes() -> None:
    assert differences(HERE / "inventories" / "roce", ((1, False, 1), (2, True, 2))) == ([], REFUSED)
