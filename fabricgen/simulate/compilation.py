"""Compiled loops: numba's decorators with the options that all kernels share, and where machine code is kept.

Extra [sim]. Machine code is kept in the user's cache folder and not beside the source, so that an installation that
nobody may write to starts as fast as any other.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from fabricgen.errors import UsageError

try:
    import numba
except ModuleNotFoundError as error:
    raise UsageError("this simulation needs numba: pip install 'fabricgen[sim]'") from error

# Arrays belong to the caller, which outlives the loop: counting references to them takes nine tenths of its time.
_OPTIONS = {"error_model": "numpy", "_nrt": False}

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Machine code, kept for the next start."""
    return cast("Function", numba.njit(cache=True, no_cfunc_wrapper=True, **_OPTIONS)(function))


def inlined(function: Function) -> Function:
    """Machine code that becomes a part of each caller: a name for a few lines, at no cost."""
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # nobody else calls it
    return cast("Function", numba.njit(forceinline=True, **wrappers, **_OPTIONS)(function))


def use_cache(folder: Path) -> bool:
    """Keep the machine code of what is in `folder` apart from that of other versions, interpreters and processors, and
    tell whether there is some already. Call it before the first import of a kernel."""
    if "NUMBA_CACHE_DIR" not in os.environ:
        numba.config.CACHE_DIR = str(_cache_root() / f"{folder.name}-{_digest(folder)}")
    return any(Path(numba.config.CACHE_DIR).rglob("*.nbc"))


def _digest(folder: Path) -> str:
    """Of the sources: numba itself looks at the file of a function only, not at those that it calls."""
    import llvmlite.binding

    parts = [file.read_bytes() for file in sorted(folder.glob("*.py"))]
    parts.append(Path(__file__).read_bytes())
    about = [numba.__version__, sys.version, llvmlite.binding.get_host_cpu_name(), str(folder)]
    return sha256(b"\0".join([*parts, *[text.encode() for text in about]])).hexdigest()[:16]


def _cache_root() -> Path:
    """The user's cache folder, or one for this user among the temporary files where it cannot be written to."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "fabricgen"
    try:
        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=base):
            return base
    except OSError:
        return Path(tempfile.gettempdir()) / f"fabricgen-{os.getuid()}"
