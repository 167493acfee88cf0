"""Lines of text at the width of a terminal: wrapped between words, with a hanging indent."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_WORD = re.compile(r" *[^ ]+")
_LAST_COLUMN = 32  # a column of text that begins further to the right leaves too little room for hanging lines
_INDENT = 4  # of hanging lines without a column
_JOINTS = ("/", "|", ",", ";", ":", "..")  # where a word that is longer than a line may break: after a step of a path
_LEAST_ROOM = 16  # characters: on a narrower terminal hanging lines have no indent


def wrapped(text: str, width: int) -> str:
    """The text with no line longer than `width` columns, except words that cannot break; 0 leaves it as it is.

    Hanging lines begin below the last column of their line, where two spaces separate columns. Colors take no room.
    """
    if not width:
        return text
    return "\n".join(part for line in text.split("\n") for part in _lines(line, width))


def room(text: str) -> int:
    """The columns that a text takes on a terminal."""
    shown = _COLOR.sub("", text)
    if shown.isascii():
        return len(shown)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in shown)
    return len(shown) + wide - sum(map(bool, map(unicodedata.combining, shown)))


def _lines(line: str, width: int) -> Iterator[str]:
    if room(line) <= width:
        yield line
        return
    hanging = " " * _hanging(line, width)
    current = ""
    for word in _WORD.findall(line):
        if room(current + word) <= width:
            current += word
            continue
        if current.strip():
            yield current.rstrip()
            word = hanging + word.lstrip()
        *whole, current = _broken(word, width, hanging)
        yield from whole
    yield current


def _hanging(line: str, width: int) -> int:
    """The column of hanging lines: that of the text after its label, or a little more than the indent of the line."""
    shown = _COLOR.sub("", line)
    indent = len(shown) - len(shown.lstrip(" "))
    columns = [found.end() for found in re.finditer(r"(?<=\S) {2,}", shown) if found.end() <= _LAST_COLUMN]
    label = re.match(r" *[a-z]+: ", shown)
    column = max([*columns, label.end() if label and label.end() <= _INDENT * 4 else 0]) or indent + _INDENT
    return column if width - column >= _LEAST_ROOM else 0


def _broken(word: str, width: int, hanging: str) -> Sequence[str]:
    """The word in parts; one that fits, or that has no joint, is one part."""
    parts = []
    while room(word) > width:
        end = max(word.rfind(joint, len(hanging) + 1, width) + len(joint) for joint in _JOINTS)
        if end <= len(hanging) + len(max(_JOINTS, key=len)):
            break
        parts.append(word[:end])
        word = hanging + word[end:]
    return [*parts, word]
