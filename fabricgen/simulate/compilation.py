"""Compiled loops: numba's decorators with the options of all kernels, and the cache of machine code.

Extra [sim]. The cache is in the user's cache folder and not beside the source, so a read-only installation starts fast
as well.
"""

import ast
import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from inspect import getfile
from pathlib import Path
from typing import Any, TypeVar, cast

from fabricgen.atomic.private import private_folder, user_cache
from fabricgen.errors import UsageError

try:
    import numba
except ModuleNotFoundError as error:
    raise UsageError("this simulation needs numba: pip install 'fabricgen[sim]'") from error

_PACKAGES = Path(__file__).parents[2]  # the folder of the package fabricgen
# The caller owns the arrays and outlives the loop. Counting references to them would take nine tenths of the time.
_OPTIONS: dict[str, bool | str] = {"error_model": "numpy", "_nrt": False}

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function as machine code, which the cache keeps for the next start."""
    return _cached(function, no_cfunc_wrapper=True, **_OPTIONS)


def compiled_with_arrays(function: Function) -> Function:
    """The same for a function that makes arrays."""
    return _cached(function, nogil=True)


def _cached(function: Function, **options: bool | str) -> Function:
    """numba asks for the folder of its cache only here."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(_cache(Path(getfile(function)).parent))
    try:
        return cast("Function", numba.njit(cache=True, **options)(function))
    finally:
        numba.config.CACHE_DIR = before


def inlined(function: Function) -> Function:
    """The function as machine code inside each caller, without the cost of a call."""
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # only compiled code calls it
    return cast("Function", numba.njit(forceinline=True, **wrappers, **_OPTIONS)(function))


def has_machine_code(folder: Path) -> bool:
    """Whether the cache has machine code of the kernels in `folder`."""
    return any(_cache(folder).rglob("*.nbc"))


@cache
def _cache(folder: Path) -> Path:
    """The cache of the kernels in `folder`, by their sources, interpreter and processor."""
    return _root() / f"{folder.name}-{_digest(folder)}"


@cache
def _root() -> Path:
    """The folder of all caches.

    numba unpickles its cache, so code in a folder that another user can write would run. Without a folder that only
    this user can write, the cache lasts for this run only.
    """
    given = os.environ.get("NUMBA_CACHE_DIR")
    root = next(filter(None, map(private_folder, [Path(given)] if given else _cache_roots())), None)
    if root is None:
        root = Path(tempfile.mkdtemp(prefix="fabricgen-"))
        atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def _digest(folder: Path) -> str:
    """A digest of the sources. numba itself checks only the file of a function, not those of the functions it calls."""
    import llvmlite.binding

    parts = [part for file in kernel_sources(folder) for part in (str(file).encode(), file.read_bytes())]
    about = [numba.__version__, sys.version, llvmlite.binding.get_host_cpu_name(), str(folder)]
    return sha256(b"\0".join([*parts, *[text.encode() for text in about]])).hexdigest()[:16]


def kernel_sources(folder: Path, packages: Path = _PACKAGES) -> list[Path]:
    """The files on which the machine code of `folder` depends: its modules that import this one, and what they import
    of fabricgen, at any distance, because machine code contains the functions and constants of other modules.

    Imports for type checkers are not followed, nor those of this module, whose options are all that code has of it.
    """
    own = packages / "fabricgen" / "simulate" / Path(__file__).name
    found = {own}
    modules = [
        file for file in folder.glob("*.py") if file.name != "__init__.py" and own.stem in file.read_text("utf-8")
    ]
    files = [file for file in modules if own in _imported(file, packages)]
    while files:
        file = files.pop()
        if file not in found:
            found.add(file)
            files += _imported(file, packages)
    return sorted(found)


def _imported(file: Path, packages: Path) -> set[Path]:
    """The files of fabricgen that a file imports, whole modules or names in them, in any function."""
    modules: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(file.read_bytes())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            nodes += node.orelse
            continue
        if isinstance(node, ast.Import):
            modules |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = file.relative_to(packages).parts[: -node.level] if node.level else ()
            module = ".".join((*above, *filter(None, [node.module])))
            modules |= {module, *(f"{module}.{one.name}" for one in node.names)}
        nodes += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    places = [packages.joinpath(*name.split(".")) for name in modules if name.partition(".")[0] == "fabricgen"]
    return {file for place in places for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()}


def _cache_roots() -> Iterator[Path]:
    """The user's cache folder, then a temporary folder of the user."""
    yield user_cache()
    yield Path(tempfile.gettempdir()) / f"fabricgen-{os.geteuid()}"
