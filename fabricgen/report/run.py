"""One run of a judging verb, as the formats for machines need it, and what they share."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fabricgen.findings import Finding, Location, Severity
from fabricgen.report.concise import places
from fabricgen.report.summary import Counts


@dataclass(frozen=True)
class Run:
    """`codes` are those of the rules that were asked, `threshold` is the least severity that counts as a failure, `own`
    are the verb's JSON keys."""

    version: str
    verb: str
    findings: Sequence[Finding]
    suppressed: Sequence[Finding] = ()
    counts: Counts = field(default_factory=Counts)
    codes: Collection[str] = ()
    threshold: Severity = Severity.ERROR
    exit_code: int = 0
    own: Mapping[str, object] = field(default_factory=dict)

    @property
    def all_codes(self) -> list[str]:
        """Codes of all rules that were asked and of all findings, in order."""
        return sorted({*self.codes, *(one.code for one in (*self.findings, *self.suppressed))})

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is at least as severe as the threshold."""
        return finding.severity.rank <= self.threshold.rank


def from_here(file: str) -> str:
    """A file as CI wants it named: relative to the working directory where it lies below it, else absolute."""
    path, here = Path(os.path.normpath(Path.cwd() / file)), Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


def place_from_here(place: Location | None) -> str:
    """file:line:column, or "" for no place."""
    return str(Location(from_here(place.file), place.line, place.column)) if place else ""


def sentence(finding: Finding) -> str:
    """The message, at how many places, and what to do, in one text."""
    told = finding.message + places(finding)
    return f"{told}\nhelp: {finding.hint}" if finding.hint else told
