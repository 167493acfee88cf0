"""Objects of many rows of a JSON file, made a column at a time.

Files have hundreds of thousands of rows. The values of a column are checked and shared by calls for all of them, which
takes a third of the time of calls for each.
"""

import types
import typing
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import chain, islice, repeat
from math import isfinite
from typing import Any, TypeVar

from fabricgen.vocabulary import Word

T = TypeVar("T")


class OtherRowsError(Exception):
    """Rows that have to be read one by one: their keys differ, or a value is not of its type."""


class Columns:
    """Makes objects of dataclasses. Equal texts in all of them are one object: each name is in several."""

    def __init__(self) -> None:
        self._one: dict[str, str] = {}

    def items(self, kind: type[T], rows: Sequence[Any]) -> list[T]:
        """The objects of rows with the fields of a dataclass; JSON lists become tuples. Raises OtherRowsError."""
        if {*map(type, rows)} != {dict} or len({*map(tuple, rows)}) != 1:
            raise OtherRowsError
        given = dict(zip(rows[0], zip(*map(dict.values, rows), strict=True), strict=True))
        columns: list[Iterable[Any]] = []
        for name, hint, default in _fields(kind):  # type: ignore[arg-type]  # mypy does not see that classes are hashable
            column = given.pop(name, None)
            if column is None and default is MISSING:
                raise OtherRowsError
            columns.append(repeat(default, len(rows)) if column is None else self._column(hint, column))
        if given:
            raise OtherRowsError
        return _made(kind, len(rows), columns)

    def _column(self, hint: Any, values: Sequence[Any]) -> Iterable[Any]:
        """The values as fields of this type."""
        found = {*map(type, values)}
        if typing.get_origin(hint) is tuple:
            return self._tuples(typing.get_args(hint), values, found)
        if is_dataclass(hint):
            return self.items(hint, values) if values else ()  # type: ignore[arg-type]  # of a class, not of an object
        is_word = isinstance(hint, type) and issubclass(hint, Word)
        if not found <= _classes(str if is_word else hint) or (float in found and not all(map(isfinite, values))):
            raise OtherRowsError
        if is_word:
            words = {text: hint.read(text) for text in {*values}}
            return map(words.__getitem__, values)
        return map(self._one.setdefault, values, values) if hint is str else values

    def _tuples(self, inner: tuple[Any, ...], values: Sequence[Any], found: set[type]) -> Iterable[tuple[Any, ...]]:
        """A tuple for each list: of items of one type, or as many as `inner` has."""
        item, *others = inner
        if found - {list} or {*others} - {item, Ellipsis}:
            raise OtherRowsError
        counts = [*map(len, values)]
        distinct = {*counts}
        if Ellipsis not in inner and distinct - {len(inner)}:
            raise OtherRowsError
        items = iter(self._column(item, [*chain.from_iterable(values)]))
        if len(distinct) == 1 and counts[0]:
            return zip(*[items] * counts[0], strict=True)
        return [tuple(islice(items, count)) for count in counts]


def _made(kind: type[T], count: int, columns: Sequence[Iterable[Any]]) -> list[T]:
    """Objects with these values, field by field: half the time of the constructor of a frozen dataclass."""
    found: list[T] = list(map(object.__new__, repeat(kind, count)))
    for (name, _, _), column in zip(_fields(kind), columns, strict=True):  # type: ignore[arg-type]  # as above
        deque(map(getattr(kind, name).__set__, found, column), maxlen=0)
    return found


@cache
def _fields(kind: Any) -> list[tuple[str, Any, Any]]:
    """(name, type, default) of each field; MISSING without a default."""
    hints = typing.get_type_hints(kind)
    return [(field.name, hints[field.name], field.default) for field in fields(kind)]


@cache
def _classes(hint: Any) -> frozenset[type]:
    """The classes of values of a type, as JSON has them. No class for a type that is not plain."""
    if isinstance(hint, types.UnionType):
        return frozenset(chain.from_iterable(map(_classes, typing.get_args(hint))))
    if hint is float:
        return frozenset({int, float})
    return frozenset({hint} & {str, int, bool, type(None)})
