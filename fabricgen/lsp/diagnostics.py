"""Findings as diagnostics of the protocol, by file."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.workspace import PositionCodec

from fabricgen import __version__
from fabricgen.api.draft import Draft
from fabricgen.findings import Finding, Location, Severity
from fabricgen.report.pages import page

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\[\]{}]+')

Lines = Callable[[Path], Sequence[str]]  # the lines of a file in the editor


def diagnostics_of(
    draft: Draft, inventory: Path, lines: Lines, codec: PositionCodec
) -> dict[Path, list[types.Diagnostic]]:
    """File -> its diagnostics. A finding without a place is at the beginning of the inventory's first file."""
    found: dict[Path, list[types.Diagnostic]] = {}
    if draft.problem:
        place = draft.problem.location or Location(str(inventory))
        error = types.DiagnosticSeverity.Error
        one = types.Diagnostic(range_of(place, lines, codec), draft.problem.problem, error, source="fabricgen")
        found[Path(place.file)] = [one]
    for finding in draft.findings:
        place = finding.location or Location(str(inventory))
        found.setdefault(Path(place.file), []).append(_diagnostic(finding, place, lines, codec))
    return found


def _diagnostic(finding: Finding, place: Location, lines: Lines, codec: PositionCodec) -> types.Diagnostic:
    url = page(finding.code).url(__version__)
    return types.Diagnostic(
        range=range_of(place, lines, codec),
        message=f"{finding.message}\nhelp: {finding.hint}" if finding.hint else finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(url) if url else None,
        source="fabricgen",
        related_information=[
            types.DiagnosticRelatedInformation(location_of(one.location, lines, codec), one.message)
            for one in finding.related
        ],
    )


def location_of(place: Location, lines: Lines, codec: PositionCodec) -> types.Location:
    """A place of fabricgen, in the units of the client."""
    return types.Location(Path(place.file).absolute().as_uri(), range_of(place, lines, codec))


def range_of(place: Location, lines: Lines, codec: PositionCodec) -> types.Range:
    """The word at a place. A place outside the file, or a whole file, is the beginning of the file."""
    rows = lines(Path(place.file))
    if not 1 <= place.line <= len(rows):
        return types.Range(types.Position(0, 0), types.Position(0, 0))
    row, start = rows[place.line - 1], max(place.column - 1, 0)
    token = _TOKEN.match(row, start)
    end = len(token[0].rstrip(":")) if token else 1
    both = (types.Position(place.line - 1, column) for column in (start, start + end))
    return codec.range_to_client_units(list(rows), types.Range(*both))


def by_uri(found: Mapping[Path, list[types.Diagnostic]]) -> dict[str, list[types.Diagnostic]]:
    """The same with the addresses of the files."""
    return {file.absolute().as_uri(): listed for file, listed in found.items()}
