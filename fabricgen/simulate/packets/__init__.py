"""Simulation packet by packet: buffers, pause frames, marks and rates in a small network or a slice of a large one.

numba, extra [sim], compiles the loop.
"""

from collections.abc import Callable
from pathlib import Path


def prepare(announce: Callable[[str], None]) -> None:
    """Announce a compilation if the cache of machine code is empty.

    Raises UsageError without numba.
    """
    from fabricgen.simulate.compilation import has_machine_code

    if not has_machine_code(Path(__file__).parent):
        announce("compiling the packet simulator for this machine: about 20 s, once")
