"""The value at a position of a YAML text, which may be incomplete: a person is typing in it.

Lines and columns count from 0, columns in characters.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import yaml

from fabricgen.errors import UnreadableInputError
from fabricgen.plain_yaml import compose

Steps = tuple[str | int, ...]
_MARK = "fabricgen-cursor"  # stands for the word at the cursor
_WORD = re.compile(r"[\w.-]*")
_PIECE = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|#.*|[\[\]{}]""")


@dataclass(frozen=True)
class Spot:
    """A scalar or the key of a member. `path` leads to the value, or to the member of the key.

    `beside` are the other keys of the mapping of a key.
    """

    path: Steps
    is_key: bool
    text: str
    start: tuple[int, int]
    end: tuple[int, int]
    beside: frozenset[str] = frozenset()


def spot_at(text: str, line: int, column: int) -> Spot | None:
    """The scalar or key at a position; None between them, and in a text that is not YAML."""
    try:
        root = compose(text, "")
    except UnreadableInputError:
        return None

    def covers(node: yaml.Node) -> bool:
        start, end = node.start_mark, node.end_mark
        return (start.line, start.column) <= (line, column) <= (end.line, end.column)

    return _find(root, (), covers, set()) if root else None


def typed_at(text: str, line: int, column: int) -> Spot | None:
    """The word that a person types: a value with its path, or a key with the path of its mapping.

    A word alone on its line is a key. None if the text above it is not YAML.
    """
    lines = text.split("\n")
    if line >= len(lines):
        return None
    row = lines[line]
    before = re.search(r"[\w.-]*$", row[:column])
    after = _WORD.match(row, min(column, len(row)))
    assert before and after
    start, end = before.start(), after.end()
    head, tail = [*lines[:line], row[:start] + _MARK], row[end:]
    above = "\n".join(head)
    for candidate in (
        "\n".join([above + tail, *lines[line + 1 :]]),
        "\n".join([f"{above}:{tail}", *lines[line + 1 :]]),
        above + _closers(above),
        f"{above}: " + _closers(above),
    ):
        try:
            root = compose(candidate, "")
        except UnreadableInputError:
            continue
        found = _find(root, (), _is_marked, set()) if root else None
        if found:
            is_key = found.is_key or not row[:start].strip()
            path = found.path[:-1] if found.is_key else found.path
            return Spot(path, is_key, row[start:column], (line, start), (line, end), found.beside)
    return None


def _is_marked(node: yaml.Node) -> bool:
    """A word is the whole of a plain value, and may be a part of a quoted one, such as a name pattern."""
    if not isinstance(node, yaml.ScalarNode):
        return False
    return node.value == _MARK or (node.style in ("'", '"') and _MARK in node.value)


def _find(node: yaml.Node, path: Steps, covers: Callable[[yaml.Node], bool], seen: set[int]) -> Spot | None:
    """The first scalar for which `covers` holds. An alias is not searched a second time."""
    if isinstance(node, yaml.ScalarNode):
        return _spot(node, path, is_key=False) if covers(node) else None
    if node.start_mark.index in seen:
        return None
    seen.add(node.start_mark.index)
    if isinstance(node, yaml.SequenceNode):
        found = (_find(item, (*path, index), covers, seen) for index, item in enumerate(node.value))
        return next(filter(None, found), None)
    assert isinstance(node, yaml.MappingNode)
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if covers(key):
            others = frozenset(str(other.value) for other, _ in node.value if other is not key)
            return replace(_spot(key, (*path, key.value), is_key=True), beside=others)
        if spot := _find(value, (*path, key.value), covers, seen):
            return spot
    return None


def _spot(node: yaml.ScalarNode, path: Steps, *, is_key: bool) -> Spot:
    start, end = node.start_mark, node.end_mark
    return Spot(path, is_key, node.value, (start.line, start.column), (end.line, end.column))


def _closers(text: str) -> str:
    """The brackets that are open at the end of a text."""
    open_brackets: list[str] = []
    for line in text.split("\n"):
        for piece in _PIECE.findall(line):
            if piece in "[{":
                open_brackets.append("]" if piece == "[" else "}")
            elif piece in "]}" and open_brackets:
                open_brackets.pop()
    return "".join(reversed(open_brackets))
