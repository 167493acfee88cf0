"""The cache of machine code is of the sources that the machine code depends on."""

import sys
from pathlib import Path
from typing import Any

import pytest

from fabricgen.simulate import compilation
from fabricgen.simulate.compilation import kernel_sources
from fabricgen.simulate.congestion import finite_loops
from fabricgen.simulate.congestion.steady import compiled_window
from fabricgen.simulate.packets import loop, prepare

FOLDER = Path(loop.__file__).parent
FILES = {
    "simulate/compilation.py": "from fabricgen.atomic import folders",
    "atomic.py": "",
    "simulate/kernels/__init__.py": "",
    "simulate/kernels/loop.py": """
from typing import TYPE_CHECKING
from fabricgen.simulate.compilation import compiled
from fabricgen.simulate.kernels import records
from . import queue
if TYPE_CHECKING:
    from fabricgen.scenario import Scenario
def late():
    import fabricgen.physics
""",
    "simulate/kernels/records.py": "from fabricgen.units import BITS",
    "simulate/kernels/queue.py": "",
    "simulate/kernels/report.py": "from fabricgen.simulate.kernels import loop",
    "physics.py": "",
    "scenario.py": "",
    "units.py": "",
}
OTHERS = {"atomic.py", "scenario.py", "simulate/kernels/report.py"}


def test_sources_are_modules_with_kernels_and_all_that_these_import(tmp_path: Path) -> None:
    for name, text in FILES.items():
        file = tmp_path / "fabricgen" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    found = kernel_sources(tmp_path / "fabricgen" / "simulate" / "kernels", tmp_path)
    assert {str(file.relative_to(tmp_path / "fabricgen")) for file in found} == FILES.keys() - OTHERS


def test_every_function_and_constant_in_machine_code_is_of_the_sources() -> None:
    prepare(print)
    sources = {*map(str, kernel_sources(FOLDER))}
    kernels = {
        one.py_func
        for name, module in [*sys.modules.items()]
        if name.startswith("fabricgen.simulate.packets.")
        for one in vars(module).values()
        if hasattr(one, "py_func")
    }
    assert len(kernels) > 100
    for kernel in kernels:
        used = [kernel.__globals__.get(name) for name in kernel.__code__.co_names]
        modules = {kernel.__module__, *(getattr(one, "__module__", None) for one in used)}
        files = {sys.modules[name].__file__ for name in modules if name and name.startswith("fabricgen.")}
        assert files <= sources


def test_kernels_of_congestion_have_the_cache_of_their_sources() -> None:
    """The loops contain functions and constants of other modules, whose changes numba does not see."""
    folder, window = Path(finite_loops.__file__).parent, compiled_window()
    assert window is not None
    assert cache_of(finite_loops.step_loops) == cache_of(window)
    assert cache_of(window).name.startswith("congestion-")
    assert cache_of(loop.advance) == cache_of(window).parent / cache_of(loop.advance).name
    assert {"acks.py", "fifo.py", "finite_loops.py", "steady.py"} <= {file.name for file in kernel_sources(folder)}


def test_a_change_of_a_source_is_another_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "units.py"
    monkeypatch.setattr(compilation, "kernel_sources", lambda _: [source])
    found = []
    for text in ("BITS = 8", "BITS = 9", "BITS = 8"):
        source.write_text(text)
        compilation._cache.cache_clear()
        found.append(compilation._cache(tmp_path / "kernels"))
    compilation._cache.cache_clear()
    assert found[0] == found[2] != found[1]


def cache_of(kernel: Any) -> Path:
    """The folder that has the machine code of a kernel, below one of numba for the folder of its source."""
    return Path(kernel._cache.cache_path).parent


def test_modules_without_kernels_are_not_sources() -> None:
    names = {file.name for file in kernel_sources(FOLDER) if file.parent == FOLDER}
    assert not {"analysis.py", "findings.py", "from_bundle.py", "outcome.py"} & names
