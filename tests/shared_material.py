"""Where facts that were collected for this project lie, for tests that compare our own data with them."""

import os
from pathlib import Path

import pytest

_SHARED = Path(__file__).parents[2] / "shared"


def shared(*parts: str) -> Path:
    """A path below ../shared. Skips the test where that folder is missing, and fails it in CI."""
    path = _SHARED.joinpath(*parts)
    if not path.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{path} is missing")
        pytest.skip("needs ../shared")
    return path
