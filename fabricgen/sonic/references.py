"""References in the old form: [BUFFER_PROFILE|x]. SONiC since 202111 writes x.

sonic-swss pull request 1754 changed the daemons. sonic-utilities pull request 1626 (db_migrator) changes the files of
upgraded switches.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

SINCE = 202111  # the first release that reads only bare names

_REFERENCE = r"\[[A-Z][A-Z0-9_]*[|:]([^\[\]|,]+)\]"
_OLD = re.compile(rf"{_REFERENCE}(?:,{_REFERENCE})*")
_EACH = re.compile(_REFERENCE)


def bare(value: object) -> str | None:
    """'x' for '[BUFFER_PROFILE|x]', and 'x,y' for a list of references; None for other values."""
    if not isinstance(value, str) or not value.startswith("[") or not _OLD.fullmatch(value):
        return None
    return ",".join(_EACH.findall(value))


def old_references(config: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """(table, key, field, bare name) of every reference in the old form. Values that are not rows are ignored."""
    for table, rows in config.items():
        for key, row in rows.items() if isinstance(rows, dict) else ():
            for field, value in row.items() if isinstance(row, dict) else ():
                name = bare(value)
                if name is not None:
                    yield table, key, field, name


def with_bare_references(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tables with bare references; the same object when no reference has the old form."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for table, key, field, name in old_references(config):
        found.setdefault(table, {}).setdefault(key, {})[field] = name
    if not found:
        return config
    changed = dict(config)
    for table, rows in found.items():
        changed[table] = {**config[table], **{key: {**config[table][key], **row} for key, row in rows.items()}}
    return changed


def reference_name(value: str) -> str:
    """The name of the row that a field refers to: 'x' for 'x' and for '[BUFFER_PROFILE|x]'."""
    return value.strip("[]").rpartition("|")[2]
