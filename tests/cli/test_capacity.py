"""`fabricgen capacity`: counts before there is an inventory to render, and comparisons of several."""

import json
from pathlib import Path

import pytest

from fabricgen.platforms.catalog import switch_platform
from tests.conftest import Cli
from tests.inventories import Tree, rail_optimized, write


def bare(platform: str = "nvidia-sn5600", **plane: object) -> Tree:
    """An inventory of two planes without addresses and management."""
    tree = rail_optimized(platform=platform, **plane)
    switch = {"platform": "nvidia-sn5600"}
    storage = {"design": "fat-tree", "hosts": ["gpu"], "scalable_unit": {"hosts": 8}, "leaves_per_unit": 2}
    tree["planes"]["storage"] = {**storage, "leaf": switch, "spine": switch, "speed": "400G"}
    del tree["management"], tree["planes"]["compute"]["addressing"]
    return tree


def test_an_inventory_without_addresses_is_counted_and_not_rendered(cli: Cli, tmp_path: Path) -> None:
    folder = write(tmp_path / "bare", bare())
    shown = cli("capacity", folder)
    assert shown.code == 0
    assert "  leaf switches          16 nvidia-sn5600 (room for 24)\n" in shown.out
    total = "total of all planes\n  switches    20 nvidia-sn5600\n  hosts       8, 64 GPUs\n"
    assert total in shown.out and shown.out.endswith("  rack units  40\n")
    refused = cli("check", folder)
    assert refused.code == 1 and refused.out.count("error FG106  a RoCE plane needs 'addressing'") == 2


def test_totals_are_the_sums_of_the_planes(cli: Cli, tmp_path: Path) -> None:
    table = json.loads(cli("capacity", write(tmp_path / "bare", bare()), "--format", "json").out)["capacity"]
    planes, total = table["planes"], table["total"]
    assert [plane["models"] for plane in planes] == [
        {"leaf": {"nvidia-sn5600": 16}, "spine": {"nvidia-sn5600": 1}},
        {"leaf": {"nvidia-sn5600": 2}, "spine": {"nvidia-sn5600": 1}},
    ]
    assert total["models"] == {"nvidia-sn5600": total["switches"]} and total["switches"] == 20
    assert total["links"] == sum(sum(plane["links"].values()) for plane in planes)
    assert total["cables"] == sum(sum(plane["cables"].values()) for plane in planes)
    assert total["hosts"] == planes[0]["hosts"] == planes[1]["hosts"] == 8
    platform = switch_platform("nvidia-sn5600")
    assert platform and total["rack_units"] == 20 * (platform.rack_units or 0) == 40
    assert total["power_watts"] is None


def test_a_model_without_rack_units_is_named(cli: Cli, tmp_path: Path) -> None:
    shown = cli("capacity", write(tmp_path / "bare", bare("dell-z9664f"))).out
    assert shown.count("  rack units             not stated for dell-z9664f\n") == 1  # the plane compute
    assert shown.endswith("  rack units  not stated for dell-z9664f\n")  # and the total


@pytest.mark.parametrize("fmt", ["text", "markdown", "json"])
def test_several_inventories_side_by_side(fmt: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "small", bare())
    write(tmp_path / "large", bare("arista-7060x6-64pe", scalable_unit={"hosts": 8}))
    shown = cli("capacity", "small", "large", "--format", fmt)
    assert shown.code == 0
    if fmt == "json":
        tables = json.loads(shown.out)["capacity"]["inventories"]
        assert [table["inventory"] for table in tables] == ["small", "large"]
        assert [table["total"]["switches"] for table in tables] == [20, 12]
        return
    rows = [[cell.strip() for cell in line.strip("|").split("|" if fmt == "markdown" else "  ") if cell.strip()]
            for line in shown.out.splitlines()]  # fmt: skip
    assert rows[0] == ["fabric"] * (fmt == "text") + ["small", "large"]
    assert ["compute: leaf switches", "16 nvidia-sn5600 (room for 24)", "8 arista-7060x6-64pe"] in rows
    last = ["total: switches", "20 nvidia-sn5600", "12: 9 arista-7060x6-64pe, 3 nvidia-sn5600"]
    assert last in rows and rows[-1][0] == "total: rack units"


def test_a_wrong_one_of_several_is_refused(cli: Cli, tmp_path: Path) -> None:
    good, wrong = write(tmp_path / "good", bare()), write(tmp_path / "wrong", bare("no-such-switch"))
    shown = cli("capacity", good, wrong)
    assert shown.code == 1 and "wrong/fabric.yaml" in shown.out and "no switch platform is called" in shown.out
