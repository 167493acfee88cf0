"""Overrides for what the design does not render: the differences of rendered and original tables, grouped by switch."""

import json
from collections.abc import Mapping
from typing import Any

from fabricgen.adopt.source import ImportSource
from fabricgen.vocabulary import Role

Delta = Mapping[str, Any] | None  # fields to set (None removes one); None removes the row
_WHOLE_TABLE = None  # in place of a row key
_WILDCARDS = set("*?[")


def overrides(
    source: ImportSource, rendered: Mapping[str, Mapping[str, Any]], *, with_foreign: bool
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The overrides that turn the rendered tables into the source, and device -> foreign tables.

    `rendered` is device -> tables. Foreign tables are those that fabricgen does not render for the device;
    `with_foreign` includes them in the overrides.
    """
    devices_of: dict[str, list[str]] = {}
    content: dict[str, tuple[str, str | None, Delta]] = {}
    foreign: dict[str, dict[str, Any]] = {}
    for name, switch in source.switches.items():
        tables = rendered[name]
        own = {table: rows for table, rows in switch.tables.items() if with_foreign or table in tables}
        foreign[name] = {table: rows for table, rows in switch.tables.items() if table not in own}
        for table in dict.fromkeys((*tables, *own)):
            for key, delta in _deltas(tables.get(table, {}), own.get(table, {})).items():
                text = json.dumps([table, key, delta], sort_keys=True)
                content[text] = table, key, delta
                devices_of.setdefault(text, []).append(name)
    listed: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
    # Patterns come first: they select among rendered rows, not among the rows that other overrides add.
    for text in sorted(devices_of, key=lambda text: (not _selects_rows(content[text][1]), text)):
        table, key, delta = content[text]
        for match in _matches(source, tuple(devices_of[text])):
            _, config = listed.setdefault(json.dumps([_selects_rows(key), match]), (match, {}))
            if key is _WHOLE_TABLE:
                config[table] = None
            else:
                config.setdefault(table, {})[key] = delta
    return [{"match": match, "config_db": config} for match, config in listed.values()], foreign


def _selects_rows(key: str | None) -> bool:
    """Whether a delta is for many rows, or for the whole table."""
    return key is _WHOLE_TABLE or key.startswith("*")


def _matches(source: ImportSource, names: tuple[str, ...]) -> list[dict[str, str]]:
    """Conditions that select exactly these switches: one for all, for a plane or a tier, else one each."""
    if len(names) == len(source.switches):
        return [{"name": "*"}]
    for plane in dict.fromkeys(switch.plane for switch in source.switches.values()):
        if tuple(name for name, switch in source.switches.items() if switch.plane == plane) == names:
            return [{"plane": plane}]
    for role in (Role.LEAF, Role.SPINE, Role.CORE):
        members = tuple(name for name, switch in source.switches.items() if switch.role == role)
        if members == names:
            return [{"role": role.value}]
    return [{"name": name} for name in names]


def _deltas(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str | None, Delta]:
    """Row key or pattern of row keys -> the change."""
    if not new:
        return {_WHOLE_TABLE: None} if old else {}
    found: dict[str, Delta] = {}
    for key in dict.fromkeys((*old, *new)):
        if key not in new:
            found[key] = None
        elif key not in old:
            if not _WILDCARDS & set(key):
                found[key] = dict(new[key])
        elif changed := {
            field: new[key].get(field)
            for field in dict.fromkeys((*old[key], *new[key]))
            if old[key].get(field) != new[key].get(field)
        }:
            found[key] = changed
    return _by_pattern(found, old)


def _by_pattern(deltas: Mapping[str, Delta], old: Mapping[str, Any]) -> dict[str | None, Delta]:
    """Equal changes of all rows, or of all rows with the same last part of the key, as one pattern."""
    if not deltas:
        return {}
    patterns: dict[str, list[str]] = {"*": list(old)}
    for key in old:
        _, bar, rest = key.rpartition("|")
        if bar and not _WILDCARDS & set(rest):
            patterns.setdefault(f"*|{rest}", []).append(key)
    left = dict(deltas)
    found: dict[str | None, Delta] = {}
    for pattern, keys in patterns.items():
        if len(keys) > 1 and all(key in left and left[key] == left[keys[0]] for key in keys):
            found[pattern] = left[keys[0]]
            left = {key: delta for key, delta in left.items() if key not in keys}
    return {**found, **{_literal(key): delta for key, delta in left.items()}}


def _literal(key: str) -> str:
    """The pattern that matches only this key."""
    return "".join(f"[{char}]" if char in _WILDCARDS else char for char in key)
