"""Quick fixes: what the hint of a finding says, as edits of the text at its place."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Hints with one value. Others name alternatives, or something else than the marked text.
_NEAR = re.compile(r"did you mean '?([^\s']+?)'?\?(?:$|;)")
_VALUE = re.compile(r"(?:use|write|set (?:it|[\w.]+) to|known:) [`'\"]?([\w.:/+-]+)[`'\"]?(?:$|;)")
_SETTING = re.compile(r"(?:use|set|write) `([\w.-]+): ([\w.:/+-]+)`")
_REMOVAL = re.compile(r"remove it")
_BLOCK_KEY = re.compile(r"( *)(?!- )[^\s#][^#]*?:(?: +[^|>&\s].*)?$")


@dataclass(frozen=True)
class Fix:
    """`new` replaces the text between two positions, (line, column in characters) from 0."""

    title: str
    start: tuple[int, int]
    end: tuple[int, int]
    new: str


def fixes(hint: str, rows: Sequence[str], line: int, start: int, end: int) -> Iterator[Fix]:
    """The fixes of a hint for the marked text: columns `start` to `end` of a line."""
    marked = rows[line][start:end] if line < len(rows) else ""
    if not marked:
        return
    named = _NEAR.match(hint) or _VALUE.match(hint)
    if named and marked[0] not in "{[":
        quote = marked[0] if marked[0] in "'\"" else ""
        yield Fix(
            f"Replace {marked.strip(quote)} with {named[1]}", (line, start), (line, end), f"{quote}{named[1]}{quote}"
        )
    elif (setting := _SETTING.fullmatch(hint)) and (found := _value_of(setting[1].rpartition(".")[2], rows[line])):
        yield Fix(f"Set {setting[1]} to {setting[2]}", (line, found[0]), (line, found[1]), setting[2])
    elif _REMOVAL.fullmatch(hint) and _is_a_line(rows, line, start):
        last = line + 1 < len(rows)
        yield Fix(f"Remove {marked}", (line, 0), (line + 1, 0) if last else (line, len(rows[line])), "")


def _value_of(key: str, row: str) -> tuple[int, int] | None:
    """The columns of the value of a key in a line; None where it has none."""
    found = re.search(rf"(?<![\w.-]){re.escape(key)}: *([\w.:/+-]+)", row)
    return found.span(1) if found else None


def _is_a_line(rows: Sequence[str], line: int, start: int) -> bool:
    """Whether the key at a column, with its whole value, is one line of a block mapping."""
    row = rows[line]
    found = _BLOCK_KEY.fullmatch(row.rstrip())
    if not found or len(found[1]) != start:
        return False
    below = next((one for one in rows[line + 1 :] if one.strip() and not one.lstrip().startswith("#")), "")
    return len(below) - len(below.lstrip()) <= start and below[start : start + 2] != "- "
