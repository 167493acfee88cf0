"""A JSON number that SONiC can write as digits is a warning; a value that SONiC rejects is an error."""

import json
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.findings import Severity
from fabricgen.rules.run import run


@pytest.mark.parametrize(
    ("value", "severity"),
    [(9100, Severity.WARNING), (99999, Severity.ERROR), (True, Severity.ERROR), ([], Severity.ERROR)],
)
def test_values_that_are_not_text(value: object, severity: Severity, tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps({"PORT": {"Ethernet0": {"speed": "400000", "lanes": "1", "mtu": value}}}))
    (found,) = run(open_bundle([file]), ["FG405"])
    assert (found.severity, found.path) == (severity, "PORT|Ethernet0|mtu")
