"""What a rule yields: a defect at a place in a file. Lines and columns are computed only for reported findings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from fabricgen.bundle.read import ObservedDevice
from fabricgen.findings import Confidence, Finding, Location, Related, Severity
from fabricgen.findings import Place as FindingPlace
from fabricgen.observed.subnet_files import SubnetFiles
from fabricgen.sonic.secrets import shown_key
from fabricgen.suppressions import Suppression

# Fields that name a row of another table.
_REFERS_TO = {
    "profile": "BUFFER_PROFILE",
    "pool": "BUFFER_POOL",
    "scheduler": "SCHEDULER",
    "wred_profile": "WRED_PROFILE",
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}


class Judged(Protocol):
    """What rules judge: a switch, or a group of hosts. For hosts, a file is the table and a setting is the key."""

    @property
    def name(self) -> str:
        """The name in findings."""

    def locate(self, *path: str) -> Location:
        """The location of a table, key and field, or of the deepest of them that exists."""


@dataclass(frozen=True, slots=True)
class Place:
    """A row or a field of one device's config_db.json, present or missing."""

    device: Judged
    table: str
    key: str = ""
    field: str = ""

    @property
    def shown(self) -> FindingPlace:
        """The place as findings report it; a key that is a secret is masked."""
        return FindingPlace(self.table, shown_key(self.table, self.key), self.field)

    @property
    def location(self) -> Location:
        """Line and column of the place, or of the deepest part of it that exists."""
        return self.device.locate(*(part for part in (self.table, self.key, self.field) if part))


@dataclass(frozen=True, slots=True)
class LinePlace(Place):
    """A line of a file of hosts that does not set the key that it looks to set."""

    line: int = 1

    @property
    def location(self) -> Location:
        """The line."""
        return Location(self.device.locate(self.table).file, self.line, 1)


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A line of a subnet manager's file. `device` is the subnet, `table` the file below the subnet's folder, `key` the
    option, GUID or partition.
    """

    device: SubnetFiles
    table: str
    key: str = ""
    field: str = ""
    line: int = 0
    column: int = 0

    @property
    def shown(self) -> FindingPlace:
        """The place as findings report it."""
        return FindingPlace(self.table, self.key, self.field)

    @property
    def location(self) -> Location:
        """Line and column; 0 for the file as a whole."""
        return Location(str(self.device.folder / self.table), self.line, self.column)


@dataclass(frozen=True, slots=True)
class Defect:
    """One fault. The message does not name the port: the place does. So equal defects of a switch can be grouped."""

    place: Place | FilePlace
    message: str
    hint: str = ""
    related: tuple[tuple[str, Place | FilePlace], ...] = ()
    severity: Severity | None = None  # None: that of the rule
    count: int = 1
    suppression: Suppression | None = None

    def finding(self, code: str, severity: Severity) -> Finding:
        """The located diagnostic."""
        return Finding(
            code=code,
            severity=self.severity or severity,
            message=self.message,
            device=self.place.device.name,
            place=self.place.shown,
            location=self.place.location,
            related=tuple(Related(text, place.location) for text, place in (*self.related, *self._definition())),
            hint=self.hint,
            confidence=Confidence.PROVED,
            count=self.count,
            suppression=self.suppression,
        )

    def _definition(self) -> Iterator[tuple[str, Place]]:
        """The row that the field refers to, unless the rule already shows it."""
        place = self.place
        if isinstance(place, FilePlace) or not isinstance(place.device, ObservedDevice):
            return
        table = _REFERS_TO.get(place.field, "")
        key = place.device.text_of(place.table, place.key, place.field).strip("[]").removeprefix(f"{table}|")
        defined = Place(place.device, table, key)
        shown = any(other.table == table and other.device.name == place.device.name for _, other in self.related)
        if key in place.device.table(table) and not shown:
            yield f"{key} is defined here", defined


def grouped(defects: Iterable[Defect]) -> list[Defect]:
    """Merge equal defects of one table and field of a device into one at the first place, with their count.

    Suppressed defects are counted separately.
    """
    groups: dict[tuple[object, ...], dict[str, Defect]] = {}
    for defect in defects:
        place = defect.place
        kind = (place.device.name, place.table, place.field, defect.message, defect.hint, defect.severity)
        group = groups.setdefault((*kind, defect.suppression), {})
        group.setdefault(place.key, defect)
    return [replace(next(iter(keys.values())), count=len(keys)) for keys in groups.values()]
