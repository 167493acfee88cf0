"""JSON files with one list item per line, so that a change is easy to read in a pull request.

They are read without all of their items in memory: fabric.json of 6,016 switches has 120 MB, and needs 2 GB as objects.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_BLOCK_BYTES = 1 << 17
_OPENS, _CLOSES = b": [\n", b"\n  ]"  # the first and the last line of a list, as `dump_listing` writes them


def dump_listing(head: Mapping[str, object], lists: Mapping[str, Iterable[object]]) -> bytes:
    """The bytes of a JSON object of scalars and lists, one list item per line."""
    parts = [b"  %s: %s" % (orjson.dumps(key), orjson.dumps(value)) for key, value in head.items()]
    for key, items in lists.items():
        lines = b",\n".join(b"    " + orjson.dumps(item) for item in items)
        parts.append(b"  %s: [\n%s\n  ]" % (orjson.dumps(key), lines) if lines else b"  %s: []" % orjson.dumps(key))
    return b"{\n" + b",\n".join(parts) + b"\n}\n"


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a list of a file. Each iteration decodes them again, some at a time."""

    text: bytes
    start: int
    stop: int
    block_bytes: int

    def __iter__(self) -> Iterator[Any]:
        """The items. Raises ValueError if they are not separated at ends of lines, or are not JSON."""
        for block in self.blocks():
            yield from block

    def blocks(self) -> Iterator[list[Any]]:
        """The items, some at a time. Raises the same errors."""
        start = self.start
        while start < self.stop:
            end = self.text.find(b"\n", min(start + self.block_bytes, self.stop), self.stop)
            is_last = end < 0
            block = self.text[start : self.stop if is_last else end].rstrip()
            if block.endswith(b",") is is_last:
                raise ValueError("a line does not end with an item")
            yield orjson.loads(b"[%s]" % block.removesuffix(b","))
            start = self.stop if is_last else end + 1


def load_listing(text: bytes, block_bytes: int = _BLOCK_BYTES) -> Any:
    """The value of a JSON file; the lists of a listing are `Items`, which are valid.

    Any other layout is decoded as a whole. Raises orjson.JSONDecodeError for a file that is not JSON. The blocks of a
    list are valid JSON only if they are cut between its items, because a JSON string cannot contain a newline.
    """
    try:
        return dict(_members(text, block_bytes))
    except ValueError:
        return orjson.loads(text)


def _members(text: bytes, block_bytes: int) -> Iterator[tuple[str, Any]]:
    """The members of the object. Raises ValueError for another layout."""
    lists: list[Items] = []
    outside = bytearray()  # the text with a mark in place of the items of each list
    done = 0
    while (opened := text.find(_OPENS, done)) >= 0:
        start = opened + len(_OPENS)
        stop = text.find(_CLOSES, start)
        if stop < 0:
            raise ValueError("a list does not end")
        outside += text[done:start] + orjson.dumps(_mark(len(lists)))
        lists.append(Items(text, start, stop, block_bytes))
        for _ in lists[-1].blocks():
            pass
        done = stop
    outside += text[done:]
    members = orjson.loads(outside)
    if not isinstance(members, dict):
        raise ValueError("not an object")
    marked = [name for name, value in members.items() if isinstance(value, list) and value[:1] and _is_mark(value[0])]
    if [members[name] for name in marked] != [[_mark(number)] for number in range(len(lists))]:
        raise ValueError("a list is not a member of the object, or looks like a mark")
    yield from {**members, **dict(zip(marked, lists, strict=True))}.items()


def _mark(number: int) -> dict[str, int]:
    return {"": number}


def _is_mark(value: object) -> bool:
    return isinstance(value, dict) and "" in value
