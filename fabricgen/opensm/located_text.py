"""Lines and words of a text file with their places."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class LocatedWord:
    """A piece of one line; line and column count from 1."""

    text: str
    line: int
    column: int

    def __str__(self) -> str:
        return self.text

    def part(self, start: int, end: int) -> "LocatedWord":
        """The text between two offsets, stripped of blanks."""
        text = self.text[start:end]
        return LocatedWord(text.strip(), self.line, self.column + start + len(text) - len(text.lstrip()))

    def split(self, separator: str) -> "list[LocatedWord]":
        """The parts between separators, stripped."""
        found, start = [], 0
        for text in self.text.split(separator):
            found.append(self.part(start, start + len(text)))
            start += len(text) + len(separator)
        return found


def lines_of(text: str, comment: str = "#") -> Iterator[LocatedWord]:
    """Every line without comment and surrounding blanks; empty lines are left out."""
    for number, line in enumerate(text.split("\n"), 1):
        word = LocatedWord(line.partition(comment)[0], number, 1)
        word = word.part(0, len(word.text))
        if word.text:
            yield word


def words_of(line: LocatedWord) -> list[LocatedWord]:
    """The words of a line, separated by blanks."""
    return [line.part(found.start(), found.end()) for found in _WORD.finditer(line.text)]
