"""JSON files with one list item per line, so that a change is easy to read in a pull request."""

from collections.abc import Iterable, Mapping

import orjson


def dump_listing(head: Mapping[str, object], lists: Mapping[str, Iterable[object]]) -> bytes:
    """The bytes of a JSON object of scalars and lists, one list item per line."""
    parts = [b"  %s: %s" % (orjson.dumps(key), orjson.dumps(value)) for key, value in head.items()]
    for key, items in lists.items():
        lines = b",\n".join(b"    " + orjson.dumps(item) for item in items)
        parts.append(b"  %s: [\n%s\n  ]" % (orjson.dumps(key), lines) if lines else b"  %s: []" % orjson.dumps(key))
    return b"{\n" + b",\n".join(parts) + b"\n}\n"
