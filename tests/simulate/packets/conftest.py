"""Rendered bundles for packet runs, in addition to the quickstart that all tests share."""

import shutil
from pathlib import Path

import pytest

from fabricgen.cli.main import run
from tests.inventories import rail_optimized, write


def render(inventory: Path, folder: Path) -> Path:
    """The bundle of an inventory."""
    copy = Path(shutil.copytree(inventory, folder / "inventory"))
    with pytest.raises(SystemExit):
        run(["-q", "render", str(copy), "--output", str(folder / "bundle")])
    return folder / "bundle"


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Eight hosts on two units of the requested platform."""
    folder = tmp_path_factory.mktemp("small")
    inventory = write(folder / "given", rail_optimized(hosts=8, unit=4, planned=2, platform=request.param))
    return render(inventory, folder)


@pytest.fixture
def own(small: Path, tmp_path: Path) -> Path:
    """A small bundle to edit."""
    return Path(shutil.copytree(small, tmp_path / "bundle"))
