"""The errors of libyang for a config_db.json, each at its table, key and field.

libyang stops at its first error. The row or field of the error is removed, and the rest is checked again until no error
is left. A later error that the removal may have caused is not reported: a reference to a removed row, or a rule about a
removed field.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from typing import Any

from fabricgen.sonic.schema import Violation, ViolationKind
from fabricgen.sonic.tables import split_key
from fabricgen.sonic.yang.models import Models, Refusal
from fabricgen.sonic.yang.translate import YangRow, translate

_MOST_CHECKS = 200
_LINE = re.compile(r"line number (\d+)")
_DATA = re.compile(r'Data location "(.*?)"(?:, line number|\.$|$)', re.DOTALL)
_SCHEMA = re.compile(r'Schema location "(.*?)"')
_STEP = re.compile(r"""/(?:[\w.-]+:)?([\w.-]+)((?:\[[^=\]]+=(?:'[^']*'|"[^"]*")\])*)""")
_KEY = re.compile(r"""\[(?:[\w.-]+:)?([\w.-]+)=(?:'([^']*)'|"([^"]*)")\]""")
_REFERENCE = re.compile(r'Invalid (leafref|union) value "(.*?)" - no (?:target instance "([^"]*)")?', re.DOTALL)


def check(models: Models, config: Mapping[str, Any]) -> list[Violation]:
    """Everything in a parsed config_db.json that the models refuse, without tables that have no model.

    Accepts any JSON object and never raises. Messages are those of libyang.
    """
    rows, found = translate(models, config)
    inquiry = _Inquiry(rows)
    inquiry.gone.update((one.table, part) for one in found if not one.field for part in split_key(one.key))
    inquiry.cut.update((one.table, one.key) for one in found)
    for _ in range(_MOST_CHECKS):
        refusal = models.refusal(inquiry.xml())
        if refusal is None:
            return found + inquiry.found
        if not inquiry.settle(refusal):
            return [*found, *inquiry.found, Violation(ViolationKind.YANG, "", "", "", refusal.message)]
    more = f"libyang still finds errors after {_MOST_CHECKS} checks; correct the reported errors first"
    return [*found, *inquiry.found, Violation(ViolationKind.YANG, "", "", "", more)]


@dataclass
class _Inquiry:
    """The remaining rows and the errors so far.

    `gone` contains (table, part of the key) of removed rows, `cut` (table, key) of rows with a removed field.
    """

    rows: list[YangRow]
    gone: set[tuple[str, str]] = field(default_factory=set)
    found: list[Violation] = field(default_factory=list)
    cut: set[tuple[str, str]] = field(default_factory=set)

    def xml(self) -> str:
        """The rows as YANG data with one element in each line, so that a line number is a place."""
        return "\n".join(text for _, _, text in self._lines())

    def _lines(self) -> Iterator[tuple[YangRow | None, str, str]]:
        modules: dict[str, dict[str, list[YangRow]]] = {}
        for row in self.rows:
            modules.setdefault(row.table.module, {}).setdefault(row.table.name, []).append(row)
        for module, tables in modules.items():
            namespace = next(iter(tables.values()))[0].table.namespace
            yield None, "", f"<{module} xmlns='{escape(namespace)}'>"
            for table, rows in tables.items():
                yield None, "", f"<{table}>"
                for row in rows:
                    yield from ((row, name, text) for name, text in row.lines())
                yield None, "", f"</{table}>"
            yield None, "", f"</{module}>"

    def settle(self, refusal: Refusal) -> bool:
        """Report an error and remove its row or field. Returns False when the error has no place in the data."""
        about, name = self._place(refusal)
        if not about:
            return False
        if len(about) > 1:  # only the table is known
            self.found.append(Violation(ViolationKind.YANG, about[0].table.name, "", "", refusal.message))
            for row in about:
                self._remove(row, "")
            return True
        reference = _REFERENCE.match(refusal.message)
        if reference:
            self._settle_reference(refusal.message, about[0], name, reference)
            return True
        is_value = bool(_LINE.search(refusal.path))
        for row in self._with_same_value(about[0], name) if is_value else about:
            if is_value or not self._may_follow(row):
                self._report(row, name, refusal.message)
            self._remove(row, name)
        return True

    def _settle_reference(self, message: str, row: YangRow, name: str, reference: re.Match[str]) -> None:
        """Report all rows with the same reference, and all rows of this kind that refer to missing rows."""
        kind, value, target = reference.groups()
        rows = dict.fromkeys(self._with_same_value(row, name))
        table = leaf = ""
        known: set[str] = set()
        steps = [step[1] for step in _STEP.finditer(target or "")]
        if kind == "leafref" and len(steps) == 4:  # module, table, list, leaf; else a path from the row itself
            _, table, _, leaf = steps
        by_name = bool(table) and not row.model.entry  # the reference of a map entry is in its key or in its value
        if by_name:
            known = {text for one in self.rows if one.table.name == table for text in one.texts(leaf)}
            same_kind = (one for one in self.rows if one.model is row.model)
            rows |= dict.fromkeys(one for one in same_kind if not known.issuperset(one.texts(name)))
        for one in rows:
            wrong = [text for text in one.texts(name) if by_name and text not in known] or [value]
            tables = {place for place, part in self.gone if part in wrong}
            if not (table in tables if table else tables - {one.table.name}):
                self._report(one, name, f"no row of {table} has the {leaf} {wrong[0]!r}" if table else message)
        for one in rows:
            self._remove(one, name)

    def _with_same_value(self, like: YangRow, name: str) -> list[YangRow]:
        """The rows of one kind with the same value in this field, which have the same error."""
        texts = like.texts(name)
        return [row for row in self.rows if row.model is like.model and row.texts(name) == texts] if texts else [like]

    def _may_follow(self, row: YangRow) -> bool:
        """Whether a removed row or field may be the reason for an error in this row."""
        return (row.table.name, row.key) in self.cut or split_key(row.key)[0] in {part for _, part in self.gone}

    def _report(self, row: YangRow, name: str, message: str) -> None:
        known = "" if name in row.key_leaves else name
        self.found.append(
            Violation(ViolationKind.YANG, row.table.name, row.key, known, message, f"see {row.table.module}.yang")
        )

    def _remove(self, row: YangRow, name: str) -> None:
        if name in row.fields:
            del row.fields[name]
            self.cut.add((row.table.name, row.key))
        else:
            self.rows.remove(row)
            self.gone.update((row.table.name, part) for part in split_key(row.key))

    def _place(self, refusal: Refusal) -> tuple[list[YangRow], str]:
        """The row (all rows of the table if only the table is known) and the field or leaf of the key."""
        if line := _LINE.search(refusal.path):
            row, name = self._at_line(int(line[1]))
            if row is not None:
                return [row], name
        if data := _DATA.search(refusal.path):
            return self._at([(step[1], step[2]) for step in _STEP.finditer(data[1])][1:])
        if schema := _SCHEMA.search(refusal.path):
            return self._without_field([step[1] for step in _STEP.finditer(schema[1])][1:])
        return [], ""

    def _without_field(self, steps: list[str]) -> tuple[list[YangRow], str]:
        """The first row without a field, by a path of the schema: steps from the table on."""
        rows = [row for row in self.rows if row.table.name in steps[:1]]
        if len(steps) < 3:
            return rows, ""
        rows = [row for row in rows if row.model.element == steps[1]] or rows
        return next(([row] for row in rows if steps[-1] not in row.fields), rows), steps[-1]

    def _at_line(self, number: int) -> tuple[YangRow | None, str]:
        """The row and field of a line; the row before it, where libyang reports a duplicate row at the next line."""
        before: tuple[YangRow | None, str] = (None, "")
        for row, name, _ in islice(self._lines(), number):
            before = (row, name) if row else (before[0], "")
        return before

    def _at(self, steps: list[tuple[str, str]]) -> tuple[list[YangRow], str]:
        """Rows and field of a data path: steps of (element, predicates) from the table on."""
        rows = [row for row in self.rows if steps and row.table.name == steps[0][0]]
        if len(steps) < 2:
            return rows, ""
        element, keys = steps[1]
        wanted = {key[1]: key[2] or key[3] or "" for key in _KEY.finditer(keys)}
        exact = [row for row in rows if row.model.element == element and wanted.items() <= row.key_leaves.items()]
        rows = exact or rows
        if len(steps) < 3:
            return rows, ""
        entry = _KEY.search(steps[2][1])  # of a map, the entry's key is the field
        return rows, (entry[2] or entry[3] or "") if entry and rows and rows[0].model.entry else steps[2][0]
