"""Tools that read what a handoff wrote: skipped where they are not installed; in CI that is a failure."""

import os
import shutil

import pytest


def tool(name: str, package: str) -> str:
    """The path of a program of a Debian package."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not found:
        message = f"needs {name}: apt-get install {package}"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    return str(found)
