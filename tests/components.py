"""Programs, packages and rights that some tests need.

Where one is missing the test is skipped, and the end of the run says in one line what to do; in CI it is a failure.
"""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

IN_CI = os.environ.get("CI") == "true"
# Programs beside this Python are of the extra [dev]. The system's folders are not on the PATH of all users. A test may
# change PATH; what is installed does not depend on it.
_FOLDERS = (str(Path(sys.executable).parent), os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def missing(what: str, remedy: str) -> NoReturn:
    """Skip the test, with what would make it run; in CI it fails."""
    message = f"needs {what}: {remedy}"
    pytest.fail(message) if IN_CI else pytest.skip(message, allow_module_level=True)


def tool(name: str, package: str) -> str:
    """The path of a program of a Debian package."""
    return _found(name) or missing(name, f"apt-get install {package}")


def script(name: str) -> str:
    """The path of a command that the extra [dev] installs."""
    return _found(name) or missing(name, "pip install 'fabricgen[dev]'")


def package(name: str, extra: str) -> ModuleType:
    """A module of an extra of fabricgen."""
    try:
        return importlib.import_module(name)
    except ImportError:
        missing(name, f"pip install 'fabricgen[{extra}]'")


def require_root() -> None:
    """Skip the test for a user that may not do everything."""
    if os.geteuid() != 0:
        missing("root", "run the tests as root")


def require_namespaces() -> None:
    """Skip the test where network namespaces cannot be made."""
    require_root()
    probe, ip = f"fabricgen-probe-{os.getpid()}", tool("ip", "iproute2")
    if subprocess.run([ip, "netns", "add", probe], capture_output=True, check=False).returncode:
        missing("the right to make network namespaces", "run in a container with --privileged")
    subprocess.run([ip, "netns", "del", probe], check=False)


def _found(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join(_FOLDERS))
