"""Rules whose findings are remembered, subject by subject, for bundles in which all that the subject read is the same.

Each subject judges a fabric that no other one sees (`fabricgen.cache.recorded`), so it cannot read a value that another
subject has read and kept. What it read is complete by construction, and no rule declares anything.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from fabricgen.bundle.read import ObservedDevice
from fabricgen.cache import Store
from fabricgen.cache.recorded import Readings, Recordable
from fabricgen.cache.traces import Judged, remembered
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Rule, subject_of
from fabricgen.rules.view.fabric import Fabric, LayoutLookup

Defects = dict[str, list[Defect]]  # by code


@dataclass(frozen=True, slots=True)
class RememberedRules:
    """Defects of rules, from the store where they are known.

    `about` is what the rules depend on beside the bundle: the platforms. Rules of other packages are not remembered.
    """

    store: Store
    bundle: Recordable
    rules: Sequence[Rule]
    lookup: LayoutLookup
    about: bytes
    _found: dict[str, Defects | None] = field(default_factory=dict)

    def prepare(self, fabric: Fabric, _rules: Sequence[Rule]) -> Callable[[Rule], Iterable[Defect]]:
        """The defects of each rule. `fabric` is judged where they cannot be remembered."""
        return lambda rule: self._defects(rule, fabric)

    def _defects(self, rule: Rule, fabric: Fabric) -> Iterable[Defect]:
        subject = subject_of(rule)
        if subject and subject not in self._found:
            self._found[subject] = self._judge(subject)
        known = self._found.get(subject)
        return rule.check(fabric) if known is None else known[rule.code]

    def _judge(self, subject: str) -> Defects | None:
        """The defects of a subject; None if one is in a file that is not of a switch."""
        rules = [rule for rule in self.rules if subject_of(rule) == subject]
        about = orjson.dumps([subject, [rule.code for rule in rules], self.about.hex()])
        content = remembered(self.store, "rules", about, self.bundle, lambda readings: self._run(rules, readings))
        if content is None:
            return None
        raw = orjson.loads(content)
        return {code: [self._defect(one) for one in defects] for code, defects in raw.items()}

    def _run(self, rules: Sequence[Rule], readings: Readings) -> Judged:
        bundle = self.bundle.recorded(readings)
        fabric = Fabric(bundle, self.lookup)
        readings.forget()
        if any(fabric.switches[name].device is not device for name, device in bundle.devices.items()):
            return None  # rows of another shape: the view has copies, which are not recorded
        found = {}
        for rule in rules:
            rows = [_row(defect) for defect in rule.check(fabric)]
            if None in rows:
                return None
            found[rule.code] = rows
        return orjson.dumps(found)

    def _defect(self, raw: Mapping[str, Any]) -> Defect:
        related = tuple((text, self._place(place)) for text, place in raw["related"])
        severity = Severity(raw["severity"]) if raw["severity"] else None
        return Defect(self._place(raw["place"]), raw["message"], raw["hint"], related, severity, raw["count"])

    def _place(self, raw: Sequence[str]) -> Place:
        name, *path = raw
        return Place(self.bundle.bundle.devices[name], *path)


def _row(defect: Defect) -> dict[str, Any] | None:
    """A defect as JSON; None if it is in another file than those of switches."""
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
