"""What differs between two configurations of one switch: rows that come or go, fields that come, go or change.

The Ansible role carries this module to the switches: standard library only.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fabricgen.sonic.canonical import natural_key, redis_field
from fabricgen.sonic.tables import ConfigDb, Row
from fabricgen.sonic.updater import Updater, Verdict


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One difference. A change of a row (`field` None) is an add or a remove, and holds all its fields; a field whose
    value differs is a replace. `old` and `new` are None where there is nothing."""

    op: str  # add | remove | replace
    table: str
    key: str
    field: str | None
    old: Any
    new: Any
    verdict: Verdict

    @property
    def effect(self) -> tuple[object, ...]:
        """Equal for changes that do the same to a row, wherever that is."""
        return (self.field, *self.values)

    @property
    def values(self) -> tuple[object, ...]:
        """Equal for fields of a table that change from the same to the same."""
        return (self.op, self.table, _frozen(self.old), _frozen(self.new), self.verdict.cost)

    @property
    def order(self) -> tuple[object, ...]:
        """Tables and rows as `config save` orders them, then the row itself before its fields."""
        field = b"" if self.field is None else redis_field(self.field, self.new if self.old is None else self.old)
        return (natural_key(self.table), natural_key(self.key), field)


def changes(old: ConfigDb, new: ConfigDb) -> list[Change]:
    """All that differs, in order. Raises TypeError where a table or a row is no JSON object."""
    updater = Updater(old, new)
    found = [change for table in old.keys() | new.keys() for change in _in_table(table, old, new, updater)]
    found.sort(key=lambda change: change.order)
    return found


def _in_table(table: str, old: ConfigDb, new: ConfigDb, updater: Updater) -> Iterator[Change]:
    before, after = old.get(table, {}), new.get(table, {})
    if before is after:
        return
    for rows in (before, after):
        if not isinstance(rows, dict):
            raise TypeError(f"{table} is no table of rows")

    def change(op: str, key: str, field: str | None, was: Any, becomes: Any) -> Change:
        verdict = updater.verdict(op, table, key, field, was if op == "remove" else becomes)
        return Change(op, table, key, field, was, becomes, verdict)

    for key in before.keys() | after.keys():
        was, becomes = before.get(key), after.get(key)
        if was == becomes:
            continue
        for row in (was, becomes):
            if row is not None and not isinstance(row, dict):
                raise TypeError(f"{table}|{key} is no row of fields")
        if was is None:
            yield change("add", key, None, None, becomes)
        elif becomes is None:
            yield change("remove", key, None, was, None)
        else:
            for op, field in _fields(was, becomes):
                yield change(op, key, field, was.get(field), becomes.get(field))


def _fields(was: Row, becomes: Row) -> Iterator[tuple[str, str]]:
    for field in was.keys() | becomes.keys():
        if field not in becomes:
            yield "remove", field
        elif field not in was:
            yield "add", field
        elif was[field] != becomes[field]:
            yield "replace", field


def _frozen(value: Any) -> object:
    return value if value is None or isinstance(value, str) else json.dumps(value, sort_keys=True)
