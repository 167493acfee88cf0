"""`explain` names the rules that guard a value: those that notice when it changes."""

import pytest

from fabricgen.rules.guards import guards
from tests.rules.clean import clean_fabric


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        (("PORT", "Ethernet0", "lanes"), ["FG232"]),
        (("DEVICE_METADATA", "localhost", "bgp_asn"), ["FG331"]),
        (("BUFFER_POOL", "ingress_lossless_pool", "size"), ["FG521"]),
    ],
)
def test_guards(path: tuple[str, str, str], codes: list[str]) -> None:
    assert guards(clean_fabric().bundle(), "leaf1", *path) == codes


def test_a_value_that_no_rule_guards() -> None:
    fabric = clean_fabric()
    fabric.configs["leaf1"]["PORT"]["Ethernet0"]["description"] = "to gpu1"
    assert guards(fabric.bundle(), "leaf1", "PORT", "Ethernet0", "description") == []


def test_peers_guard_a_value() -> None:
    """The other leaves are among the switches that `guards` judges."""
    fabric = clean_fabric()
    for name in ("leaf1", "leaf2", "leaf3"):
        fabric.configs[name]["DEVICE_METADATA"]["localhost"]["region"] = "west"
    assert "FG592" in guards(fabric.bundle(), "leaf1", "DEVICE_METADATA", "localhost", "region")
