"""Standard output and standard error: one that is closed, or that nobody reads any more, changes no exit code."""

import os
import sys
from typing import TextIO

import click


def tell(text: str, *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Text for the reader of a stream. One who went away (`| head`) has had enough: that is no error.

    Raises OSError where the text cannot be written for another reason, such as a full disk.
    """
    try:
        click.echo(text, err=err, nl=nl, color=color)
    except OSError as error:
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # what is left over is not tried again at exit
        if not isinstance(error, BrokenPipeError):
            raise


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that knows colours and moves its cursor; a closed one is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
