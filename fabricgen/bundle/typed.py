"""Types of what a JSON file contains: fields of dataclasses, and plain shapes. Errors name the place in the file."""

import enum
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from math import isfinite
from typing import Any, TypeVar

from fabricgen.bundle.columns import OtherRowsError
from fabricgen.bundle.listing import Items
from fabricgen.units import counted

T = TypeVar("T")
Check = Callable[[Any], bool]
FieldCheck = tuple[str, Check, str]  # name, whether a value is right, the type in words

_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


def checked(item: T, place: str) -> T:
    """The dataclass object itself. Raises ValueError with the place of a field whose value is not of its type."""
    kind: Any = type(item)
    plain, others = _fields(kind)
    found = tuple([type(getattr(item, name)) for name in plain.names])
    if found not in plain.right:
        _refuse_wrong(item, plain.checks, place)
        plain.right.add(found)
    _refuse_wrong(item, others, place)
    return item


def _refuse_wrong(item: object, checks: Sequence[FieldCheck], place: str) -> None:
    for name, is_right, expected in checks:
        value = getattr(item, name)
        if not is_right(value):
            raise ValueError(f"{place}.{name} is {_shown(value)}, expected {expected}")


def require(value: object, kind: Any, place: str) -> Any:
    """The value itself. Raises ValueError if it is not of a type such as `list[str]` or `Mapping[str, list[int]]`."""
    is_right, expected = _check(kind)
    if not is_right(value):
        raise ValueError(f"{place} is {_shown(value)}, expected {expected}")
    return value


def rows(value: object, place: str, start: int = 0) -> Iterator[Mapping[str, Any]]:
    """The objects of a list, whose first has the number `start`. Raises ValueError with the place."""
    for index, item in enumerate(require(value, list[Any], place), start):
        if type(item) is not dict:
            raise ValueError(f"{place}[{index}] is {_shown(item)}, expected an object of a value")
        yield item


def each(
    raw: Mapping[str, Any],
    name: str,
    make: Callable[[Mapping[str, Any]], T],
    make_many: Callable[[Sequence[Any]], Sequence[T]] | None = None,
) -> tuple[T, ...]:
    """The items of a list. Raises ValueError, KeyError or TypeError with the place of an item.

    `make_many` makes those of many rows, or raises OtherRowsError: then `make` makes them, or has the problem.
    """
    value = raw[name]
    found: list[T] = []
    for block in value.blocks() if isinstance(value, Items) else [value]:
        if make_many and type(block) is list and block:
            with suppress(OtherRowsError):
                found += make_many(block)
                continue
        for index, row in enumerate(rows(block, name, len(found)), len(found)):
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


@dataclass(frozen=True, slots=True)
class _Plain:
    """The fields of a dataclass that are right or wrong by the class of their value alone, and the classes found right.

    Files have hundreds of thousands of objects, and few combinations of classes.
    """

    names: Sequence[str]
    checks: Sequence[FieldCheck]
    right: set[tuple[type, ...]]


@cache
def _fields(kind: Any) -> tuple[_Plain, Sequence[FieldCheck]]:
    """The plain fields and the others."""
    hints = typing.get_type_hints(kind)
    checks = [(field.name, *_check(hints[field.name])) for field in fields(kind)]
    plain = [check for check in checks if _is_plain(hints[check[0]])]
    return _Plain([name for name, *_ in plain], plain, set()), [check for check in checks if check not in plain]


def _is_plain(kind: Any) -> bool:
    if typing.get_origin(kind) is types.UnionType:
        return all(map(_is_plain, typing.get_args(kind)))
    return kind in (str, int, bool, type(None)) or (isinstance(kind, type) and issubclass(kind, enum.Enum))


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
    if origin in (tuple, list) and set(inner) <= {str, Ellipsis}:
        return _texts(None if origin is list or inner[-1] is Ellipsis else len(inner))
    if origin is tuple and inner[-1] is not Ellipsis:
        each = [_check(one)[0] for one in inner]
        words = f"a list of {counted(len(inner), 'item')}"
        return (lambda value: _is_list(value) and len(value) == len(each) and all(map(_apply, each, value))), words
    if origin in (tuple, list):
        item, words = _check(inner[0])
        if inner[0] is Any:
            return _is_list, f"a list of {words}"
        if is_dataclass(inner[0]):
            return (lambda value: _is_list(value) and {*map(type, value)} <= {inner[0]}), f"a list of {words}"
        return (lambda value: _is_list(value) and all(map(item, value))), f"a list of {words}"
    if origin in (dict, Mapping):
        item, words = _check(inner[1])
        return (lambda value: isinstance(value, dict) and all(map(item, value.values()))), f"an object of {words}"
    if isinstance(kind, type) and (issubclass(kind, enum.Enum) or is_dataclass(kind)):
        return (lambda value: isinstance(value, kind)), f"a {kind.__name__}"
    raise TypeError(f"no check for {kind}")


def _texts(count: int | None) -> tuple[Check, str]:
    """The check of a list of texts: of so many, or of any number."""
    if count is None:
        return (lambda value: _is_list(value) and set(map(type, value)) <= {str}), f"a list of {_WORDS[str]}"
    words = f"a list of {counted(count, 'item')}"
    return (lambda value: _is_list(value) and len(value) == count and set(map(type, value)) == {str}), words


def _apply(is_right: Check, value: object) -> bool:
    return is_right(value)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
