"""The texts of a table by type: equal texts of a column are judged once, by calls for all of them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress, repeat
from typing import Any

from fabricgen.sonic.schema.tables import RowSchema, TableSchema
from fabricgen.sonic.schema.types import Judge

Column = tuple[Judge, Sequence[Any]]
_MOST_SHAPES = 16  # sets of fields of one kind of row; a table with more is read row by row


def columns(schema: TableSchema, rows: Mapping[str, Any]) -> list[Column] | None:
    """(type, values) of each part of the keys and of each field, if these alone decide whether the rows are valid.

    None if a row has to be read as a whole: a key or a set of fields is wrong, a field is a list or depends on another.
    """
    if schema.by_name and rows:
        return None
    found: list[Column] = []
    bars = [*map(str.count, rows, repeat("|"))]
    for count in dict.fromkeys(bars):
        kind = schema.by_key_length.get(count + 1)
        if kind is None or len(kind.keys) != count + 1:
            return None
        is_own = [*map(count.__eq__, bars)]
        keys = [*compress(rows, is_own)]
        parts: Iterator[Any] = zip(*[key.split("|") for key in keys], strict=True) if count else iter([keys])
        found += zip((judge for _, judge in kind.keys), parts, strict=True)
        fields = _fields(kind, [*compress(rows.values(), is_own)])
        if fields is None:
            return None
        found += fields
    return found


def _fields(kind: RowSchema, rows: Sequence[Any]) -> list[Column] | None:
    """(type, values) of each field of rows of one kind."""
    if {*map(type, rows)} != {dict}:
        return None
    shapes = [*map(tuple, rows)]
    distinct = dict.fromkeys(shapes)
    if len(distinct) > _MOST_SHAPES:
        return None
    found: list[Iterator[Column]] = []
    for names in distinct:
        judges = kind.judges_of(names)
        if judges is None:
            return None
        own = compress(rows, map(names.__eq__, shapes)) if len(distinct) > 1 else rows
        found.append(zip(judges, zip(*map(dict.values, own), strict=True), strict=True))
    return [*chain.from_iterable(found)]
