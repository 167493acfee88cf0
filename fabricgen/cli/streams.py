"""Standard output and standard error: one that is closed, or that nobody reads any more, changes no exit code."""

import os
import sys
from typing import TextIO

import click


def tell(text: str, *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Text for the reader of a stream. One who went away (`| head`) has had enough: that is no error."""
    try:
        click.echo(text, err=err, nl=nl, color=color)
    except BrokenPipeError:
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that knows colours and moves its cursor; a closed one is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
