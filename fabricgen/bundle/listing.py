"""JSON files with one list item per line, so that a change is easy to read in a pull request.

They are read without all of their items in memory: fabric.json of 6,016 switches has 120 MB, and needs 2 GB as objects.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

T = TypeVar("T")

_BLOCK_BYTES = 1 << 17
_OPENS, _CLOSES = b": [\n", b"\n  ]"  # the first and the last line of a list, as `dump_listing` writes them


def dump_listing(head: Mapping[str, object], lists: Mapping[str, Iterable[object]]) -> bytes:
    """The bytes of a JSON object of scalars and lists, one list item per line."""
    parts = [b"  %s: %s" % (orjson.dumps(key), orjson.dumps(value)) for key, value in head.items()]
    for key, items in lists.items():
        lines = b",\n".join(b"    " + orjson.dumps(item) for item in items)
        parts.append(b"  %s: [\n%s\n  ]" % (orjson.dumps(key), lines) if lines else b"  %s: []" % orjson.dumps(key))
    return b"{\n" + b",\n".join(parts) + b"\n}\n"


def line_of(text: bytes, key: str, name: str) -> int:
    """The line, from 1, of the item whose first member is this name, in a list of a file as `dump_listing` writes it;
    that of the list, or 1, if it has no such item or the file has another layout."""
    start = text.find(b"\n  %s: [" % orjson.dumps(key))
    end = text.find(_CLOSES, start) if start >= 0 else -1
    found = text.find(b'\n    {"name":%s,' % orjson.dumps(name), start, end) if end >= 0 else -1
    return text.count(b"\n", 0, max(found, start, -1) + 1) + 1


class OtherLayoutError(Exception):
    """A file in another layout than `dump_listing` writes, or not JSON."""


@dataclass(eq=False, slots=True)
class Items:
    """The items of a list of a file. Each iteration decodes them again, some at a time."""

    text: bytes
    start: int
    stop: int
    block_bytes: int
    is_valid: bool = False  # whether all of them have been decoded

    def __iter__(self) -> Iterator[Any]:
        """The items. Raises OtherLayoutError if they are not separated at ends of lines, or are not JSON."""
        for block in self.blocks():
            yield from block

    def blocks(self) -> Iterator[list[Any]]:
        """The items, some at a time. Raises the same error."""
        start = self.start
        while start < self.stop:
            end = self.text.find(b"\n", min(start + self.block_bytes, self.stop), self.stop)
            is_last = end < 0
            block = self.text[start : self.stop if is_last else end].rstrip()
            if block.endswith(b",") is is_last:
                raise OtherLayoutError("a line does not end with an item")
            try:
                items = orjson.loads(b"[%s]" % block.removesuffix(b","))
            except orjson.JSONDecodeError as error:
                raise OtherLayoutError from error
            yield items
            start = self.stop if is_last else end + 1
        self.is_valid = True


def read_listing(text: bytes, read: Callable[[Any], T], block_bytes: int = _BLOCK_BYTES) -> T:
    """What `read` returns for the value of a JSON file, in which the lists of a listing are `Items`.

    A file in any other layout is decoded as a whole, and read again. Raises orjson.JSONDecodeError for a file that is
    not JSON, and what `read` raises. The blocks of a list are valid JSON only if they are cut between its items,
    because a JSON string cannot contain a newline.
    """
    try:
        members = _members(text, block_bytes)
        try:
            return read(members)
        finally:  # a list that `read` did not need, or an error in a list that was cut at a wrong place
            for items in members.values():
                if isinstance(items, Items) and not items.is_valid:
                    deque(items.blocks(), maxlen=0)
    except OtherLayoutError:
        return read(orjson.loads(text))


def _members(text: bytes, block_bytes: int) -> dict[str, Any]:
    """The members of the object. Raises OtherLayoutError."""
    lists: list[Items] = []
    outside = bytearray()  # the text with a mark in place of the items of each list
    done = 0
    while (opened := text.find(_OPENS, done)) >= 0:
        start = opened + len(_OPENS)
        stop = text.find(_CLOSES, start)
        if stop < 0:
            raise OtherLayoutError("a list does not end")
        outside += text[done:start] + orjson.dumps(_mark(len(lists)))
        lists.append(Items(text, start, stop, block_bytes))
        done = stop
    outside += text[done:]
    try:
        members = orjson.loads(outside)
    except orjson.JSONDecodeError as error:
        raise OtherLayoutError from error
    if not isinstance(members, dict):
        raise OtherLayoutError("not an object")
    marked = [name for name, value in members.items() if isinstance(value, list) and value[:1] and _is_mark(value[0])]
    if [members[name] for name in marked] != [[_mark(number)] for number in range(len(lists))]:
        raise OtherLayoutError("a list is not a member of the object, or looks like a mark")
    return {**members, **dict(zip(marked, lists, strict=True))}


def _mark(number: int) -> dict[str, int]:
    return {"": number}


def _is_mark(value: object) -> bool:
    return isinstance(value, dict) and "" in value
