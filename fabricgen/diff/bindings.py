"""ACLs of ports that go from one table to another: the new table is bound before the old one is released.

The updater applies the changes of a patch one after the other, in an order of its choice. If the old table loses its
rules, or the port, before the new one has the port, all packets of the port pass for some seconds. While both tables
are bound, each decides for itself, so only packets pass that both let through.

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..sonic.tables import ConfigDb
from .changes import Change, Op

_TABLE, _RULE = "ACL_TABLE", "ACL_RULE"
_FIELDS = ("ports", "ports@")
_Kind = tuple[str, str]  # type and stage of a table


def bound_first(changes: Sequence[Change], old: ConfigDb, new: ConfigDb) -> tuple[list[Change], list[Change]]:
    """The changes that bind the new tables of ports that leave another one of the same type and stage, and all other
    changes, which are made after them."""
    if all(change.table != _TABLE for change in changes):
        return [], list(changes)
    before, after = _bindings(old), _bindings(new)
    moved = {
        (kind, port): {name for name in names if name not in before.get((kind, port), ())}
        for (kind, port), names in after.items()
        if before.get((kind, port), set()) - names
    }
    gained: dict[str, set[str]] = {}  # table -> the ports that it gets from others
    for (_, port), names in moved.items():
        for name in names:
            gained.setdefault(name, set()).add(port)
    first: list[Change] = []
    rest: list[Change] = []
    for change in changes:
        name = change.key.partition("|")[0]
        is_added = name in gained and name not in old.get(_TABLE, {})
        if is_added and change.table in (_TABLE, _RULE):
            first.append(change)
        elif change.table == _TABLE and change.field in _FIELDS and name in gained:
            both = _joined(change.old, change.new, gained[name])
            first.append(replace(change, new=both))
            rest += [] if both == change.new else [replace(change, op=Op.REPLACE, old=both)]
        else:
            rest.append(change)
    return first, rest


def _bindings(config: ConfigDb) -> dict[tuple[_Kind, str], set[str]]:
    """(type and stage, port) -> the tables that are bound to it."""
    found: dict[tuple[_Kind, str], set[str]] = {}
    for name, row in config.get(_TABLE, {}).items():
        kind = _text(row, "type"), _text(row, "stage") or "INGRESS"
        for port in _ports(next((row[field] for field in _FIELDS if field in row), ())):
            found.setdefault((kind, port), set()).add(name)
    return found


def _joined(old: Any, new: Any, gained: set[str]) -> Any:
    """The ports of a table with those that it gets, in the form of its field."""
    before = _ports(old)
    ports = [*before, *(port for port in _ports(new) if port in gained and port not in before)]
    if set(ports) == set(_ports(new)):
        return new
    return ",".join(ports) if isinstance(new, str) else ports


def _ports(value: Any) -> list[str]:
    return [port for port in value.split(",") if port] if isinstance(value, str) else list(value or ())


def _text(row: Mapping[str, Any], name: str) -> str:
    return str(row.get(name, "")).upper()
