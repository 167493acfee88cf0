"""Report formats: one module each, with a `FORMAT`; installed packages add theirs by entry points (fabricgen.formats).

This module imports none of them, so a format can import `Format` from here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from fabricgen.extensions import FORMATS, registered
from fabricgen.report.run import Run


@dataclass(frozen=True)
class Format:
    """A value of `--format`.

    `write` returns the report of a run. `annotates_files` is for formats whose readers open the reported file in the
    repository: `check` then reports the line of the inventory, as the rendered files are temporary.
    `commands` is for formats whose reader executes lines such as ::error. The lines of formats `for_people` wrap at the
    width of a terminal.
    """

    name: str
    summary: str
    write: Callable[[Run], str]
    annotates_files: bool = False
    commands: bool = False
    for_people: bool = False


@cache
def formats() -> Mapping[str, Format]:
    """name -> format. Raises UsageError for an extension that cannot be loaded or repeats a name."""
    return registered(__name__, "FORMAT", FORMATS, Format)
