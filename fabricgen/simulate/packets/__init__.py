"""Simulation packet by packet: buffers, pause frames, marks and rates in a small network or a slice of a large one.

numba, extra [sim], compiles the loop. Call `prepare` before any other import from this room.
"""

from collections.abc import Callable
from pathlib import Path


def prepare(announce: Callable[[str], None]) -> None:
    """Select the cache of machine code, and announce a compilation if the cache is empty.

    Raises UsageError without numba.
    """
    from fabricgen.simulate.compilation import use_cache

    if not use_cache(Path(__file__).parent):
        announce("compiling the packet simulator for this machine: about 20 s, once")
