"""References in the form of old files: [BUFFER_PROFILE|x] where SONiC since 202111 has x.

sonic-swss pull request 1754 changed the daemons, sonic-utilities pull request 1626 (db_migrator) the files of switches
that were upgraded.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

SINCE = 202111  # the release that reads bare names only

_REFERENCE = r"\[[A-Z][A-Z0-9_]*[|:]([^\[\]|,]+)\]"
_OLD = re.compile(rf"{_REFERENCE}(?:,{_REFERENCE})*")
_EACH = re.compile(_REFERENCE)


def bare(value: object) -> str | None:
    """'[BUFFER_PROFILE|x]' to 'x', and a list of such item by item; None for anything else."""
    if not isinstance(value, str) or not value.startswith("[") or not _OLD.fullmatch(value):
        return None
    return ",".join(_EACH.findall(value))


def old_references(config: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """(table, key, field, bare name) of every reference in the old form; what is no row is passed over."""
    for table, rows in config.items():
        for key, row in rows.items() if isinstance(rows, dict) else ():
            for field, value in row.items() if isinstance(row, dict) else ():
                name = bare(value)
                if name is not None:
                    yield table, key, field, name


def with_bare_references(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same tables with today's references; the very same object where there is no old one."""
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
