"""docs/extending.md, inside the project: in a clone, each member of its package is one file."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extensions.test_extending import BLOCK, PAGE
from tests.inventories import explicit, write

ROOT = PAGE.parents[1]
PARTS = ("fabricgen", "templates", "schemas", "inventories", "docs", "tests", "pyproject.toml")
# Block of the page -> the file inside the project.
PLACES = {
    "site_fabric/rules.py": "fabricgen/rules/bundle/ntp_servers.py",
    "site_fabric/csv_format.py": "fabricgen/report/formats/csv_format.py",
    "site_fabric/islands.py": "fabricgen/design/islands.py",
    "site_fabric/hosts_file.py": "fabricgen/handoff/hosts_file.py",
    "site_fabric/catalog/switches/site-8x400g.yaml": "fabricgen/platforms/catalog/switches/site-8x400g.yaml",
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the five files, and a bundle with one NTP server."""
    folder = tmp_path_factory.mktemp("clone")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder)
    for name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if name in PLACES:
            (folder / PLACES[name]).write_text(text)
    write(folder / "site", explicit())
    run(folder, "fabricgen", "-q", "render", "site", "-o", "build")
    return folder


def run(clone: Path, *words: str, code: int = 0) -> str:
    """The output of a module of the clone."""
    environment = os.environ | {"PYTHONPATH": str(clone)}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_a_rule(clone: Path) -> None:
    found = run(clone, "fabricgen", "validate", "build", "--select", "FG001")
    assert "FG001" in found and "expected at least 2" in found
    assert "RFC 8633" in run(clone, "fabricgen", "explain", "FG001")


def test_a_format(clone: Path) -> None:
    found = run(clone, "fabricgen", "validate", "build", "--select", "FG001", "--format", "csv")
    assert found.startswith("code,severity,device,path,message\nFG001,warning,")


def test_a_design(clone: Path) -> None:
    assert "islands" in run(clone, "fabricgen", "list", "designs")
    run(clone, "fabricgen", "init", "others", "--design", "islands", "--hosts", "2")
    run(clone, "fabricgen", "check", "others")


def test_a_handoff(clone: Path) -> None:
    run(clone, "fabricgen", "handoff", "hosts-file", "build", "-o", "hosts-file")
    assert "leaf1.fabric.example" in (clone / "hosts-file" / "hosts").read_text()


def test_a_platform(clone: Path) -> None:
    """Its index is written without a clone of sonic-buildimage, as `make pages` does."""
    run(clone, "pytest", "-n", "0", "-q", "--update-golden", "tests/platforms/test_catalog.py")
    assert "site-8x400g" in run(clone, "fabricgen", "list", "platforms")
