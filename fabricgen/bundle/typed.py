"""Types of what a JSON file contains: fields of dataclasses, and plain shapes. Errors name the place in the file."""

import enum
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from typing import Any, TypeVar

from fabricgen.units import counted

T = TypeVar("T")
Check = Callable[[Any], bool]

_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


def checked(item: T, place: str) -> T:
    """The dataclass object itself. Raises ValueError with the place of a field whose value is not of its type."""
    kind: Any = type(item)
    for name, is_right, expected in _fields(kind):
        value = getattr(item, name)
        if not is_right(value):
            raise ValueError(f"{place}.{name} is {_shown(value)}, expected {expected}")
    return item


def require(value: object, kind: Any, place: str) -> Any:
    """The value itself. Raises ValueError if it is not of a type such as `list[str]` or `Mapping[str, list[int]]`."""
    is_right, expected = _check(kind)
    if not is_right(value):
        raise ValueError(f"{place} is {_shown(value)}, expected {expected}")
    return value


def rows(value: object, place: str) -> Sequence[Mapping[str, Any]]:
    """A list of objects. Raises ValueError with the place."""
    for index, item in enumerate(require(value, list[Any], place)):
        require(item, dict[str, Any], f"{place}[{index}]")
    return typing.cast(Sequence[Mapping[str, Any]], value)


def each(raw: Mapping[str, Any], name: str, make: Callable[[Mapping[str, Any]], T]) -> tuple[T, ...]:
    """The items of a list. Raises ValueError, KeyError or TypeError with the place of an item."""
    found = []
    for index, row in enumerate(rows(raw[name], name)):
        try:
            item = make(row)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{name}[{index}]: {_problem(error)}") from error
        found.append(checked(item, f"{name}[{index}]"))
    return tuple(found)


def _problem(error: Exception) -> str:
    """The text of an error; the name of a missing or unknown key."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error).partition("__init__() ")[2] or str(error)


def unique(names: Iterable[str], place: str) -> None:
    """Raises ValueError for a name that occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{place} has two items with the name {name!r}")
        seen.add(name)


@cache
def _fields(kind: Any) -> tuple[tuple[str, Check, str], ...]:
    hints = typing.get_type_hints(kind)
    return tuple((field.name, *_check(hints[field.name])) for field in fields(kind))


@cache
def _check(kind: Any) -> tuple[Check, str]:
    """Whether a value is of a type, and the type in words. JSON lists and tuples are both accepted for tuples."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return (lambda _: True), "a value"
    if kind is float:
        return (lambda value: type(value) in (int, float) and isfinite(value)), _WORDS[float]
    if kind in _WORDS:
        return (lambda value: type(value) is kind), _WORDS[kind]
    if origin is types.UnionType:
        checks = [_check(one) for one in inner]
        return (lambda value: any(is_right(value) for is_right, _ in checks)), " or ".join(words for _, words in checks)
    if origin is tuple and inner[-1] is not Ellipsis:
        each = [_check(one)[0] for one in inner]
        words = f"a list of {counted(len(inner), 'item')}"
        return (lambda value: _is_list(value) and len(value) == len(each) and all(map(_apply, each, value))), words
    if origin in (tuple, list):
        item, words = _check(inner[0])
        return (lambda value: _is_list(value) and all(map(item, value))), f"a list of {words}"
    if origin in (dict, Mapping):
        item, words = _check(inner[1])
        return (lambda value: isinstance(value, dict) and all(map(item, value.values()))), f"an object of {words}"
    if isinstance(kind, type) and (issubclass(kind, enum.Enum) or is_dataclass(kind)):
        return (lambda value: isinstance(value, kind)), f"a {kind.__name__}"
    raise TypeError(f"no check for {kind}")


def _apply(is_right: Check, value: object) -> bool:
    return is_right(value)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
