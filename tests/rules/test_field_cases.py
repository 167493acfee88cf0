"""Faults and valid forms from the field, planted in rendered switches: found on one switch and on all, or silent."""

import runpy
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from fabricgen.api import render, validate
from fabricgen.findings import Severity
from tests.shared_material import shared

# case -> the code that names the fault, "" where the files are right
EXPECTED = {
    "03-macsec-one-end": "FG277",
    "06-erspan-in-lossless-class": "FG559",
    "12-no-drop-probability": "FG542",
    "24-idf-isolation": "FG279",
    "31-sku-data-of-another-release": "",
    "32-lanes-host-dac": "FG272",
    "34-catalog-fails-own-check": "",
    "38-macsec-secret": "",
    "41-pmon-disabled": "FG357",
}
_FOLDER = TemporaryDirectory(prefix="fabricgen-field-")


@cache
def rendered(inventory: Path) -> Path:
    """The bundle of an inventory, rendered once."""
    folder = Path(_FOLDER.name) / str(abs(hash(inventory)))
    shutil.copytree(inventory, folder / "inventory")
    assert not render(folder / "inventory", folder / "bundle").has_errors
    return folder / "bundle"


def made(case: Path, bundle: Path, scope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What make.py or make.sh of a case makes; the command that they run is a copy of a rendered bundle."""

    def run(command: Sequence[str], **_: Any) -> None:
        assert command[:3] == ["fabricgen", "--quiet", "render"]
        inventory = case / "inventory" if (case / "inventory").is_dir() else Path(command[3])
        shutil.copytree(rendered(inventory), bundle)

    monkeypatch.setattr(subprocess, "run", run)
    if not (case / "make.py").exists():
        run(["fabricgen", "--quiet", "render"])
        return
    monkeypatch.setattr(sys, "argv", ["make.py", str(bundle), scope])
    runpy.run_path(str(case / "make.py"))


@pytest.mark.parametrize("scope", ["one", "all"])
@pytest.mark.parametrize("case", EXPECTED)
def test_field_cases(case: str, scope: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(shared("data", "field_cases", "sonic", case), tmp_path / "bundle", scope, monkeypatch)
    findings = validate([tmp_path / "bundle"], select=(EXPECTED[case],) * bool(EXPECTED[case])).findings
    found = {one.code for one in findings if one.severity is not Severity.NOTE}
    if EXPECTED[case]:
        assert EXPECTED[case] in found
    else:
        assert found <= {"FG273", "FG285"}  # dac at the twin-port cages of a DGX H100, and one spine
