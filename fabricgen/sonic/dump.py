"""The bytes that `config save` writes on a switch, so that a saved running file equals a rendered one.

Source: sonic-utilities config/main.py `save`: canonical order, indentation by four blanks, ASCII, no newline at the
end.
"""

from collections.abc import Iterable
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quote

import orjson

from fabricgen.sonic.canonical import natural_key, redis_field
from fabricgen.sonic.tables import ConfigDb, Row


def dump_row(row: Row) -> str:
    """The JSON of one row, indented as in the file."""
    if not row:
        return "{}"
    lines = []
    lists = tuple([name for name, value in row.items() if isinstance(value, list)])
    for name, begin in _in_order(tuple(row), lists):
        value = row[name]
        if isinstance(value, list):
            inner = ",\n".join(f"                {quote(item)}" for item in value)
            lines.append(f"{begin}[\n{inner}\n            ]")
        else:
            lines.append(begin + quote(value))
    return "{\n" + ",\n".join(lines) + "\n        }"


@lru_cache(maxsize=1 << 12)
def _in_order(names: tuple[str, ...], lists: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The fields of a row in the order of the file, each with the text before its value; those in `lists` have a list.
    Rows have few sets of fields."""
    ordered = sorted(names, key=lambda name: redis_field(name, [] if name in lists else ""))
    return tuple((name, f"            {quote(name)}: ") for name in ordered)


@lru_cache(maxsize=1 << 8)
def _sorted(keys: tuple[str, ...]) -> list[str]:
    """The keys of a table in the order of the file. Most tables have the same keys on many switches."""
    return sorted(keys, key=natural_key)


def dump(config: ConfigDb) -> bytes:
    """A config_db.json, without empty tables: Redis does not store them."""
    tables = {table: _table(orjson.dumps(config[table])) for table in sorted(config, key=natural_key) if config[table]}
    return join_tables(dump_member(table, text) for table, text in tables.items()).encode("ascii")


def dump_member(table: str, text: str) -> str:
    """A table with its name, indented as in the file."""
    return f"    {quote(table)}: {text}"


def dump_line(key: str, row: Row) -> str:
    """A row with its key, indented as in the file."""
    return f"        {quote(key)}: {dump_row(row)}"


def join_rows(lines: Iterable[str]) -> str:
    """A table from its rows in their order."""
    return "{\n" + ",\n".join(lines) + "\n    }"


def join_tables(members: Iterable[str]) -> str:
    """A file from its tables in their order."""
    inner = ",\n".join(members)
    return f"{{\n{inner}\n}}" if inner else "{}"


@lru_cache(maxsize=1 << 8)
def _table(rows: bytes) -> str:
    """The JSON of a table, indented as in the file, from any JSON of its rows. Switches share most tables."""
    table: dict[str, Row] = orjson.loads(rows)
    return join_rows(dump_line(key, table[key]) for key in _sorted(tuple(table)))
