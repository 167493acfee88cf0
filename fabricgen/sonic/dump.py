"""The bytes that `config save` writes on a switch, so that a saved running file equals a rendered one.

Source: sonic-utilities config/main.py `save`: canonical order, indentation by four blanks, ASCII, no newline at the
end.
"""

from json.encoder import encode_basestring_ascii as quote

import orjson

from fabricgen.sonic.canonical import natural_key, redis_field
from fabricgen.sonic.tables import ConfigDb, Row


def dump_row(row: Row) -> str:
    """The JSON of one row, indented as in the file."""
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
    """A config_db.json, without empty tables: Redis does not store them."""
    written: dict[bytes, str] = {}  # most rows of a switch are equal to others
    tables = []
    for table in sorted(config, key=natural_key):
        rows = config[table]
        lines = []
        for key in sorted(rows, key=natural_key):
            row = rows[key]
            content = orjson.dumps(row)
            text = written.get(content)
            if text is None:
                text = written[content] = dump_row(row)
            lines.append(f"        {quote(key)}: {text}")
        if lines:
            tables.append(f"    {quote(table)}: {{\n" + ",\n".join(lines) + "\n    }")
    if not tables:
        return b"{}"
    return ("{\n" + ",\n".join(tables) + "\n}").encode("ascii")
