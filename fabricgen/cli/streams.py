"""Standard output and standard error. A stream that is closed, or no longer read, does not change the exit code."""

import os
import sys
from typing import TextIO

import click

from fabricgen.visible import printable


def write(text: str, *, err: bool = False, nl: bool = True, color: bool | None = None, commands: bool = False) -> None:
    """Write text to a stream. A reader that closes its end (`| head`) is not an error.

    Control characters are escaped, and without `commands` also what a CI job would execute.

    Raises OSError if the text cannot be written for another reason, for example a full disk.
    """
    try:
        click.echo(printable(text, color=bool(color), commands=commands), err=err, nl=nl, color=color)
    except OSError as error:
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # the rest is not tried again at exit
        if not isinstance(error, BrokenPipeError):
            raise


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal with colors and a movable cursor; a closed stream is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
