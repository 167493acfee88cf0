"""The time from an edit to its diagnostics, on a fabric of 512 switches with a committed lock file."""

import statistics

from benchmarks.editor import measure
from benchmarks.growth import unit_s

MOST_UNITS = 8  # twice what it takes


def test_an_edit_at_512_switches() -> None:
    """CPU time of the server, in units of a loop of known work: a slow machine does not change it."""
    before = unit_s()
    found = measure(512, 6)
    assert [one.codes for one in found] == [["FG105"], []] * 3
    assert statistics.median(one.cpu_s for one in found) < MOST_UNITS * max(before, unit_s())
