"""Reference material beside the repository, with which tests compare our own data."""

import os
from pathlib import Path

import pytest

from tests.components import missing

_SHARED = Path(__file__).parents[2] / "shared"


def shared(*parts: str) -> Path:
    """A path below ../shared.

    If it is missing the test is skipped. In CI it fails, unless WITHOUT_SHARED=true declares that the folder does not
    exist on this machine.
    """
    path = _SHARED.joinpath(*parts)
    if not path.exists():
        if os.environ.get("WITHOUT_SHARED") == "true":
            pytest.skip("needs ../shared, which WITHOUT_SHARED declares missing")
        missing("../shared", "put the reference material beside the repository")
    return path
