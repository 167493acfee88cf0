"""The paths of OpenSM and of the fabric simulator ibsim on this machine."""

import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGES = "opensm ibsim-utils libumad2sim0"  # of Debian
_SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin")  # not on the PATH of all users


@dataclass(frozen=True, slots=True)
class Tools:
    """Paths of the programs, and of the library that connects a program's management datagrams to ibsim."""

    opensm: str
    ibsim: str
    umad2sim: str


def find_tools() -> Tools | None:
    """The tools; None if any is missing."""
    return _found(os.environ.get("PATH", ""))


@cache
def _found(path: str) -> Tools | None:
    folders = os.pathsep.join([path, *_SYSTEM_FOLDERS])
    opensm, ibsim = (shutil.which(name, path=folders) for name in ("opensm", "ibsim"))
    if opensm is None or ibsim is None:
        return None
    prefix = Path(ibsim).resolve().parent.parent
    found = [
        file for pattern in ("lib*/umad2sim", "lib*/*/umad2sim") for file in sorted(prefix.glob(f"{pattern}/*.so"))
    ]
    return Tools(opensm, ibsim, str(found[0])) if found else None
