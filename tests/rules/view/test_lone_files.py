"""One config_db.json by itself: its rows about neighbors replace their files."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from fabricgen.bundle.read import open_bundle
from fabricgen.cli.main import main
from fabricgen.findings import Severity
from fabricgen.platforms.catalog import switch_platform
from fabricgen.rules.run import run
from tests.platforms.tiny import tiny_inventory


@pytest.mark.parametrize("model", ["arista-7060x6-64pe", "nvidia-sn5600"])
@pytest.mark.parametrize("device", ["leaf1", "spine1", "core1"])
def test_cables_to_another_tier_may_be_longer(tmp_path: Path, model: str, device: str) -> None:
    platform = switch_platform(model)
    assert platform
    near, far = "leaf-spine: {length: 5m", "spine-core: {length: 40m"
    text = tiny_inventory(model, platform.layouts[0]).replace("spine-core: {length: 5m", far)
    assert near in text and far in text
    (tmp_path / "fabric.yaml").write_text(text)
    arguments = ["render", str(tmp_path / "fabric.yaml"), "--output", str(tmp_path / "bundle")]
    assert CliRunner().invoke(main, arguments, standalone_mode=False).exception is None
    found = run(open_bundle([tmp_path / "bundle" / "sonic" / device / "config_db.json"]))
    assert [one for one in found if one.severity is not Severity.NOTE] == []
