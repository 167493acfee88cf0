"""Line and column of a value in a JSON file, found when a finding needs it and not before."""

import re

import orjson

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def locate(text: bytes, path: list[str]) -> tuple[int, int]:
    """(line, column), from 1, of the deepest member of `path` that exists in a JSON document; (1, 1) for none.

    The place is that of the member's key, which is where an editor should put the cursor.
    """
    best, depth_found = 0, 0
    keys: list[bytes | None] = []  # per open container: the member being read, None in an array
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
                break  # the container that holds the best match has closed
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
