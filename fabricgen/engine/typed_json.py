"""Frozen dataclasses as JSON, and back by the types of their fields."""

import enum
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import orjson

_OPTION = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


def dump_value(value: object, kind: Any) -> bytes | None:
    """The bytes of a value of type `kind`; None if what is read back differs: JSON has no infinity."""
    try:
        content = orjson.dumps(value, option=_OPTION)
        return content if load_value(content, kind) == value else None
    except (TypeError, ValueError):
        return None


def load_value(content: bytes, kind: Any) -> Any:
    """The value of type `kind`, such as `tuple[Finding, ...]`."""
    return _reader(kind)(orjson.loads(content))


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        read = _reader(next(one for one in inner if one is not type(None)))
        return lambda raw: None if raw is None else read(raw)
    if origin is tuple and inner[-1:] == (...,):
        read = _reader(inner[0])
        return lambda raw: tuple(map(read, raw))
    if origin is tuple:
        readers = [_reader(one) for one in inner]
        return lambda raw: tuple([read(one) for read, one in zip(readers, raw, strict=True)])
    if origin in (dict, Mapping):
        of_key, of_value = (_reader(one) for one in inner)
        return lambda raw: {of_key(key): of_value(value) for key, value in raw.items()}
    if is_dataclass(kind):
        return _of_dataclass(typing.cast(Any, kind))
    if kind in (int, float) or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return typing.cast(Callable[[Any], Any], kind)
    return lambda raw: raw


def _of_dataclass(kind: Any) -> Callable[[Mapping[str, Any]], Any]:
    known: dict[str, Callable[[Any], Any]] = {}

    def read(raw: Mapping[str, Any]) -> Any:
        if not known:  # now, because a class can have fields of the same class
            hints = typing.get_type_hints(kind)
            known.update({each.name: _reader(hints[each.name]) for each in fields(kind) if each.init})
        return kind(**{name: of_field(raw[name]) for name, of_field in known.items()})

    return read
