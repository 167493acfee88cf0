"""`python -m fabricgen`, and the command itself: an interrupt is one as well while modules are still being loaded."""

import os
import sys
from contextlib import suppress

EXIT_INTERRUPTED = 130


def run() -> None:
    """Entry point of the console script."""
    try:
        from fabricgen.cli.main import run as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was left half-written\n")
    except SystemExit as stop:
        if stop.code != EXIT_INTERRUPTED:
            raise
    # Not sys.exit: Python would still end by the signal where it struck within exec(), as when a dataclass is made.
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):
            stream.flush()
    os._exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    run()
