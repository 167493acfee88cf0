"""A small fabric for runs."""

from pathlib import Path

import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from tests.inventories import rail_optimized, write


@pytest.fixture(scope="package")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units of four hosts with eight rails."""
    from fabricgen.api import render

    folder = tmp_path_factory.mktemp("fabric")
    render(write(folder / "in", rail_optimized()), folder / "bundle")
    return folder / "bundle"


@pytest.fixture(scope="package")
def opened(fabric: Path) -> Bundle:
    return open_bundle([fabric])
