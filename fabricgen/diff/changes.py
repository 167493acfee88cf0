"""The differences between two configurations of one switch: added and removed rows; added, removed and changed fields.

The Ansible role contains this module: only the standard library and relative imports.
"""

import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..sonic.canonical import natural_key, redis_field
from ..sonic.tables import ConfigDb, Row, stored
from ..sonic.updater.verdicts import Updater, UpdateVerdict


class Op(enum.StrEnum):
    """The operations of RFC 6902 that a patch contains."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One difference. A change of a row (`field` None) is an add or a remove with all fields of the row; a field with
    another value is a replace. `old` is None for an add, `new` is None for a remove."""

    op: Op
    table: str
    key: str
    field: str | None
    old: Any
    new: Any
    verdict: UpdateVerdict

    @property
    def effect(self) -> tuple[object, ...]:
        """Equal for changes that have the same effect on a row, in any switch."""
        return (self.field, *self.values)

    @property
    def values(self) -> tuple[object, ...]:
        """Equal for fields of a table that change from the same value to the same value."""
        return (self.op, self.table, _frozen(self.old), _frozen(self.new), self.verdict.cost)

    @property
    def order(self) -> tuple[object, ...]:
        """Tables and rows as `config save` orders them, then the row itself before its fields."""
        field = b"" if self.field is None else redis_field(self.field, self.new if self.old is None else self.old)
        return (natural_key(self.table), natural_key(self.key), field)


def changes(old: ConfigDb, new: ConfigDb, release: int | None = None) -> list[Change]:
    """All differences, in order, with the verdicts of a release (see Updater).

    Raises TypeError when a table or a row is not a JSON object.
    """
    updater = Updater(old, new, release)
    found = [change for table in old.keys() | new.keys() for change in _in_table(table, old, new, updater)]
    found.sort(key=lambda change: change.order)
    return found


def _in_table(table: str, old: ConfigDb, new: ConfigDb, updater: Updater) -> Iterator[Change]:
    before, after = old.get(table, {}), new.get(table, {})
    if before is after:
        return
    for rows in (before, after):
        if not isinstance(rows, dict):
            raise TypeError(f"{table} is not a table of rows")

    def change(op: Op, key: str, field: str | None, was: Any, becomes: Any) -> Change:
        verdict = updater.verdict(op, table, key, field, was if op is Op.REMOVE else becomes)
        return Change(op, table, key, field, was, becomes, verdict)

    for key in before.keys() | after.keys():
        was, becomes = before.get(key), after.get(key)
        if was == becomes:
            continue
        for row in (was, becomes):
            if row is not None and not isinstance(row, dict):
                raise TypeError(f"{table}|{key} is not a row of fields")
        if was is None:
            yield change(Op.ADD, key, None, None, becomes)
        elif becomes is None:
            yield change(Op.REMOVE, key, None, was, None)
        else:
            for op, field in _fields(was, becomes):
                yield change(op, key, field, was.get(field), becomes.get(field))


def _fields(was: Row, becomes: Row) -> Iterator[tuple[Op, str]]:
    for field in was.keys() | becomes.keys():
        if field not in becomes:
            yield Op.REMOVE, field
        elif field not in was:
            yield Op.ADD, field
        elif was[field] != becomes[field] and stored(was[field]) != stored(becomes[field]):
            yield Op.REPLACE, field


def _frozen(value: Any) -> object:
    return value if value is None or isinstance(value, str) else json.dumps(value, sort_keys=True)
