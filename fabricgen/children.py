"""Child processes end with this process, even if it is killed."""

import ctypes
import signal

_PARENT_DIED = 1  # PR_SET_PDEATHSIG of linux/prctl.h
_LIBC = ctypes.CDLL(None)  # before fork: a new process loads nothing


def end_with_parent() -> None:
    """In a new child process: end when the thread that started it ends."""
    _LIBC.prctl(_PARENT_DIED, signal.SIGKILL)


def be_worker() -> None:
    """In a new worker process: end with the parent, and leave interrupts from the terminal to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
