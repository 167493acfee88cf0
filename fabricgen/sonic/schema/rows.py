"""Access to rows of a file with any content. Values that are not rows or not numbers are left out."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fabricgen.sonic.schema.violations import Violation
from fabricgen.units import whole_number

Config = Mapping[str, Any]
Must = Callable[[Config, str], Iterator[Violation]]


def rows_of(config: Config, table: str, key_length: int | None = None) -> list[tuple[str, dict[str, Any]]]:
    """Keys and rows of a table; with `key_length` only the rows whose key has this number of parts."""
    rows = config.get(table)
    if not isinstance(rows, dict):
        return []
    if key_length is None:
        return [(key, row) for key, row in rows.items() if isinstance(row, dict)]
    bars = key_length - 1
    return [(key, row) for key, row in rows.items() if key.count("|") == bars and isinstance(row, dict)]


def row_of(config: Config, table: str, key: str) -> dict[str, Any]:
    """One row; empty when it is missing."""
    rows = config.get(table)
    row = rows.get(key) if isinstance(rows, dict) else None
    return row if isinstance(row, dict) else {}


def number_of(row: Mapping[str, Any], field: str) -> int | None:
    """A field as a whole number; None when it is missing or not a whole number."""
    return whole_number(row.get(field))
