"""`python -m fabricgen`, and the console script. An interrupt while modules are loaded is handled, too."""

import gc
import os
import sys
from contextlib import suppress

EXIT_INTERRUPTED = 130


def run() -> None:
    """Entry point of the console script. SIGINT, SIGTERM and SIGHUP end it with exit code 130."""
    gc.disable()  # modules and trees of parsed files have no cycles; a search for them takes a quarter of the time
    # The linear algebra of numpy starts a thread for each core, and it waits in a loop. No matrix here is that large.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from fabricgen.interrupts import clean_up_at_end, held, ignore_signals, unwind_at_signals

    try:
        unwind_at_signals()
        from fabricgen.cli.main import run as command

        command()
    except KeyboardInterrupt:
        with held():
            clean_up_at_end()
            sys.stderr.write("interrupted; nothing was left half-written\n")
    except SystemExit as stop:
        gc.freeze()  # no search at exit either
        ignore_signals()
        clean_up_at_end()
        if stop.code != EXIT_INTERRUPTED:
            raise
    # Not sys.exit: Python would end by the signal if it arrived within exec(), for example in a dataclass decorator.
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):
            stream.flush()
    os._exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    run()
