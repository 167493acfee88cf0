"""Phrases about a finding that several formats share."""

import os
from collections.abc import Iterable
from pathlib import Path

from fabricgen.findings import Finding, Location, Severity
from fabricgen.sonic.canonical import natural_key

_ANSI = {Severity.ERROR: "\x1b[31m", Severity.WARNING: "\x1b[33m", Severity.NOTE: "\x1b[36m"}


def by_place(findings: Iterable[Finding], folder: str = "") -> list[Finding]:
    """The findings for people: those without a place, then file by file in natural order, line by line. The name of a
    temporary `folder` does not count: the order would be another one on another machine."""

    def key(one: Finding) -> tuple[object, ...]:
        place = one.location or Location("")
        return (natural_key(place.file.removeprefix(folder)), place.line, place.column, one.sort_key)

    return sorted(findings, key=key)


def painted(text: str, severity: Severity, color: bool) -> str:
    """The text in the colour of a severity, or unchanged."""
    return f"{_ANSI[severity]}{text}\x1b[0m" if color else text


def places(finding: Finding) -> str:
    """' (12 places)' where the same defect occurs more than once."""
    return f" ({finding.count} places)" if finding.count > 1 else ""


def sentence(finding: Finding) -> str:
    """The message, the number of places, and the hint, in one text."""
    text = finding.message + places(finding)
    return f"{text}\nhelp: {finding.hint}" if finding.hint else text


def from_here(file: str) -> str:
    """The name of a file for CI: relative to the working directory if it is below it, else absolute."""
    path, here = Path(os.path.normpath(Path.cwd() / file)), Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


def place_from_here(place: Location | None) -> str:
    """file:line:column, or "" without a place."""
    return str(Location(from_here(place.file), place.line, place.column)) if place else ""
