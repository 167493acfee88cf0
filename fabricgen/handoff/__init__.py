"""Handoffs: a bundle as files for the tools that deploy it.

Each is one module here, with a `HANDOFF`; installed packages add theirs by entry points (fabricgen.handoffs).
This module imports none of them, so a handoff can import `Handoff` and `Option` from here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from fabricgen.extensions import HANDOFFS, registered
from fabricgen.handoff.folder import Content, WrittenFiles

__all__ = ["ONLY_HOSTS", "ONLY_SWITCHES", "Content", "Handoff", "Option", "WrittenFiles", "handoffs"]


@dataclass(frozen=True)
class Option:
    """An option of `fabricgen handoff NAME`, and the keyword argument of `Handoff.files` with the same name, with
    underscores for dashes."""

    name: str
    help: str
    default: str | None = None
    choices: tuple[str, ...] = ()
    metavar: str | None = None


ONLY_SWITCHES = Option("only", "Only switches whose names match; separate several patterns by commas.", metavar="GLOB")
ONLY_HOSTS = Option("only", "Only hosts whose names match; separate several patterns by commas.", metavar="GLOB")


@dataclass(frozen=True)
class Handoff:
    """A command `fabricgen handoff NAME BUNDLE --output FOLDER`.

    `files(bundle, **options)` yields (relative path, content); it raises UsageError if the bundle does not fit. The
    pieces of a content are taken before the next file.
    `next_step` is what the person does next, with {bundle}, {output} and the options as fields, or a function that
    returns this text from the options. `notes` returns lines that the person must read, given the files.
    `examples` are options that --help shows, as a shell reads them.
    """

    name: str
    summary: str
    files: Callable[..., Iterable[tuple[str, Content]]]
    options: tuple[Option, ...] = ()
    next_step: str | Callable[..., str] = ""
    notes: Callable[[WrittenFiles], Iterable[str]] = lambda _: ()
    examples: tuple[str, ...] = ("", "--adopt-folder")


@cache
def handoffs() -> Mapping[str, Handoff]:
    """name -> handoff. Raises UsageError for an extension that cannot be loaded or repeats a name."""
    return registered(__name__, "HANDOFF", HANDOFFS, Handoff)
