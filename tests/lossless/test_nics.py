"""Lossless classes of a plane, and what the hosts' NICs keep of them."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.findings import Severity
from fabricgen.render.plans import make_plans
from tests.inventories import rail_optimized, write


@pytest.mark.parametrize(
    ("model", "plane", "line"),
    [
        ("mi300x", {}, True),
        ("mi300x", {"lossless": "roce-lossless-two-class"}, True),
        ("mi300x", {"lossless": "roce-lossless"}, False),
        ("mi300x", {"lossless": "none"}, False),
        ("dgx-h100", {}, False),
    ],
)
def test_a_nic_keeps_as_many_priorities_lossless_as_it_can(
    model: str, plane: dict[str, Any], line: bool, tmp_path: Path
) -> None:
    tree = rail_optimized(**plane)
    for group in tree["hosts"].values():
        group["model"] = model
    found = [one for one in make_plans(write(tmp_path, tree)).findings if one.code == "FG586"]
    assert [one.severity for one in found] == [Severity.WARNING] * line
    assert all("2 lossless classes, the hosts' BCM57608 supports 1" in one.message for one in found)
