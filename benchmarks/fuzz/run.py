"""One command in this process, through the entry point of the console script, with its CPU time."""

import contextlib
import gc
import io
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

from fabricgen.cli.main import run

LONGEST_CPU_S = 10.0


class HangError(BaseException):
    """A command used more CPU time than it may."""


@dataclass(frozen=True)
class Outcome:
    """The exit code, standard error and CPU time of a command; 124 for a hang."""

    code: int
    error: str
    cpu_s: float


def run_command(arguments: Sequence[str], longest_cpu_s: float | None = LONGEST_CPU_S) -> Outcome:
    """Run `fabricgen ARGUMENTS --debug`, stopped after so many seconds of CPU time."""
    start = time.process_time()
    streams = sys.stdout, sys.stderr
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", how) for how in ("strict", "backslashreplace"))
    sys.stdout, sys.stderr = out, err
    try:
        with _limit(longest_cpu_s or 0):
            run([*arguments, "--debug"])
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except HangError:
        code = 124
    finally:
        sys.stdout, sys.stderr = streams
        gc.unfreeze()
    err.flush()
    return Outcome(
        code, err.buffer.getvalue().decode() if isinstance(err.buffer, io.BytesIO) else "", time.process_time() - start
    )


@contextlib.contextmanager
def _limit(cpu_s: float) -> Iterator[None]:
    def stop(_: int, frame: FrameType | None) -> None:
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""
        print(f"hang at {place}", file=sys.stderr)
        raise HangError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
