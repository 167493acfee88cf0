"""FG238 compares the speed of a port with its lanes. Other rules report a port whose lanes are missing."""

import pytest

from tests.rules.clean import clean_fabric


@pytest.mark.parametrize(("lanes", "found"), [("1", True), ("1,2", True), ("1,2,3,4", False), (None, False)])
def test_lanes(lanes: str | None, found: bool) -> None:
    fabric = clean_fabric()
    row = fabric.configs["leaf1"]["PORT"]["Ethernet0"]
    del row["lanes"]
    if lanes is not None:
        row["lanes"] = lanes
    assert any(one.path == "PORT|Ethernet0|speed" for one in fabric.judge("FG238")) == found
