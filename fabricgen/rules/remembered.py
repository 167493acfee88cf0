"""Rules whose findings are remembered, rule by rule, for bundles in which all that the rule read is the same.

The rules judge one recorded fabric (`fabricgen.cache.recorded`). What they derive from it is kept with the names of
what it was derived from, so each rule that uses it depends on these, too, and no rule declares anything.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from fabricgen.cache import Store
from fabricgen.cache.readings import Readings
from fabricgen.cache.recorded import Recordable
from fabricgen.rules.defects import Defect
from fabricgen.rules.recorded import Row, defects_of, recorded_fabric, rows_of
from fabricgen.rules.rule import Rule, subject_of
from fabricgen.rules.view.fabric import Fabric, LayoutLookup

_MOST = 8  # results of one rule that are kept


@dataclass(frozen=True)
class RememberedRules:
    """Defects of rules, from the store where they are known.

    `about` is what the rules depend on beside the bundle: the platforms. Rules of other packages are not remembered.
    """

    store: Store
    bundle: Recordable
    lookup: LayoutLookup
    about: bytes
    _subjects: dict[str, "_Subject"] = field(default_factory=dict)
    _readings: Readings = field(default_factory=Readings)

    def prepare(self, view: Callable[[], Fabric], _rules: Sequence[Rule]) -> Callable[[Rule], Iterable[Defect]]:
        """The defects of each rule. The `view` is judged where they cannot be remembered."""
        return lambda rule: self._defects(rule, view)

    def finish(self) -> None:
        """Store what was found now."""
        for subject in self._subjects.values():
            subject.write()

    def _defects(self, rule: Rule, view: Callable[[], Fabric]) -> Iterable[Defect]:
        if not (name := subject_of(rule)):
            return rule.check(view())
        if name not in self._subjects:
            self._subjects[name] = _Subject(self.store, orjson.dumps([name, self.about.hex()]))
        subject = self._subjects[name]
        rows = subject.found(rule.code, self.bundle)
        if rows is None:
            if self._recorded is None:
                return rule.check(view())
            self._readings.restart()
            rows = rows_of(rule, self._recorded)
            if rows is None:
                return rule.check(view())
            if self._readings.is_complete:
                subject.keep(rule.code, self.bundle, self._readings.all_names, rows)
        return defects_of(rows, self.bundle.bundle.devices)

    @cached_property
    def _recorded(self) -> Fabric | None:
        return recorded_fabric(self.bundle.recorded(self._readings), self.lookup, self._readings)


class _Subject:
    """The results of the rules of one subject: code -> [names, digest of what has them, defects], the newest first."""

    def __init__(self, store: Store, about: bytes) -> None:
        self._store, self._about = store, about
        content = store.get("rules", about)
        self._known: dict[str, list[list[Any]]] = orjson.loads(content) if content else {}
        self._is_new = False

    def found(self, code: str, bundle: Recordable) -> list[Row] | None:
        """The defects of a rule whose readings have the digest that they had; None if no such result is known."""
        entries = self._known.get(code, ())
        for names in _distinct(names for names, _, _ in entries):
            digest = bundle.digest(names).hex()
            for entry in entries:
                if entry[0] == names and entry[1] == digest:
                    rows: list[Row] = entry[2]
                    return rows
        return None

    def keep(self, code: str, bundle: Recordable, names: list[str], rows: list[Row]) -> None:
        """Add a result."""
        entry = [names, bundle.digest(names).hex(), rows]
        self._known[code] = [entry, *self._known.get(code, ())][:_MOST]
        self._is_new = True

    def write(self) -> None:
        """Store them, if one is new."""
        if self._is_new:
            self._store.put("rules", self._about, orjson.dumps(self._known))
            self._is_new = False


def _distinct(sets: Iterable[list[str]]) -> Iterator[list[str]]:
    seen: list[list[str]] = []
    for names in sets:
        if names not in seen:
            seen.append(names)
            yield names
