"""What tests of daemons wait for: a state, never a moment."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

_MOST_S = 60


def until(ready: Callable[[], bool], why: Callable[[], str] = lambda: "") -> None:
    """Wait until the state is there; after a minute the test fails with what `why` returns, for example a log."""
    end = time.monotonic() + _MOST_S
    while not ready():
        assert time.monotonic() < end, why()
        time.sleep(0.02)


def listens(path: Path) -> bool:
    """Whether a server takes connections at a socket. Its file exists before."""
    with socket.socket(socket.AF_UNIX) as probe:
        return path.exists() and probe.connect_ex(str(path)) == 0
