"""`Finding`, the only diagnostic type: every room reports findings, and every output format prints them."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from fabricgen.suppressions import Suppression


class Severity(enum.StrEnum):
    """The severity of a finding, the highest first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for error, 2 for note."""
        return list(Severity).index(self)


class Confidence(enum.StrEnum):
    """Whether the files prove a finding, make it possible, or a run observed it."""

    PROVED = "proved"
    POSSIBLE = "possible"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file. Lines and columns count from 1; 0 stands for the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A table, row or field of a switch's config_db.json, which may be missing there.

    In a file of a subnet manager or of hosts, `table` is the file and `key` the option, GUID or setting. A key that is
    a secret is masked.
    """

    table: str
    key: str = ""
    field: str = ""

    def __str__(self) -> str:
        return "|".join(step for step in (self.table, self.key, self.field) if step)


@dataclass(frozen=True, slots=True)
class Related:
    """Another location of a finding: the far end of a cable, the definition of a profile, a hop of a cycle.

    `device` and `place` are the row there, if that row may be the cause of the finding.
    """

    message: str
    location: Location
    device: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic.

    `place` is the row or field of a device's file, and `path` is then its text, TABLE|key|field. A finding about an
    inventory has no place; its `path` is the dotted path of the value. `count` is the number of places with the same
    defect; the finding is located at the first of them, and `devices` are all devices with it if there are several.
    `causes` are the inventory values from which the place is rendered, as file#dotted.path. `twin` numbers
    findings of one code at one place. `caused_by` are the fingerprints of the findings that explain this one.
    """

    code: str
    severity: Severity
    message: str
    device: str = ""
    path: str = ""
    location: Location | None = None
    related: tuple[Related, ...] = ()
    hint: str = ""
    confidence: Confidence = Confidence.PROVED
    count: int = 1
    devices: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    suppression: Suppression | None = None
    twin: int = 0
    place: Place | None = None
    caused_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.place is not None:
            object.__setattr__(self, "path", str(self.place))

    @property
    def fingerprint(self) -> str:
        """A hash of the code, the first device, the path, and the file name of findings without a device.

        It does not change with line numbers, wording, or more devices with the same defect.
        """
        import hashlib  # loads OpenSSL, which `--help` does not need

        file = PurePath(self.location.file).name if self.location and not self.device else ""
        parts = [self.code, self.device, self.path, file, *([str(self.twin)] if self.twin else [])]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    @property
    def sort_key(self) -> tuple[int, str, str, Location, str, str]:
        """Errors first, then by code and place."""
        where = self.location or Location("")
        return (self.severity.rank, self.code, self.device, where, self.path, self.message)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings without duplicates, errors first. The order does not depend on the order of the input."""
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.sort_key)


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether any finding is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
