"""The bytes that `config save` writes on a switch, so that a saved running file diffs clean against a rendered one.

sonic-utilities config/main.py `save`: tables and row keys in natsort's natural order, fields bytewise by their raw
Redis name (a list field carries a trailing '@' there), four blanks, ASCII only, no newline at the end.
"""

import re
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quote

from .tables import ConfigDb, Row

_DIGITS = re.compile(r"(\d+)")


@lru_cache(maxsize=1 << 16)
def natural_key(text: str) -> tuple[tuple[str | int, ...], str]:
    """Sort key of natsort's default: runs of digits as numbers, the rest as text; the text itself breaks ties."""
    parts = _DIGITS.split(text)
    return tuple(int(part) if index % 2 else part for index, part in enumerate(parts)), text


def redis_field(name: str, value: object) -> bytes:
    """The name under which Redis keeps a field: lists carry an '@'."""
    return (f"{name}@" if isinstance(value, list) else name).encode()


def dump_row(row: Row) -> str:
    """One row's JSON at its depth in the file."""
    if not row:
        return "{}"
    lines = []
    for name in sorted(row, key=lambda field: redis_field(field, row[field])):
        value = row[name]
        if isinstance(value, list):
            inner = ",\n".join(f"                {quote(item)}" for item in value)
            lines.append(f"            {quote(name)}: [\n{inner}\n            ]")
        else:
            lines.append(f"            {quote(name)}: {quote(value)}")
    return "{\n" + ",\n".join(lines) + "\n        }"


def dump(config: ConfigDb) -> bytes:
    """A whole config_db.json. Empty tables are left out: Redis cannot hold them.

    Rows that several keys share as one object (as a renderer makes them) are written out once and copied.
    """
    written: dict[int, str] = {}
    tables = []
    for table in sorted(config, key=natural_key):
        rows = config[table]
        lines = []
        for key in sorted(rows, key=natural_key):
            row = rows[key]
            text = written.get(id(row))
            if text is None:
                text = written[id(row)] = dump_row(row)
            lines.append(f"        {quote(key)}: {text}")
        if lines:
            tables.append(f"    {quote(table)}: {{\n" + ",\n".join(lines) + "\n    }")
    if not tables:
        return b"{}"
    return ("{\n" + ",\n".join(tables) + "\n}").encode("ascii")
