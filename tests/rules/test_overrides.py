"""A value from an override is not a mistake; a manual change is."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabricgen.bundle.read import open_bundle
from fabricgen.cli.main import main
from fabricgen.findings import Severity
from fabricgen.rules.run import run

QUICKSTART = Path(__file__).parents[2] / "inventories" / "quickstart"
OVERRIDE = """
overrides:
  - match: {name: compute-su00-r3-leaf}
    config_db:
      SCHEDULER: {LOSSY: {weight: 7}}
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Quickstart with one scheduler weight overridden on one leaf."""
    shutil.copytree(QUICKSTART, tmp_path / "inventory")
    with (tmp_path / "inventory" / "fabric.yaml").open("a") as inventory:
        inventory.write(OVERRIDE)
    arguments = ["render", str(tmp_path / "inventory"), "--output", str(tmp_path / "bundle")]
    assert CliRunner().invoke(main, arguments, standalone_mode=False).exception is None
    return tmp_path / "bundle"


def test_an_override_is_not_the_odd_one_out(bundle: Path) -> None:
    assert [finding for finding in run(open_bundle([bundle])) if finding.severity is not Severity.NOTE] == []


def test_the_same_difference_made_by_hand_is(bundle: Path) -> None:
    file = bundle / "sonic" / "compute-su01-r4-leaf" / "config_db.json"
    text = file.read_text()
    assert text.count('"weight": "5"') == 1
    file.write_text(text.replace('"weight": "5"', '"weight": "7"'))
    (finding,) = (one for one in run(open_bundle([bundle])) if one.severity is not Severity.NOTE)
    assert (finding.code, finding.device, finding.path) == (
        "FG592", "compute-su01-r4-leaf", "SCHEDULER|LOSSY|weight",
    )  # fmt: skip
