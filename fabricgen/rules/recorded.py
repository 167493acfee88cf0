"""Rules on a recorded fabric: their defects as rows of JSON, and what each rule read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.cache.readings import Readings
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Rule
from fabricgen.rules.view.fabric import Fabric, LayoutLookup

Row = Mapping[str, Any]  # a defect


def recorded_fabric(bundle: Bundle, lookup: LayoutLookup | None, readings: Readings) -> Fabric | None:
    """The view of a recorded bundle; None for rows of another shape, of which the view has copies without a record."""
    fabric = Fabric(bundle, lookup, readings.kept)
    is_as_read = all(fabric.switches[name].device is device for name, device in bundle.devices.items())
    return fabric if is_as_read else None


def rows_of(rule: Rule, fabric: Fabric) -> list[Row] | None:
    """The defects of a rule; None if one is in another file than those of switches."""
    found = [_row(defect) for defect in rule.check(fabric)]
    rows = [row for row in found if row is not None]
    return rows if len(rows) == len(found) else None


def defects_of(rows: Iterable[Row], devices: Mapping[str, ObservedDevice]) -> list[Defect]:
    """The defects of rows, at places of `devices`."""

    def place(raw: Sequence[str]) -> Place:
        name, *path = raw
        return Place(devices[name], *path)

    return [
        Defect(
            place(row["place"]),
            row["message"],
            row["hint"],
            tuple((text, place(raw)) for text, raw in row["related"]),
            Severity(row["severity"]) if row["severity"] else None,
            row["count"],
        )
        for row in rows
    ]


def _row(defect: Defect) -> Row | None:
    places = [_path(place) for place in (defect.place, *(place for _, place in defect.related))]
    if None in places:
        return None
    return {
        "place": places[0],
        "message": defect.message,
        "hint": defect.hint,
        "related": [[text, path] for (text, _), path in zip(defect.related, places[1:], strict=True)],
        "severity": defect.severity,
        "count": defect.count,
    }


def _path(place: object) -> list[str] | None:
    if isinstance(place, Place) and isinstance(place.device, ObservedDevice):
        return [place.device.name, place.table, place.key, place.field]
    return None
