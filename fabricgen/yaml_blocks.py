"""YAML in block style, as PyYAML writes it, for files with many equal values.

PyYAML analyses every scalar each time that it occurs. Here each distinct scalar is written by PyYAML once, and the
lines around it are put together. What PyYAML lays out by the column, or with an anchor, is left to it.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import yaml

from fabricgen.same import Same
from fabricgen.yaml_words import Unsafe, WordDumper

_WIDTH = 120
_LONGEST_KEY = 100  # PyYAML writes longer keys, from 128 characters on, and keys of several lines in another form
_ENDLESS = 1 << 30
_KEPT = 1 << 16
_COLLECTIONS = (dict, list)
_SIMPLE = re.compile(r"[A-Za-z0-9_./:-]+")  # always written in quotes as it is
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")  # written as it is, except for the words of YAML 1.1
_RESERVED = frozenset({"yes", "no", "on", "off", "true", "false", "null"})


class _OtherLayoutError(Exception):
    """A value that PyYAML lays out in another way."""


def dumped(value: object, *, explicit_start: bool = False, unsafe: bool = False) -> bytes:
    """A value as `yaml.dump` with WordDumper writes it: keys in their order, unicode as it is, lines of 120
    characters. With `unsafe`, as it writes `Unsafe.of(value)`."""
    lines = block_lines(value, unsafe=unsafe)
    if lines is None:
        text: bytes = yaml.dump(
            Unsafe.of(value) if unsafe else value,
            Dumper=WordDumper,
            encoding="utf-8",
            sort_keys=False,
            explicit_start=explicit_start,
            allow_unicode=True,
            width=_WIDTH,
        )
        return text
    start = ["---"] if explicit_start else []
    return "\n".join([*start, *lines, ""]).encode()


def block_lines(value: object, *, unsafe: bool = False) -> list[str] | None:
    """The lines of a value; None for one that is left to PyYAML."""
    if not _is_block(value):
        return None
    blocks = _Blocks(_unsafe if unsafe else _text)
    try:
        blocks.add(value, 0)
    except _OtherLayoutError:
        return None
    return blocks.lines


class _Blocks:
    """The lines of one document. `text` writes a text."""

    def __init__(self, text: Callable[[str], str]) -> None:
        self.lines: list[str] = []
        self._text = text
        self._seen: set[Same[object]] = set()

    def add(self, value: Any, indent: int) -> None:
        """Add the lines of a collection that is not empty. Raises _OtherLayoutError."""
        self._check_anchor(value)
        space, lines = " " * indent, self.lines
        if isinstance(value, dict):
            for key, item in value.items():
                name = _key(key) if type(key) is str else _as_key(key, _scalar(type(key).__name__, repr(key), key))
                if type(item) is str:  # most are
                    line = f"{space}{name}: {self._text(item)}"
                    if len(line) > _WIDTH and " " in self._text(item):
                        raise _OtherLayoutError
                    lines.append(line)
                elif _is_block(item):
                    lines.append(f"{space}{name}:")
                    self.add(item, indent + 2 if isinstance(item, dict) else indent)
                else:
                    lines.append(f"{space}{name}: {self._short(item, indent + len(name) + 2)}")
            return
        for item in value:
            if not _is_block(item):
                lines.append(f"{space}- {self._short(item, indent + 2)}")
                continue
            first = len(lines)
            self.add(item, indent + 2)
            lines[first] = f"{space}- {lines[first][indent + 2 :]}"

    def _short(self, value: Any, column: int) -> str:
        """A scalar or an empty collection, in one line."""
        if type(value) is str:
            text = self._text(value)
        elif isinstance(value, _COLLECTIONS):
            self._check_anchor(value)
            return "{}" if isinstance(value, dict) else "[]"
        else:
            # Unsafe.of reads every other text as such, words too.
            is_word = self._text is _unsafe and isinstance(value, str)
            text = _unsafe(str(value)) if is_word else _scalar(type(value).__name__, repr(value), value)
        if column + len(text) > _WIDTH and " " in text:
            raise _OtherLayoutError
        return text

    def _check_anchor(self, value: object) -> None:
        if (same := Same(value)) in self._seen:
            raise _OtherLayoutError
        self._seen.add(same)


def _is_block(value: object) -> bool:
    return isinstance(value, _COLLECTIONS) and bool(value)


@lru_cache(_KEPT)
def _text(text: str) -> str:
    return _line(text)


@lru_cache(_KEPT)
def _unsafe(text: str) -> str:
    marked = Unsafe.of(text)
    return f"!unsafe '{text}'" if isinstance(marked, Unsafe) and _SIMPLE.fullmatch(text) else _line(marked)


@lru_cache(_KEPT)
def _key(key: str) -> str:
    if _PLAIN.fullmatch(key) and len(key) <= _LONGEST_KEY and key.lower() not in _RESERVED:
        return key
    return _as_key(key, _line(key))


def _as_key(key: object, text: str) -> str:
    if key == "" or text.startswith('"') or len(text) > _LONGEST_KEY:
        raise _OtherLayoutError
    return text


@lru_cache(_KEPT)
def _scalar(_kind: str, _text: str, value: Any) -> str:
    """The kind and the text keep True and 1, and both zeros, apart."""
    if not isinstance(value, str | int | float | None):
        raise _OtherLayoutError
    return _line(value)


def _line(value: object) -> str:
    text: str = yaml.dump(value, Dumper=WordDumper, allow_unicode=True, width=_ENDLESS)
    line = text.removesuffix("\n").removesuffix("\n...")
    if "\n" in line:
        raise _OtherLayoutError
    return line
