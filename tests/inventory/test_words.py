"""Hints for keys that take words: all words that are allowed, or the one that resembles the mistake."""

from pathlib import Path

import pytest

from fabricgen.inventory.load import load_inventory
from tests.rules.access import BONDED

ACCESS = "access: {kind: bond, vlan: 110, dhcp: 10.90.0.5}"


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (ACCESS, "access: trunk", 'planes.in-band.access cannot be "trunk"',
         "write routed, vlan, bond, routed-bond or a mapping"),
        (ACCESS, "access: bonds", 'planes.in-band.access cannot be "bonds"',
         "did you mean 'bond'? Or write routed, vlan, bond, routed-bond or a mapping"),
        (ACCESS, "access: {kind: trunk}", 'planes.in-band.access.kind: "trunk" is not allowed',
         "known: routed, vlan, bond, routed-bond"),
        (ACCESS, "load_balancing: 3", "planes.in-band.load_balancing cannot be 3",
         "write ecmp, flowlet, adaptive, spray or a mapping: how switches spread packets over equal paths. CONFIG_DB "
         "has ecmp only, with or without weights"),
        ("hosts: 10.224.0.0/12", "hosts: 10.224.0.0/12, asn: rfc7398",
         'planes.in-band.addressing.asn cannot be "rfc7398"',
         "did you mean 'rfc7938'?"),
        ("hosts: 10.224.0.0/12", "hosts: 10.224.0.0/12, asn: private",
         'planes.in-band.addressing.asn cannot be "private"',
         "write rfc7938 or a mapping: rfc7938 numbers from 4200000000, or a range {first, last}"),
    ],
)  # fmt: skip
def test_a_wrong_word_has_the_allowed_ones(tmp_path: Path, old: str, new: str, message: str, hint: str) -> None:
    assert old in BONDED
    (tmp_path / "fabric.yaml").write_text(BONDED.replace(old, new))
    _, findings = load_inventory(tmp_path / "fabric.yaml")
    (found,) = [one for one in findings if one.message == message]
    assert (found.hint, found.code) == (hint, "FG104" if new.endswith("3") else "FG105")
