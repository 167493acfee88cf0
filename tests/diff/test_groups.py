"""Names and changes told once."""

import pytest

from fabricgen.diff.changes import changes
from fabricgen.diff.groups import device_runs, grouped, name_runs

LEAVES = [f"leaf{number}" for number in range(1, 97)]


def test_devices_in_a_row() -> None:
    everyone = [*LEAVES, "spine1", "spine2"]
    assert device_runs(LEAVES, everyone) == ["leaf1..leaf96"]
    assert device_runs(["leaf1", "leaf2", "spine2"], everyone) == ["leaf1", "leaf2", "spine2"]
    assert device_runs([name for name in LEAVES if name != "leaf4"], everyone) == [
        "leaf1..leaf3",
        "leaf5..leaf96",
    ]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ([f"Ethernet{n}" for n in range(0, 512, 8)], ["Ethernet0..Ethernet504"]),
        ([f"Ethernet{n}|3-4" for n in range(4)], ["Ethernet0|3-4..Ethernet3|3-4"]),
        (["Ethernet8", "Ethernet0"], ["Ethernet0", "Ethernet8"]),
        (["Ethernet0", "Ethernet8", "Ethernet16", "Ethernet512"], ["Ethernet0..Ethernet16", "Ethernet512"]),
        (["a1b1", "a2b2", "a3b3"], ["a1b1", "a2b2", "a3b3"]),
    ],
)
def test_keys_in_a_row(keys: list[str], told: list[str]) -> None:
    assert name_runs(keys) == told


def test_the_same_change_on_many_devices_is_one_line() -> None:
    old = {"PORT": {f"Ethernet{n}": {"mtu": "9100"} for n in (0, 8, 16)}}
    new = {"PORT": {key: {"mtu": "9000"} for key in old["PORT"]}}
    own = {"PORT": {**new["PORT"], "Ethernet0": {"mtu": "9000", "description": "x"}}}
    groups = grouped({name: changes(old, own if name == "leaf2" else new) for name in LEAVES})
    assert [(len(group.devices), [(rows.fields, rows.keys) for rows in group.rows]) for group in groups] == [
        (96, [(("mtu",), ("Ethernet0", "Ethernet8", "Ethernet16"))]),
        (1, [(("description",), ("Ethernet0",))]),
    ]


def test_fields_that_change_alike_are_one_line() -> None:
    old = {"CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "5m", "Ethernet8": "40m"}}}
    new = {"CABLE_LENGTH": {"AZURE": {"Ethernet0": "9m", "Ethernet4": "9m", "Ethernet8": "9m"}}}
    (group,) = grouped({"leaf1": changes(old, new)})
    assert [(rows.fields, rows.change.old) for rows in group.rows] == [
        (("Ethernet0", "Ethernet4"), "5m"),
        (("Ethernet8",), "40m"),
    ]
