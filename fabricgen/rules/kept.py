"""Defects of rules as values of an engine: a rule is checked again if something that it has read has changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from fabricgen.bundle.inputs import InputBundle
from fabricgen.bundle.read import ObservedDevice
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Rule, subject_of
from fabricgen.rules.view.fabric import Fabric, LayoutLookup
from fabricgen.rules.view.shape import Shapes, well_shaped

Row = Mapping[str, Any]  # a defect


class KeptRules:
    """Defects of rules on a bundle and on what it becomes. Rules of other packages are checked each time."""

    def __init__(self, bundle: InputBundle, lookup: LayoutLookup) -> None:
        self._bundle = bundle
        self._fabric = Fabric(bundle.seen, lookup, has_plain_rows=True)

    def prepare(self, view: Callable[[], Fabric], _rules: Sequence[Rule]) -> Callable[[Rule], Iterable[Defect]]:
        """The defects of each rule. The `view` is judged where they cannot be kept."""
        return lambda rule: self._defects(rule, view)

    def _defects(self, rule: Rule, view: Callable[[], Fabric]) -> Iterable[Defect]:
        if not subject_of(rule):
            return rule.check(view())
        rows = self._bundle.engine.value(partial(_rows, rule, self._fabric), rule.code)
        return rule.check(view()) if rows is None else _defects(rows, self._bundle.now.devices)


def have_plain_rows(devices: Iterable[ObservedDevice]) -> bool:
    """Whether each table has the shape that rules rely on: of others the view has copies, which no engine records."""
    shapes: Shapes = {}
    return all(well_shaped(one, shapes) is one for one in devices)


def _rows(rule: Rule, fabric: Fabric) -> list[Row] | None:
    """The defects of a rule; None if one is in another file than those of switches."""
    found = [_row(defect) for defect in rule.check(fabric)]
    rows = [row for row in found if row is not None]
    return rows if len(rows) == len(found) else None


def _row(defect: Defect) -> Row | None:
    places = [_path(place) for place in (defect.place, *(place for _, place in defect.related))]
    if None in places:
        return None
    return {
        "place": places[0],
        "message": defect.message,
        "hint": defect.hint,
        "related": [(text, path) for (text, _), path in zip(defect.related, places[1:], strict=True)],
        "severity": defect.severity,
        "count": defect.count,
    }


def _path(place: object) -> tuple[str, ...] | None:
    if isinstance(place, Place) and isinstance(place.device, ObservedDevice):
        return place.device.name, place.table, place.key, place.field
    return None


def _defects(rows: Iterable[Row], devices: Mapping[str, ObservedDevice]) -> list[Defect]:
    """The defects of rows, at places of `devices`."""

    def place(path: tuple[str, ...]) -> Place:
        return Place(devices[path[0]], *path[1:])

    return [
        Defect(
            place(row["place"]),
            row["message"],
            row["hint"],
            tuple((text, place(path)) for text, path in row["related"]),
            Severity(row["severity"]) if row["severity"] else None,
            row["count"],
        )
        for row in rows
    ]
