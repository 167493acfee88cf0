"""Every layout of the catalog renders and is judged without a complaint, or is refused with the reason."""

import json
from pathlib import Path

import pytest

from fabricgen.cli.main import run
from fabricgen.platforms.catalog import switch_names, switch_platform
from fabricgen.platforms.model import Layout
from tests.platforms.tiny import tiny_inventory

LAYOUTS = [
    (name, layout)
    for name in [*switch_names(), "generic-64x400g"]
    if (platform := switch_platform(name)) and platform.serves("ethernet")
    for layout in platform.layouts
]


@pytest.mark.parametrize(("platform", "layout"), LAYOUTS, ids=[layout.hwsku for _, layout in LAYOUTS])
def test_layout(platform: str, layout: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inventory = tmp_path / "fabric.yaml"
    inventory.write_text(tiny_inventory(platform, layout))
    with pytest.raises(SystemExit) as stop:
        run(["check", str(inventory), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    codes = {finding["code"] for finding in report["findings"] if finding["severity"] != "note"}
    if layout.headroom:
        assert (stop.value.code, codes) == (0, set())
        assert report["summary"]["rules"] > 0
    else:
        assert (stop.value.code, codes) == (1, {"FG580"})
