"""Compiled loops: numba's decorators with the options of all kernels, and the cache of machine code.

Extra [sim]. The cache is in the user's cache folder and not beside the source, so a read-only installation starts fast
as well.
"""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from fabricgen.atomic.private import private_folder, user_cache
from fabricgen.errors import UsageError

try:
    import numba
except ModuleNotFoundError as error:
    raise UsageError("this simulation needs numba: pip install 'fabricgen[sim]'") from error

# The caller owns the arrays and outlives the loop. Counting references to them would take nine tenths of the time.
_OPTIONS = {"error_model": "numpy", "_nrt": False}

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function as machine code, which the cache keeps for the next start."""
    return cast("Function", numba.njit(cache=True, no_cfunc_wrapper=True, **_OPTIONS)(function))


def inlined(function: Function) -> Function:
    """The function as machine code inside each caller, without the cost of a call."""
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # only compiled code calls it
    return cast("Function", numba.njit(forceinline=True, **wrappers, **_OPTIONS)(function))


def use_cache(folder: Path) -> bool:
    """Select the cache of the kernels in `folder`, by version, interpreter and processor, and return whether it has
    machine code. Call it before the first import of a kernel.

    numba unpickles its cache, so code in a folder that another user can write would run. Without a folder that only
    this user can write, the cache lasts for this run only.
    """
    given = os.environ.get("NUMBA_CACHE_DIR")
    root = next(filter(None, map(private_folder, [Path(given)] if given else _cache_roots())), None)
    if root is None:
        root = Path(tempfile.mkdtemp(prefix="fabricgen-"))
        atexit.register(shutil.rmtree, root, ignore_errors=True)
    numba.config.CACHE_DIR = str(root if given else root / f"{folder.name}-{_digest(folder)}")
    return any(Path(numba.config.CACHE_DIR).rglob("*.nbc"))


def _digest(folder: Path) -> str:
    """A digest of the sources. numba itself checks only the file of a function, not those of the functions it calls."""
    import llvmlite.binding

    parts = [file.read_bytes() for file in sorted(folder.glob("*.py"))]
    parts.append(Path(__file__).read_bytes())
    about = [numba.__version__, sys.version, llvmlite.binding.get_host_cpu_name(), str(folder)]
    return sha256(b"\0".join([*parts, *[text.encode() for text in about]])).hexdigest()[:16]


def _cache_roots() -> Iterator[Path]:
    """The user's cache folder, then a temporary folder of the user."""
    yield user_cache()
    yield Path(tempfile.gettempdir()) / f"fabricgen-{os.geteuid()}"
