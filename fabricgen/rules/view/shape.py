"""Rows in the shape that rules rely on, for any file. The schema rules report what has another shape."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from fabricgen.bundle.read import ObservedDevice
from fabricgen.same import Same
from fabricgen.sonic.references import with_bare_references
from fabricgen.sonic.tables import Table

_TEXT, _ROW = frozenset([str]), frozenset([dict])
Shapes = dict[Same[object], Table | None]  # table -> its plain form; None if it is not a table


def well_shaped(device: ObservedDevice, known: Shapes) -> ObservedDevice:
    """The device with rows of text only: whole numbers become text, lists are joined by commas, references in the old
    form [TABLE|name] become bare names, and other values are left out.

    Places remain those of the file. A device whose file needs no change is returned unchanged. `known` contains the
    tables of earlier devices, because devices share equal tables.
    """
    config = {}
    for name, table in with_current_references(device).items():
        key = Same(table)
        if key not in known:
            known[key] = table if _is_plain(table) else _plain(table)
        if (plain := known[key]) is not None:
            config[name] = plain
    if len(config) == len(device.config) and all(config[name] is table for name, table in device.config.items()):
        return device
    return device.reshaped(config)


def with_current_references(device: ObservedDevice) -> Mapping[str, Any]:
    """The tables with bare names for references in the old form; the file's own tables if it has none."""
    return with_bare_references(device.config) if device.signs.old_references else device.config


def _is_plain(table: object) -> bool:
    if not isinstance(table, dict):
        return False
    rows = table.values()
    return {*map(type, rows)} <= _ROW and {*map(type, chain.from_iterable(map(dict.values, rows)))} <= _TEXT


def _plain(table: Any) -> Table | None:
    if not isinstance(table, dict):
        return None
    return {key: _plain_row(row) for key, row in table.items() if isinstance(row, dict)}


def _plain_row(row: Mapping[str, object]) -> dict[str, str]:
    plain = {}
    for name, value in row.items():
        if isinstance(value, str):
            plain[name] = value
        elif type(value) is int:  # as SONiC's loader does; the schema rules report it
            plain[name] = str(value)
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            plain[name] = ",".join(value)
    return plain
