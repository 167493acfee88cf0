"""The verdict on tenants equals the one by trying packets between each pair of hosts."""

import tempfile
from itertools import permutations
from pathlib import Path

from hypothesis import given, settings

from fabricgen.isolation import isolation
from tests.isolation.small import SmallFabric, small_fabrics


@given(small_fabrics())
@settings(max_examples=200)
def test_equals_trying_packets(fabric: SmallFabric) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (found,) = isolation(fabric.write(Path(folder)))
    leaks = cut = apart = together = 0
    for source, target in permutations(range(6), 2):
        anything, roce = fabric.tried(source, target)
        if fabric.wanted(source, target):
            connected = fabric.joined or fabric.place(source)[0] == fabric.place(target)[0]
            together += connected
            cut += connected and not roce
        else:
            apart += 1
            leaks += anything
    assert (found.leaks, found.cut, found.apart, found.together) == (leaks, cut, apart, together)
    assert found.is_proved == (not leaks)
