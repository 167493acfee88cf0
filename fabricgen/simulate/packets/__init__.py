"""Simulation packet by packet: buffers, pause frames, marks and rates in a small network or a slice of a large one.

numba, extra [sim], compiles the loop.
"""

from collections.abc import Callable
from pathlib import Path

_COMPILING = "compiling the packet simulator for this machine: about 20 s, once"


def prepare(announce: Callable[[str], None]) -> Callable[[], None]:
    """What to call when the first run begins: it announces the compilation if the cache of machine code is empty now.
    Options and files that are refused before the first run compile nothing.

    Raises UsageError without numba.
    """
    from fabricgen.simulate.compilation import has_machine_code

    waiting = [] if has_machine_code(Path(__file__).parent) else [_COMPILING]

    def begin() -> None:
        while waiting:
            announce(waiting.pop())

    return begin
