"""Many names in short."""

import pytest

from fabricgen.report.name_runs import device_runs, name_runs, names_in_short
from fabricgen.sonic.canonical import natural_key

LEAVES = [f"leaf{number}" for number in range(1, 97)]


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["leaf1"], "leaf1"),
        (["leaf1", "leaf2"], "leaf1, leaf2"),
        ([f"leaf{n}" for n in range(1, 97)], "leaf1..leaf96"),
        (["leaf1", "leaf2", "leaf3", "spine1"], "leaf1..leaf3, spine1"),
        (["leaf1", "leaf3", "leaf5"], "leaf1, leaf3, leaf5"),
        ([f"su{s}-r{r}-leaf" for s in (0, 1) for r in range(8)], "su0-r0-leaf..su0-r7-leaf, su1-r0-leaf..su1-r7-leaf"),
        ([f"leaf{n}" for n in (1, 3, 5, 7, 9, 11)], "leaf1, leaf3, leaf5 and 3 more"),
        ([f"r{r}n{n}" for r in range(9) for n in (1, 2, 3)], "r0n1..r0n3, r1n1..r1n3, r2n1..r2n3 and 18 more"),
        (["l1r1", "l1r2", "l2r1", "l2r2", "s1", "s2"], "l1r1, l1r2, l2r1 and 3 more"),
        (["a1b1", "a2b1", "a2b2", "a2b3"], "a1b1, a2b1, a2b2, a2b3"),
    ],
)  # fmt: skip
def test_names_in_short(names: list[str], short: str) -> None:
    assert names == sorted(names, key=natural_key) and names_in_short(names) == short


def test_devices_in_a_row() -> None:
    everyone = [*LEAVES, "spine1", "spine2"]
    assert device_runs(LEAVES, everyone) == ["leaf1..leaf96"]
    assert device_runs(["leaf1", "leaf2", "spine2"], everyone) == ["leaf1", "leaf2", "spine2"]
    assert device_runs([name for name in LEAVES if name != "leaf4"], everyone) == [
        "leaf1..leaf3",
        "leaf5..leaf96",
    ]


@pytest.mark.parametrize(
    ("keys", "runs"),
    [
        ([f"Ethernet{n}" for n in range(0, 512, 8)], ["Ethernet0..Ethernet504"]),
        ([f"Ethernet{n}|3-4" for n in range(4)], ["Ethernet0|3-4..Ethernet3|3-4"]),
        (["Ethernet8", "Ethernet0"], ["Ethernet0", "Ethernet8"]),
        (["Ethernet0", "Ethernet8", "Ethernet16", "Ethernet512"], ["Ethernet0..Ethernet16", "Ethernet512"]),
        (["a1b1", "a2b2", "a3b3"], ["a1b1", "a2b2", "a3b3"]),
    ],
)
def test_keys_in_a_row(keys: list[str], runs: list[str]) -> None:
    assert name_runs(keys) == runs
