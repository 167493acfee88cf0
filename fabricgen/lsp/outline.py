"""The outline of an inventory: its sections, and the planes, groups and devices that they name."""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from fabricgen.errors import UnreadableInputError
from fabricgen.plain_yaml import compose
from fabricgen.sonic.secrets import is_secret

_DEEPEST = 3  # steps: planes, compute, leaf
Span = tuple[tuple[int, int], tuple[int, int]]  # (line, column in characters) of the start and the end, from 0


@dataclass(frozen=True)
class OutlineEntry:
    """A key with its value, or an item of a list with its `name`. `named` is where the name is, `whole` the entry."""

    name: str
    detail: str
    named: Span
    whole: Span
    inner: tuple["OutlineEntry", ...]


def outline(text: str) -> tuple[OutlineEntry, ...]:
    """The entries at the top of a text; none for a text that is not YAML."""
    try:
        root = compose(text, "")
    except UnreadableInputError:
        return ()
    return tuple(_entries(root, 1)) if root else ()


def _entries(node: yaml.Node, depth: int) -> Iterator[OutlineEntry]:
    if depth > _DEEPEST:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield _entry(key.value, key, key, value, depth)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            pairs = item.value if isinstance(item, yaml.MappingNode) else ()
            name = next((value for key, value in pairs if key.value == "name"), None)
            if isinstance(name, yaml.ScalarNode):
                yield _entry(name.value, name, item, item, depth)


def _entry(name: str, named: yaml.Node, first: yaml.Node, value: yaml.Node, depth: int) -> OutlineEntry:
    detail = value.value if isinstance(value, yaml.ScalarNode) and not is_secret(name, name) else ""
    span = _start(named), _end(named)
    whole = _start(first), max(span[1], _end(value))  # the value of an alias is somewhere above
    return OutlineEntry(name or "?", detail, span, whole, tuple(_entries(value, depth + 1)))


def _start(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line, node.start_mark.column


def _end(node: yaml.Node) -> tuple[int, int]:
    return node.end_mark.line, node.end_mark.column
