"""Layouts of the catalog render and are judged without a complaint, or are refused with the reason."""

import json
from pathlib import Path

import pytest

from benchmarks.catalog_cases import TIERS, cases, has_headroom
from benchmarks.catalog_cases import inventory as inventory_text
from fabricgen.api import render, validate
from fabricgen.cli.main import run
from fabricgen.platforms.catalog import switch_platform, switch_rows
from fabricgen.platforms.catalog_index import lossy_roles
from fabricgen.platforms.model import Layout
from tests.platforms.tiny import tiny_inventory


def sample() -> list[tuple[str, Layout]]:
    """One layout of each chip and each set of roles on lossless planes, and a bare switch; benchmarks/catalog.py has
    all layouts."""
    chosen: dict[object, tuple[str, str]] = {}
    for rows in switch_rows().values():
        for row in rows:
            if row.technology == "ethernet":
                chosen.setdefault((row.asic, row.lossless), (row.platform, row.layout))
    return [
        (name, layout)
        for name, wanted in [*chosen.values(), ("generic-64x400g", "64x400g")]
        if (platform := switch_platform(name))
        for layout in platform.layouts
        if layout.name == wanted
    ]


NO_HOSTS = {"FG606"}  # so every switch must reach every other one, also spines that only a leaf joins
SAMPLE = sample()


@pytest.mark.parametrize(("name", "layout"), SAMPLE, ids=[layout.hwsku for _, layout in SAMPLE])
def test_layout(name: str, layout: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inventory = tmp_path / "fabric.yaml"
    inventory.write_text(tiny_inventory(name, layout))
    with pytest.raises(SystemExit) as stop:
        run(["check", str(inventory), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    codes = {finding["code"] for finding in report["findings"] if finding["severity"] != "note"} - NO_HOSTS
    platform = switch_platform(name)
    assert platform
    if not {"leaf", "spine"} & lossy_roles(platform, layout).keys():
        assert (stop.value.code, codes) == (0, set())
        assert report["summary"]["rules"] > 0
    else:
        assert (stop.value.code, codes) == (1, {"FG580"})


# Of the cases of benchmarks/catalog.py, those that once failed: BREAKOUT_CFG of a mode by its speed, two kinds of ports
# in a cage, 1024 ports, WRED at 10G, and FEC of unused ports.
MODES = [
    ("Arista-7060PX4-O32", "2x200G", 100_000),
    ("ACS-SN6600_LD", "2x400G[200G](4)+1x800G[400G](4)", 800_000),
    ("Nokia-IXR7220-H6-O256", "8x100G", 100_000),
    ("Mellanox-SN5600-O128", "4x200G", 10_000),
    ("Supermicro_sse_t8196", "2x100G", 100_000),
]


@pytest.mark.parametrize(("hwsku", "mode", "speed_mbps"), MODES, ids=[hwsku for hwsku, _, _ in MODES])
def test_a_layout_in_another_mode(hwsku: str, mode: str, speed_mbps: int, tmp_path: Path) -> None:
    row = next(row for rows in switch_rows().values() for row in rows if row.hwsku == hwsku)
    [case] = [one for one in cases(row, modes=True) if (one.mode, one.speed_mbps) == (mode, speed_mbps)]
    inventory = tmp_path / "fabric.yaml"
    lossless = bool(row.lossless) and has_headroom(case)
    inventory.write_text(inventory_text(case, dict.fromkeys(TIERS, row), lossless=lossless))
    rendering = render(inventory, tmp_path / "bundle")
    assert rendering.is_written, rendering.findings
    found = [*rendering.findings, *validate([tmp_path / "bundle"]).findings]
    expected = set() if lossless else {"FG578"}  # RoCE without PFC, ECN and trimming
    assert {one.code for one in found if one.severity != "note"} == expected
    config = json.loads((tmp_path / "bundle/sonic/leaf0/config_db.json").read_text())
    modes = {cage: row["brkout_mode"] for cage, row in config["BREAKOUT_CFG"].items()}
    assert modes == case.layout.breakout_modes
    assert {name: row["lanes"] for name, row in config["PORT"].items()} == {
        port.name: ",".join(map(str, port.lanes)) for port in case.layout.ports
    }
