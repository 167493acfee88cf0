"""Line and column of a member, against json for random documents."""

import json
from typing import Any

import hypothesis.strategies as st
from hypothesis import example, given

from fabricgen.bundle.locate import locate

_KEYS = st.text(max_size=6) | st.sampled_from(["PORT", "Ethernet0", 'a"b', "a\\b", "{", "é", "\n", ""])
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _KEYS
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4), max_leaves=25
)
_DOCUMENTS = st.dictionaries(_KEYS, _VALUES, max_size=4)


def paths(value: Any, above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of all members of mappings that lie in mappings only."""
    found = []
    for key, inner in value.items() if isinstance(value, dict) else ():
        found += [(*above, key), *paths(inner, (*above, key))]
    return found


def offset(text: bytes, line: int, column: int) -> int:
    return sum(len(each) + 1 for each in text.split(b"\n")[: line - 1]) + column - 1


def member_at(text: bytes, start: int) -> tuple[str, Any]:
    """The key and the value at this offset."""
    decoder = json.JSONDecoder()
    rest = text[start:].decode()
    key, end = decoder.raw_decode(rest)
    after = rest[end:].lstrip().removeprefix(":").lstrip()
    return key, decoder.raw_decode(after)[0]


@given(_DOCUMENTS, st.sampled_from([None, 1, 4]), st.booleans())
def test_every_member_is_located(document: dict[str, Any], indent: int | None, escaped: bool) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=escaped).encode()
    for path in paths(document):
        value: Any = document
        for step in path:
            value = value[step]
        start = offset(text, *locate(text, list(path)))
        assert member_at(text, start) == (path[-1], value)


@given(_DOCUMENTS, st.lists(_KEYS, max_size=4), st.sampled_from([None, 2, 4]))
@example({"a": 1, "c": {"b": 2}}, ["a", "b"], None)
def test_an_unknown_path_is_located_at_its_deepest_member(
    document: dict[str, Any], path: list[str], indent: int | None
) -> None:
    text = json.dumps(document, indent=indent).encode()
    known = set(paths(document))
    deepest = max((length for length in range(len(path) + 1) if tuple(path[:length]) in known), default=0)
    expected = locate(text, path[:deepest]) if deepest else (1, 1)
    assert locate(text, path) == expected


def test_locations_of_a_small_document() -> None:
    text = b'{\n    "A": {\n        "b": {"c": "1", "d": ["x"]}\n    }\n}'
    assert locate(text, ["A", "b", "d"]) == (3, 25)
    assert locate(text, ["A", "nothing"]) == (2, 5)
    assert locate(text, ["nothing"]) == (1, 1)
