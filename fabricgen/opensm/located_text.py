"""Lines and words of a text file with their places, and blanks as in C: a no-break space is a letter."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

BLANKS = " \t\n\v\f\r"  # isspace of C in its own locale; str.strip() also removes blanks of Unicode
_WORD = re.compile(rf"[^{BLANKS}]+")


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
        return LocatedWord(text.strip(BLANKS), self.line, self.column + start + len(text) - len(text.lstrip(BLANKS)))

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


def pieces_of(text: str, most: int) -> Iterator[LocatedWord]:
    """What a program with a buffer reads as lines: the lines of the text, each in pieces of at most `most` bytes."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) * 4 <= most:  # no character has more bytes in UTF-8
            yield LocatedWord(line, number, 1)
            continue
        column, rest = 1, line.encode()
        while rest:
            piece = rest[:most].decode("utf-8", "ignore")
            yield LocatedWord(piece, number, column)
            column += len(piece)
            rest = rest[most:]


def words_of(line: LocatedWord) -> list[LocatedWord]:
    """The words of a line, separated by blanks."""
    return [line.part(found.start(), found.end()) for found in _WORD.finditer(line.text)]
