"""What `config reload FILE` of a release does with a table that has no model."""

from pathlib import Path

import pytest

from fabricgen.rules.run import run
from tests.rules.bgp.cases import image
from tests.rules.case import Switches
from tests.rules.changes import both, put


@pytest.mark.parametrize(("release", "severity"), [("202411", "note"), ("202505", "error"), ("202605", "error")])
def test_the_release_decides(tmp_path: Path, release: str, severity: str) -> None:
    """sonic-utilities config/main.py, config_file_yang_validation: 202505 aborts at each of tablesWithOutYang."""
    change = both(put({"a": "b"}, "leaf1", "VENDOR_TABLE", "x"), image(release, "leaf1"))
    found = run(Switches().broken(change, tmp_path), ["FG401"])
    assert [(one.severity, one.path) for one in found] == [(severity, "VENDOR_TABLE")]


def test_a_table_that_the_validation_passes_over(tmp_path: Path) -> None:
    """The same function: tablesWithOutYang.pop('bgpraw')."""
    change = both(put({"a": "b"}, "leaf1", "bgpraw", "x"), image("202505", "leaf1"))
    assert run(Switches().broken(change, tmp_path), ["FG401"]) == []
