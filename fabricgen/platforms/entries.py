"""Platform and host entries: YAML to the model. A file that does not fit is refused with the place inside it."""

import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import yaml

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.platforms.model import HeadroomRow, HostModel, HostNic, SwitchPlatform

_PORT_COLUMNS = ("name", "lanes", "alias", "index", "subport", "parent")
_HEADROOM_COLUMNS = tuple(field.name for field in fields(HeadroomRow))
_NIC_COLUMNS = tuple(field.name for field in fields(HostNic))
_WORDS = {str: "text", int: "a whole number", dict: "a mapping", list: "a list"}


class _MisfitError(Exception):
    """The value at a place inside the entry is not what the model holds there."""


def load_switch_platform(file: Path) -> SwitchPlatform:
    """One switch model from its file. Raises UnreadableInputError, with the place, for a file of another shape."""
    return typing.cast(SwitchPlatform, _load(SwitchPlatform, file, _switch))


def load_host_model(file: Path) -> HostModel:
    """One host model from its file. Raises UnreadableInputError, with the place, for a file of another shape."""
    return typing.cast(HostModel, _load(HostModel, file, _host))


def _load(model: type, file: Path, shape: typing.Callable[[dict[str, Any], str], dict[str, Any]]) -> object:
    try:
        entry = yaml.load(file.read_bytes(), yaml.CSafeLoader)
        return _fit(model, shape(_of(dict, entry, "the file"), str(file)), "")
    except OSError as error:
        raise UnreadableInputError(error.strerror or "cannot be read", Location(str(file))) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = Location(str(file), mark.line + 1, mark.column + 1) if mark else Location(str(file))
        raise UnreadableInputError(getattr(error, "problem", None) or "no YAML", where) from None
    except _MisfitError as misfit:
        raise UnreadableInputError(str(misfit), Location(str(file))) from None


def _switch(entry: dict[str, Any], file: str) -> dict[str, Any]:
    """The file's compact tables written out as the model has them."""
    layouts = [
        _layout(_of(dict, layout, f"layouts[{n}]"), f"layouts[{n}]") for n, layout in _list(entry, "layouts", "")
    ]
    return {**entry, "layouts": layouts, "file": file}


def _layout(layout: dict[str, Any], place: str) -> dict[str, Any]:
    ports = []
    for n, group in _list(layout, "ports", place):
        where = f"{place}.ports[{n}]"
        rows = _table(_of(dict, group, where), "rows", _PORT_COLUMNS, where)
        shared = {key: value for key, value in group.items() if key != "rows"}
        ports += [{**shared, **row, "lanes": _lanes(row["lanes"], where)} for row in rows]
    buffers: dict[str, Any] = {}
    sources = dict(_of(dict, layout.get("sources"), f"{place}.sources"))
    for n, block in _list(layout, "buffers", place):
        where = f"{place}.buffers[{n}]"
        rest = {key: value for key, value in _of(dict, block, where).items() if key not in ("roles", "source")}
        for _, role in _list(block, "roles", where):
            buffers[_of(str, role, f"{where}.roles")] = rest
            sources[f"buffers.{role}"] = block.get("source")
    headroom = _table(layout, "headroom", _HEADROOM_COLUMNS, place)
    return {**layout, "ports": ports, "headroom": headroom, "buffers": buffers, "sources": sources}


def _host(entry: dict[str, Any], _file: str) -> dict[str, Any]:
    return {**entry, "nics": _table(entry, "nics", _NIC_COLUMNS, "")}


def _table(block: dict[str, Any], key: str, columns: tuple[str, ...], place: str) -> list[dict[str, Any]]:
    """Rows by column name, of a table whose rows are lists."""
    rows = []
    for n, row in _list(block, key, place):
        if not isinstance(row, list) or len(row) != len(columns):
            raise _MisfitError(f"{place}.{key}[{n}]".strip(".") + f" must be [{', '.join(columns)}]")
        rows.append(dict(zip(columns, row, strict=True)))
    return rows


def _lanes(text: object, place: str) -> list[int]:
    """'17,18' to [17, 18]."""
    try:
        return [int(lane) for lane in str(text).split(",")]
    except ValueError:
        raise _MisfitError(f"{place}: lanes must be text such as '17,18,19,20'") from None


def _list(block: dict[str, Any], key: str, place: str) -> typing.Iterable[tuple[int, Any]]:
    return enumerate(_of(list, block.get(key), f"{place}.{key}".strip(".")))


def _of(kind: type, value: object, place: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _MisfitError(f"{place} must be {_WORDS[kind]}")
    return value


@functools.cache
def _columns(model: type) -> tuple[tuple[str, Any, bool], ...]:
    """Name, type and whether it must be given, of each field of a dataclass."""
    hints = typing.get_type_hints(model)
    return tuple((field.name, hints[field.name], field.default is MISSING) for field in fields(model))


def _fit(kind: Any, value: Any, place: str) -> Any:
    """The value as the type says: dataclasses from mappings, tuples from lists; nothing is converted."""
    if kind is str or kind is int:
        return _of(kind, value, place)
    if is_dataclass(kind):
        known = _columns(typing.cast(type, kind))
        if unknown := set(_of(dict, value, place)) - {name for name, _, _ in known}:
            raise _MisfitError(f"{place}.{min(map(str, unknown))}".strip(".") + " is not known here")
        given = {
            name: _fit(hint, value.get(name), f"{place}.{name}".strip("."))
            for name, hint, needed in known
            if needed or name in value
        }
        return typing.cast(type, kind)(**given)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return None if value is None else _fit(inner[0], value, place)
    if origin is tuple:
        items = _of(list, value, place)
        return tuple(_fit(inner[0], item, f"{place}[{n}]") for n, item in enumerate(items))
    if origin is Mapping:
        return {
            _fit(str, key, place): _fit(inner[1], item, f"{place}.{key}")
            for key, item in _of(dict, value, place).items()
        }
    raise TypeError(f"no reading for {kind}")
