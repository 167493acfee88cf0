"""Line and column of a value in a JSON file, computed for findings only."""

import re
from json.encoder import encode_basestring_ascii

import orjson

_FIRST_MEMBER = re.compile(rb'\{\r?\n( +)"')
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def locate(text: bytes, path: list[str]) -> tuple[int, int]:
    """(line, column), from 1, of the key of the deepest member of `path` in a JSON document; (1, 1) if none exists."""
    place = _in_indented(text, path)
    return place if place else _in_any(text, path)


def _in_indented(text: bytes, path: list[str]) -> tuple[int, int] | None:
    """The same for a document with one member per line, as `config save` writes it; None if it may have another layout.

    This is a thousand times faster than reading the tokens, which matters for thousands of findings.
    """
    first = _FIRST_MEMBER.match(text)
    if not first:
        return None
    unit, start, end, best = len(first[1]), 0, len(text), 0
    for depth, name in enumerate(path, 1):
        indent, key = b"\n" + b" " * (unit * depth), encode_basestring_ascii(name).encode()
        member = text.find(indent + key + b":", start, end)
        if member < 0 and (b"\\" in key or _is_key(key, text, start, end)):
            return None
        if member < 0:
            break
        best = member + len(indent)
        start = text.find(b"\n", best)
        if depth < len(path):
            line = text[best:start].rstrip()
            if line.rstrip(b",") == key + b": {}":
                break
            if not line.endswith(b"{"):
                return None
            end = text.find(indent + b"}", start, end)
            if end < 0:
                return None
    return text.count(b"\n", 0, best) + 1, best - text.rfind(b"\n", 0, best)


def _is_key(text_of_key: bytes, text: bytes, start: int, end: int) -> bool:
    """Whether a part of the document has a member of this name at any depth. With escapes it may have one."""
    found = text.find(text_of_key, start, end)
    if found < 0:
        return start == 0 and b"\\u" in text
    return re.compile(re.escape(text_of_key) + rb"\s*:").search(text, found, end) is not None


def _in_any(text: bytes, path: list[str]) -> tuple[int, int]:
    best, depth_found = 0, 0
    keys: list[bytes | None] = []  # for each open container: the current member, None in an array
    expect_key = False
    wanted = [part.encode() for part in path]
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == b"{":
            keys.append(b"")
            expect_key = True
        elif token == b"[":
            keys.append(None)
            expect_key = False
        elif token in (b"}", b"]"):
            keys.pop()
            if len(keys) < depth_found:
                break  # the end of the container of the best match
            expect_key = False
        elif token == b",":
            expect_key = bool(keys) and keys[-1] is not None
        elif token != b":" and expect_key:
            keys[-1] = orjson.loads(token).encode() if b"\\" in token else token[1:-1]
            expect_key = False
            if len(keys) == depth_found + 1 and len(keys) <= len(wanted) and keys == wanted[: len(keys)]:
                best, depth_found = match.start(), len(keys)
                if depth_found == len(wanted):
                    break
    line_start = text.rfind(b"\n", 0, best) + 1
    return text.count(b"\n", 0, best) + 1, best - line_start + 1
