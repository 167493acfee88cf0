"""Ownership of tables: fabricgen owns the whole file, unless the inventory has a base file or lists owned tables.

With `sonic.base`, tables that fabricgen does not render come from a site's own config_db.json. With
`sonic.owned_tables`, only those are rendered, and all others come from the base file, or from nowhere.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding
from fabricgen.inputs import read_bytes
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import SonicTarget
from fabricgen.render.forms import Tables
from fabricgen.sonic.secrets import PLACEHOLDER, literals, may_have_forms
from fabricgen.units import counted


class Ownership:
    """What an inventory says about tables; `root` is the folder that its base file is relative to."""

    def __init__(self, target: SonicTarget, root: Path) -> None:
        self._target, self._root = target, root
        self._read = cache(_read)  # of one plan: a program that plans again reads the files of then

    @property
    def is_whole(self) -> bool:
        """Whether fabricgen owns the whole file."""
        return not self._target.base and not self._target.owned_tables

    def problems(self, names: Iterable[str]) -> Iterator[Finding]:
        """A finding for each base file that is missing or does not contain tables."""
        reported = set()
        for file in (self._file(name) for name in names if self._target.base):
            problem = self._read(file)[1]
            if problem and file not in reported:
                reported.add(file)
                hint = "a config_db.json whose values are texts; {name} in `base` is replaced by the switch's name"
                yield error("FG113", f"base file {file}: {problem}", self._target, "base", hint=hint)
            elif file not in reported:
                reported.add(file)
                for table, count in Counter(
                    table for table, _, _ in literals(self._read(file)[0], has_forms=may_have_forms(file.read_bytes()))
                ).items():
                    message = f"base file {file}: {table} holds {counted(count, 'literal secret')}"
                    hint = f"write `{PLACEHOLDER}path/of/the/secret}}` in its place, and change the secret itself"
                    yield error("FG108", message, self._target, "base", hint=hint)

    def applied(self, name: str, rendered: Tables) -> Tables:
        """The tables of a switch's file."""
        if self.is_whole:
            return rendered
        base = self._read(self._file(name))[0] if self._target.base else {}
        own = self._target.owned_tables or tuple(rendered)
        kept = {table: rows for table, rows in rendered.items() if _matches(table, own)}
        return kept | {table: rows for table, rows in base.items() if not _matches(table, own)}

    def _file(self, name: str) -> Path:
        return self._root / (self._target.base or "").replace("{name}", name)


def _matches(table: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(table, pattern) for pattern in patterns)


def _read(file: Path) -> tuple[Tables, str]:
    """The tables of a base file, and what is wrong with it."""
    try:
        content: Any = orjson.loads(read_bytes(file))
    except UnreadableInputError as error:
        return {}, error.problem
    except ValueError as problem:
        return {}, f"not JSON: {problem}"
    if not isinstance(content, Mapping):
        return {}, "not a JSON object"
    for table, rows in content.items():
        for key, row in rows.items() if isinstance(rows, Mapping) else [("", None)]:
            if not isinstance(row, Mapping) or not all(_is_text(value) for value in row.values()):
                return {}, f"{table}|{key} is not a row of texts"
    return dict(content), ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))
