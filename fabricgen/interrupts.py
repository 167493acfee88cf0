"""The signals that end a run. SIGINT, SIGTERM and SIGHUP unwind the program in the same way."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_QUIET_S = 2.0  # after a signal, others have no effect for this time: the program removes its temporary files

_at_end: list[Callable[[], None]] = []
_holds = 0
_is_pending = False
_quiet_until = 0.0


def unwind_at_signals() -> None:
    """Raise KeyboardInterrupt at each of these signals. A signal that the parent process ignores stays ignored."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _unwind)


def ignore_signals() -> None:
    """Ignore these signals until the process ends: nothing is left to interrupt."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def at_end(clean_up: Callable[[], None]) -> None:
    """Register a function for `clean_up_at_end`."""
    _at_end.append(clean_up)


def clean_up_at_end() -> None:
    """Call the registered functions. An interrupt between two instructions can skip any other clean-up."""
    for clean_up in _at_end:
        clean_up()


@contextmanager
def held() -> Iterator[None]:
    """Run the body without an interrupt. A signal that arrives takes effect at the end of the outermost body."""
    global _holds, _is_pending
    if threading.current_thread() is not threading.main_thread():  # no other is interrupted
        yield
        return
    _holds += 1
    try:
        yield
    finally:
        _holds -= 1
        if _is_pending and not _holds:
            _is_pending = False
            _raise()


def _unwind(_: int, __: FrameType | None) -> None:
    global _is_pending
    if _holds:
        _is_pending = True
    elif time.monotonic() >= _quiet_until:
        _raise()


def _raise() -> None:
    global _quiet_until
    _quiet_until = time.monotonic() + _QUIET_S
    threading.excepthook = _left_by_workers
    raise KeyboardInterrupt


def _left_by_workers(_: threading.ExceptHookArgs) -> None:
    """A signal to the whole process group ends the workers, too. The thread of their pool then fails to give this error
    to work that was cancelled."""
