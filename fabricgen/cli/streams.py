"""Standard output and standard error. A stream that is closed, or no longer read, does not change the exit code."""

import os
import sys
from pathlib import Path
from typing import TextIO

import click

from fabricgen.visible import printable


def as_words(*paths: Path) -> str:
    """Paths as a shell reads them, for a command that a person copies."""
    import shlex  # not needed for a completion

    return shlex.join(map(str, paths))


def write(
    text: str,
    *,
    err: bool = False,
    nl: bool = True,
    color: bool | None = None,
    commands: bool = False,
    wraps: bool = False,
) -> None:
    """Write text to a stream. A reader that closes its end (`| head`) is not an error.

    Control characters are escaped, and without `commands` also what a CI job would execute. Text that `wraps` is for
    people: a terminal gets it wrapped at its width, a pipe or a file as it is.

    Raises OSError if the text cannot be written for another reason, for example a full disk.
    """
    text = printable(text, color=bool(color), commands=commands)
    if wraps and (width := width_of(sys.stderr if err else sys.stdout)):
        from fabricgen.report.wrapping import wrapped  # a completion does not need it

        text = wrapped(text, width)
    try:
        click.echo(text, err=err, nl=nl, color=color)
    except OSError as error:
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # the rest is not tried again at exit
        if not isinstance(error, BrokenPipeError):
            raise


def width_of(stream: TextIO | None) -> int:
    """The columns of a terminal; 0 for a pipe, a file or a closed stream. COLUMNS overrides what the terminal says."""
    if stream is None or not stream.isatty():
        return 0
    if os.environ.get("COLUMNS", "").isdecimal():
        return int(os.environ["COLUMNS"])
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except OSError:
        return 0


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal with colors and a movable cursor; a closed stream is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
