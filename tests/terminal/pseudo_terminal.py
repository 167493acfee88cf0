"""A command on a pseudo-terminal of a given width, and what its screen shows."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

ROWS = 40


def on_terminal(arguments: list[str], columns: int, cwd: Path, environment: Mapping[str, str] = {}) -> str:
    """All that `fabricgen` writes to the terminal."""
    return run_on_terminal([sys.executable, "-m", "fabricgen", *arguments], columns, cwd, environment)


def run_on_terminal(command: list[str], columns: int, cwd: Path, environment: Mapping[str, str] = {}) -> str:
    """All that a command writes to the terminal, as text with newlines."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "COLUMNS")}
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    with subprocess.Popen(
        command,
        stdin=terminal, stdout=terminal, stderr=terminal, cwd=cwd, env={**kept, "TERM": "xterm", **environment},
    ):  # fmt: skip
        os.close(terminal)
        shown = b"".join(iter(lambda: _read(main), b""))
    os.close(main)
    return shown.decode().replace("\r\n", "\n")


def _read(main: int) -> bytes:
    try:
        return os.read(main, 65536)
    except OSError:  # EIO: the other end is closed
        return b""
