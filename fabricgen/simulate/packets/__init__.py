"""Packet by packet: what buffers, pause frames, marks and rates do in a small network or a slice of a large one.

The loop is compiled by numba, extra [sim]; nothing here may be imported before `prepare`.
"""

from collections.abc import Callable
from pathlib import Path


def prepare(announce: Callable[[str], None]) -> None:
    """Have machine code of the loop from the user's cache, or say that it will be compiled now.

    Raises UsageError where numba is missing.
    """
    from fabricgen.simulate.compilation import use_cache

    if not use_cache(Path(__file__).parent):
        announce("compiling the packet simulator for this machine: some 20 s, once")
