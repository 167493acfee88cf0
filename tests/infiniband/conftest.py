"""The real OpenSM and its helpers. Without them these tests are skipped; in CI that is a failure."""

import os
import shutil

import pytest

from fabricgen.simulate.opensm import PACKAGES, Tools, find_tools


@pytest.fixture(scope="session")
def opensm() -> Tools:
    """OpenSM and ibsim."""
    return find_tools() or _missing("opensm and ibsim")


@pytest.fixture(scope="session")
def ibdmchk() -> str:
    """The peer of our credit loop check."""
    return shutil.which("ibdmchk") or _missing("ibdmchk")


def _missing(what: str) -> None:
    message = f"needs {what}: apt-get install {PACKAGES} ibutils"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
