"""The configuration after an RFC 6902 patch, as `config apply-patch` simulates it before it does anything."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from fabricgen.sonic.tables import ConfigDb

_WITH_VALUE = frozenset({"add", "replace", "test"})
_WITH_SOURCE = frozenset({"move", "copy"})


class PatchError(ValueError):
    """An operation cannot be applied. `path` is its path, "" if it has none."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


def patched(config: ConfigDb, patch: Sequence[Any]) -> dict[str, Any]:
    """The tables after the patch. Raises PatchError for the first operation that cannot be applied.

    As in SONiC, a table that a path names exists, even without rows (append_emptytables_if_required in sonic-utilities
    generic_config_updater/main.py).
    """
    tables: dict[str, Any] = copy.deepcopy(dict(config))
    for operation in patch:
        _apply(tables, operation)
    return tables


def _apply(tables: dict[str, Any], operation: Any) -> None:
    if not isinstance(operation, Mapping) or not isinstance(operation.get("path"), str):
        raise PatchError("", "an operation is not an object with op and path")
    path, op = operation["path"], operation.get("op")
    if op in _WITH_VALUE and "value" not in operation:
        raise PatchError(path, f"{op} without a value")
    if op in _WITH_SOURCE:
        source = _steps(str(operation.get("from", "")), path)
        value = copy.deepcopy(_found(tables, source, path))
        if op == "move":
            _change(tables, "remove", source, None, path)
        _change(tables, "add", _steps(path, path), value, path)
    elif op in ("add", "remove", "replace", "test"):
        _change(tables, op, _steps(path, path), operation.get("value"), path)
    else:
        raise PatchError(path, f"{op!r} is not an operation of RFC 6902")


def _steps(pointer: str, path: str) -> list[str]:
    if not pointer.startswith("/"):
        raise PatchError(path, f"{pointer!r} is not a JSON pointer to a table")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]


def _found(tables: Any, steps: Sequence[str], path: str) -> Any:
    place = tables
    for step in steps:
        place = _member(place, step, path)
    return place


def _member(place: Any, step: str, path: str) -> Any:
    if isinstance(place, dict) and step in place:
        return place[step]
    if isinstance(place, list) and step.isdecimal() and int(step) < len(place):
        return place[int(step)]
    raise PatchError(path, f"{step} does not exist")


def _change(tables: dict[str, Any], op: str, steps: Sequence[str], value: Any, path: str) -> None:
    *parents, name = steps
    if op == "add" and parents:
        tables.setdefault(parents[0], {})
    place = _found(tables, parents, path)
    if op == "add" and isinstance(place, list):
        if name != "-" and not (name.isdecimal() and int(name) <= len(place)):
            raise PatchError(path, f"{name} is not a position of the list")
        place.insert(len(place) if name == "-" else int(name), value)
        return
    if op == "add" and isinstance(place, dict):
        place[name] = value
        return
    found = _member(place, name, path)
    if op == "test":
        if found != value:
            raise PatchError(path, f"the value is {found!r}, expected {value!r}")
        return
    key: Any = int(name) if isinstance(place, list) else name
    if op == "remove":
        del place[key]
    else:
        place[key] = value
