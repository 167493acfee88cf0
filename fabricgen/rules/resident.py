"""Rules of a process that judges again and again: a rule is checked again if something that it read has changed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fabricgen.cache.resident import ResidentBundle
from fabricgen.rules.defects import Defect
from fabricgen.rules.recorded import defects_of, rows_of
from fabricgen.rules.rule import Rule, subject_of
from fabricgen.rules.view.fabric import Fabric


@dataclass(frozen=True, slots=True)
class ResidentRules:
    """Defects of rules on the recorded `fabric`, which are kept. Rules of other packages are checked each time."""

    bundle: ResidentBundle
    fabric: Fabric
    _found: dict[str, Any] = field(default_factory=dict)  # code -> rows

    def prepare(self, view: Callable[[], Fabric], _rules: Sequence[Rule]) -> Callable[[Rule], Iterable[Defect]]:
        """The defects of each rule. The `view` is judged where they cannot be kept."""
        self.fabric.bundle = self.bundle.recorded
        return lambda rule: self._defects(rule, view)

    def _defects(self, rule: Rule, view: Callable[[], Fabric]) -> Iterable[Defect]:
        if not subject_of(rule):
            return rule.check(view())
        rows = self.bundle.readings.kept(self._found, rule.code, partial(rows_of, rule, self.fabric))
        return rule.check(view()) if rows is None else defects_of(rows, self.bundle.bundle.devices)
