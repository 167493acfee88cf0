"""Tools that read what a handoff wrote: skipped where they are not installed; in CI that is a failure."""

import os
import shutil
import sys
from pathlib import Path

import pytest


def tool(name: str, package: str) -> str:
    """The path of a program of a Debian package, or of the extra [dev]."""
    folders = [str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin", "/sbin"]
    found = shutil.which(name, path=os.pathsep.join(folders))
    if not found:
        message = f"needs {name}: apt-get install {package}"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    return str(found)
