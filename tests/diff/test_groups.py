"""Equal changes are reported once."""

from fabricgen.diff.changes import changes
from fabricgen.diff.groups import grouped

LEAVES = [f"leaf{number}" for number in range(1, 97)]


def test_the_same_change_on_many_devices_is_one_line() -> None:
    old = {"PORT": {f"Ethernet{n}": {"mtu": "9100"} for n in (0, 8, 16)}}
    new = {"PORT": {key: {"mtu": "9000"} for key in old["PORT"]}}
    own = {"PORT": {**new["PORT"], "Ethernet0": {"mtu": "9000", "description": "x"}}}
    groups = grouped({name: changes(old, own if name == "leaf2" else new) for name in LEAVES})
    assert [(len(group.devices), [(rows.fields, rows.keys) for rows in group.rows]) for group in groups] == [
        (96, [(("mtu",), ("Ethernet0", "Ethernet8", "Ethernet16"))]),
        (1, [(("description",), ("Ethernet0",))]),
    ]


def test_fields_with_equal_changes_are_one_line() -> None:
    old = {"CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "5m", "Ethernet8": "40m"}}}
    new = {"CABLE_LENGTH": {"AZURE": {"Ethernet0": "9m", "Ethernet4": "9m", "Ethernet8": "9m"}}}
    (group,) = grouped({"leaf1": changes(old, new)})
    assert [(rows.fields, rows.change.old) for rows in group.rows] == [
        (("Ethernet0", "Ethernet4"), "5m"),
        (("Ethernet8",), "40m"),
    ]
