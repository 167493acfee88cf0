"""YAML in block style, as PyYAML writes it, for files with many equal values.

PyYAML analyses every scalar each time that it occurs. Here each distinct scalar is written by PyYAML once, and the
lines around it are put together. What PyYAML lays out by the column, or with an anchor, is left to it.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import yaml

from fabricgen.yaml_words import WordDumper

_WIDTH = 120
_LONGEST_KEY = 100  # PyYAML writes longer keys, from 128 characters on, and keys of several lines in another form
_ENDLESS = 1 << 30


class _OtherLayoutError(Exception):
    """A value that PyYAML lays out in another way."""


def dumped(value: object, *, explicit_start: bool) -> bytes:
    """A value as `yaml.dump` with WordDumper writes it: keys in their order, unicode as it is, lines of 120
    characters."""
    try:
        if not isinstance(value, dict | list) or not value:
            raise _OtherLayoutError
        lines = "\n".join(_Blocks().lines(value, 0))
    except _OtherLayoutError:
        text: bytes = yaml.dump(
            value,
            Dumper=WordDumper,
            encoding="utf-8",
            sort_keys=False,
            explicit_start=explicit_start,
            allow_unicode=True,
            width=_WIDTH,
        )
        return text
    return f"{'---' if explicit_start else ''}{chr(10) if explicit_start else ''}{lines}\n".encode()


class _Blocks:
    """The lines of one document."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def lines(self, value: Any, indent: int) -> Iterator[str]:
        """The lines of a collection that is not empty. Raises _OtherLayoutError."""
        self._check_anchor(value)
        space = " " * indent
        if isinstance(value, dict):
            for key, item in value.items():
                name = _key(key)
                if not _is_block(item):
                    yield f"{space}{name}: {self._short(item, indent + len(name) + 2)}"
                    continue
                yield f"{space}{name}:"
                yield from self.lines(item, indent + 2 if isinstance(item, dict) else indent)
            return
        for item in value:
            if not _is_block(item):
                yield f"{space}- {self._short(item, indent + 2)}"
                continue
            nested = self.lines(item, indent + 2)
            yield f"{space}- {next(nested)[indent + 2 :]}"
            yield from nested

    def _short(self, value: Any, column: int) -> str:
        """A scalar or an empty collection, in one line."""
        if isinstance(value, dict | list):
            self._check_anchor(value)
            return "{}" if isinstance(value, dict) else "[]"
        text = _scalar(type(value).__name__, repr(value), value)
        if column + len(text) > _WIDTH and " " in text:
            raise _OtherLayoutError
        return text

    def _check_anchor(self, value: object) -> None:
        if id(value) in self.seen:
            raise _OtherLayoutError
        self.seen.add(id(value))


def _is_block(value: object) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _key(key: Any) -> str:
    text = _scalar(type(key).__name__, repr(key), key)
    if key == "" or text.startswith('"') or len(text) > _LONGEST_KEY:
        raise _OtherLayoutError
    return text


@lru_cache(1 << 16)
def _scalar(_kind: str, _text: str, value: Any) -> str:
    """The kind and the text keep True and 1, and both zeros, apart."""
    if not isinstance(value, str | int | float | None):
        raise _OtherLayoutError
    text: str = yaml.dump(value, Dumper=WordDumper, allow_unicode=True, width=_ENDLESS)
    line = text.removesuffix("\n").removesuffix("\n...")
    if "\n" in line:
        raise _OtherLayoutError
    return line
