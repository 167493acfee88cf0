"""FG272 at hosts: a NIC has its own lanes."""

from pathlib import Path

import pytest

from fabricgen.api import render, validate
from tests.inventories import ARISTA, DELL_LINKS, explicit, write

Z9332F = "dell-z9332f-d1508"  # 400G ports of 8 lanes


@pytest.mark.parametrize(
    ("platform", "medium", "codes"),
    [(Z9332F, "dac", {"FG272"}), (Z9332F, "aoc", set()), (ARISTA, "dac", set())],
)
def test_copper_to_a_nic_of_other_lanes(platform: str, medium: str, codes: set[str], tmp_path: Path) -> None:
    tree = explicit(platform, cables={"host-leaf": {"length": "3m", "medium": medium}})
    if platform == Z9332F:
        tree["planes"]["compute"]["links"] = DELL_LINKS
    render(write(tmp_path / "inventory", tree), tmp_path / "bundle")
    found = [one for one in validate([tmp_path / "bundle"]).findings if one.severity != "note"]
    assert {one.code for one in found} == codes
    for one in found:
        assert one.message.startswith(
            "the port has 8 lanes of 50G, but ConnectX-7 has 4 lanes: copper cannot convert them"
        )
