"""Listings are read some items at a time, with the same result as the whole text."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.bundle.listing import Items, dump_listing, line_of, read_listing

VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | st.sampled_from(["", "a", "]", '": [\n', "\n  ]", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["", "a", "b: ["]), inner, max_size=3),
    max_leaves=6,
)
LISTS = st.dictionaries(st.sampled_from(["links", "cables", "", "a"]), st.lists(VALUES, max_size=9), max_size=3)


def whole(value: Any) -> Any:
    return {key: list(one) if isinstance(one, Items) else one for key, one in value.items()}


@given(LISTS, st.dictionaries(st.sampled_from(["version", "checks"]), VALUES, max_size=2), st.integers(1, 60))
def test_the_items_are_those_of_the_file(lists: Any, head: Any, block_bytes: int) -> None:
    text = dump_listing(head, lists)
    assert read_listing(text, whole, block_bytes) == orjson.loads(text)
    found = read_listing(text, lambda members: members, block_bytes)
    looks_like_a_mark = b'"":' in orjson.dumps(head)  # then the file is decoded as a whole
    assert looks_like_a_mark or all(isinstance(found[name], Items) for name, items in lists.items() if items)


@given(LISTS, st.integers(1, 60), st.integers(0, 400), st.sampled_from([b"", b",", b"]", b"\n", b"  ]", b'"', b"{"]))
def test_a_damaged_file_is_refused_as_json_is(lists: Any, block_bytes: int, place: int, wrong: bytes) -> None:
    """One byte less, or a sign at another place: both readers agree on whether it is JSON, and on its value."""
    text = dump_listing({"version": 1}, lists)
    place %= len(text)
    text = text[:place] + wrong + text[place + (not wrong) :]
    try:
        expected = orjson.loads(text)
    except orjson.JSONDecodeError:
        with pytest.raises(orjson.JSONDecodeError):
            read_listing(text, whole, block_bytes)
    else:
        assert read_listing(text, whole, block_bytes) == expected
        assert whole(read_listing(text, lambda members: members, block_bytes)) == expected


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": {"links": [\n1\n  ]}, "links": []}',
        b'{\n  "links": [\n1\n  ],\n  "links": [\n2\n  ]\n}',
        b'{\n  "planes": [{"":0}],\n  "links": [\n2\n  ]\n}',
        b'{\n  "links": [\n    {\n      "a": [\n        1\n      ]\n    }\n  ]\n}',
    ],
)
def test_other_layouts_have_the_same_value(text: bytes) -> None:
    assert read_listing(text, whole, 4) == orjson.loads(text)


def test_line_of_an_item_by_its_name() -> None:
    lists = {"planes": [{"name": "one"}], "hosts": [{"name": "one", "rack": "a"}, {"name": 'o"ne', "rack": "b"}]}
    text = dump_listing({"format_version": "1"}, lists)
    lines = text.decode().splitlines()
    assert lines[line_of(text, "hosts", 'o"ne') - 1].strip() == '{"name":"o\\"ne","rack":"b"}'
    assert lines[line_of(text, "hosts", "one") - 1].strip() == '{"name":"one","rack":"a"},'
    assert lines[line_of(text, "hosts", "two") - 1] == '  "hosts": ['
    assert line_of(text, "devices", "one") == 1
    assert line_of(orjson.dumps(lists), "hosts", "one") == 1
