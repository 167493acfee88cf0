"""The same input gives the same bytes: for any hash seed, order of files and number of processes."""

from benchmarks.determinism import differences
from benchmarks.fuzz.seeds import HERE

REFUSED = ["handoff dhcp bundle -o out/dhcp"]  # this fabric has no DHCP for hosts


def test_every_verb_writes_the_same_bytes() -> None:
    assert differences(HERE / "inventories" / "roce", ((1, False, 1), (2, True, 2))) == ([], REFUSED)
