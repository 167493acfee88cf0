"""What the design does not give, as overrides: the difference of rendered and wanted tables, gathered by switch."""

import json
from collections.abc import Mapping
from typing import Any

from fabricgen.adopt.source import Source

Delta = Mapping[str, Any] | None  # fields to set (None: to remove); None: the row goes
_WHOLE = ""  # the key of a delta that is a whole table
_PATTERN = set("*?[")


def overrides(
    source: Source, rendered: Mapping[str, Mapping[str, Any]], *, with_foreign: bool
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The overrides that turn what was rendered into the source, and device -> tables that are not rendered for it.

    `rendered` is device -> tables. `with_foreign` puts those tables into the overrides, too.
    """
    carriers: dict[str, list[str]] = {}
    content: dict[str, tuple[str, str, Delta]] = {}
    foreign: dict[str, dict[str, Any]] = {}
    for name, switch in source.switches.items():
        tables = rendered[name]
        own = {table: rows for table, rows in switch.tables.items() if with_foreign or table in tables}
        foreign[name] = {table: rows for table, rows in switch.tables.items() if table not in own}
        for table in dict.fromkeys((*tables, *own)):
            for key, delta in _deltas(tables.get(table, {}), own.get(table, {})).items():
                text = json.dumps([table, key, delta], sort_keys=True)
                content[text] = table, key, delta
                carriers.setdefault(text, []).append(name)
    listed: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}
    # Patterns go first: they are over the rows that were rendered, not over those that other overrides add.
    for text in sorted(carriers, key=lambda text: (not _is_pattern(content[text][1]), text)):
        table, key, delta = content[text]
        for match in _matches(source, tuple(carriers[text])):
            _, config = listed.setdefault(json.dumps([_is_pattern(key), match]), (match, {}))
            if key == _WHOLE:
                config[table] = None
            else:
                config.setdefault(table, {})[key] = delta
    return [{"match": match, "config_db": config} for match, config in listed.values()], foreign


def _is_pattern(key: str) -> bool:
    """Whether a delta is for many rows, or the whole table."""
    return key == _WHOLE or key.startswith("*")


def _matches(source: Source, names: tuple[str, ...]) -> list[dict[str, str]]:
    """Conditions that hold for just these switches: one where all, a whole plane or a whole tier are meant."""
    if len(names) == len(source.switches):
        return [{"name": "*"}]
    for plane in dict.fromkeys(switch.plane for switch in source.switches.values()):
        if tuple(name for name, switch in source.switches.items() if switch.plane == plane) == names:
            return [{"plane": plane}]
    for role in ("leaf", "spine", "core"):
        members = tuple(name for name, switch in source.switches.items() if switch.role == role)
        if members == names:
            return [{"role": role}]
    return [{"name": name} for name in names]


def _deltas(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Delta]:
    """Key, or pattern of keys, -> what changes in the row."""
    if not new:
        return {_WHOLE: None} if old else {}
    found: dict[str, Delta] = {}
    for key in dict.fromkeys((*old, *new)):
        if key not in new:
            found[key] = None
        elif key not in old:
            if not _PATTERN & set(key):
                found[key] = dict(new[key])
        elif changed := {
            field: new[key].get(field)
            for field in dict.fromkeys((*old[key], *new[key]))
            if old[key].get(field) != new[key].get(field)
        }:
            found[key] = changed
    return _by_pattern(found, old)


def _by_pattern(deltas: Mapping[str, Delta], old: Mapping[str, Any]) -> dict[str, Delta]:
    """Equal changes of all rows, or of all with the same last part of the key, as one."""
    if not deltas:
        return {}
    patterns: dict[str, list[str]] = {"*": list(old)}
    for key in old:
        _, bar, rest = key.rpartition("|")
        if bar and not _PATTERN & set(rest):
            patterns.setdefault(f"*|{rest}", []).append(key)
    left, found = dict(deltas), {}
    for pattern, keys in patterns.items():
        if len(keys) > 1 and all(key in left and left[key] == left[keys[0]] for key in keys):
            found[pattern] = left[keys[0]]
            left = {key: delta for key, delta in left.items() if key not in keys}
    return {**found, **{_literal(key): delta for key, delta in left.items()}}


def _literal(key: str) -> str:
    """A key as a pattern that only itself fits; as it is where it holds no character of a pattern."""
    return "".join(f"[{char}]" if char in _PATTERN else char for char in key)
