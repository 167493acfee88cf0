"""Completion: the keys of a mapping, and the words that a value may be."""

import re
from dataclasses import dataclass

from fabricgen.api.draft import Draft
from fabricgen.lsp.cursor import typed_at
from fabricgen.lsp.names import Names, names_at, shipped
from fabricgen.lsp.schema import keys_at, meaning_of, values_at

_IGNORE = re.compile(r"#\s*fabricgen\s*:\s*ignore\s*\[[^\]]*?(\w*)$")


@dataclass(frozen=True)
class Proposal:
    """A text that replaces the columns `start` to `end` of the line, with a description."""

    label: str
    text: str
    detail: str
    is_key: bool
    start: int
    end: int


def proposals(text: str, line: int, column: int, draft: Draft) -> list[Proposal]:
    """The words that fit at a position. `draft` has the names of the inventory."""
    lines = text.split("\n")
    row = lines[line] if line < len(lines) else ""
    comment = _IGNORE.search(row[:column])
    if comment:
        return _words(shipped("codes"), column - len(comment[1]), column)
    spot = typed_at(text, line, column)
    if spot is None:
        return []
    start, end = spot.start[1], spot.end[1]
    if spot.is_key:
        colon = "" if row[end:].lstrip().startswith(":") else ": "
        keys = [key for key in keys_at(spot.path) if key not in spot.beside]
        return [Proposal(key, key + colon, meaning_of((*spot.path, key)), True, start, end) for key in keys]
    words = {**dict.fromkeys(values_at(spot.path), ""), **names_at(spot.path, draft)}
    return _words(words, start, end)


def _words(words: Names, start: int, end: int) -> list[Proposal]:
    return [Proposal(word, word, detail, False, start, end) for word, detail in words.items()]
