"""A fabric of Broadcom and NVIDIA switches: each end of a cable has a length that its own buffer model takes."""

import json
from pathlib import Path

import pytest

from fabricgen.api import render, validate
from tests.inventories import explicit, write

LENGTHS = {"leaf1": "40m", "spine1": "17m"}  # the next row of the SKU's table, and the true length


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Leaves of the traditional model, spines of the dynamic one, and cables of 17 m."""
    tree = explicit(cables={"host-leaf": "3m", "leaf-spine": "17m"})
    tree["planes"]["compute"]["spine"] = {"platform": "nvidia-sn5600", "layout": "128x400g"}
    render(write(tmp_path / "inventory", tree), tmp_path / "bundle")
    return tmp_path / "bundle"


def test_each_end_is_judged_against_the_cable(bundle: Path) -> None:
    for name, length in LENGTHS.items():
        config = json.loads((bundle / f"sonic/{name}/config_db.json").read_text())
        assert length in config["CABLE_LENGTH"]["AZURE"].values()
    assert [one for one in validate([bundle]).findings if one.severity != "note"] == []


def test_loose_files_are_judged_without_the_cable(bundle: Path) -> None:
    assert "FG532" not in {one.code for one in validate([bundle / "sonic"]).findings}


@pytest.mark.parametrize("devices", [("spine1",), ("spine1", "spine2")])
@pytest.mark.parametrize(("length", "severity"), [("5m", "error"), ("400m", "error")])
def test_a_wrong_end_is_found(length: str, severity: str, devices: tuple[str, ...], bundle: Path) -> None:
    for device in devices:
        file = bundle / f"sonic/{device}/config_db.json"
        file.write_text(file.read_text().replace('"17m"', f'"{length}"'))
    found = [one for one in validate([bundle]).findings if one.code == "FG532"]
    assert {one.severity for one in found} == {severity}
    assert {name for one in found for name in one.devices or (one.device,)} == set(devices)
