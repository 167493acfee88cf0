"""Files read by pieces are the same as files read whole."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.sonic.dump import dump
from fabricgen.sonic.load import TableLoader

NAMES = st.sampled_from(["PORT", "A", "B_C", "bgpraw", 'a "quote"', "\n    },\n    ", "{", "}}"])
TEXTS = st.sampled_from(["1", "{", "}", "\n    },\n    ", "é", '"', "${secret:x}"])
ROWS = st.dictionaries(NAMES, TEXTS | st.lists(TEXTS, max_size=2), max_size=3)
CONFIGS = st.dictionaries(NAMES, st.dictionaries(NAMES, ROWS, max_size=3), max_size=4)


def tables(config: dict[str, Any]) -> dict[str, Any]:
    return {name: rows for name, rows in config.items() if name[:1].isupper()}


@given(st.lists(st.tuples(CONFIGS, st.sampled_from([None, 1, 4, "    ", "\t"])), min_size=1, max_size=4))
def test_any_layout_reads_the_same(files: list[tuple[dict[str, Any], Any]]) -> None:
    loader = TableLoader()
    for config, indent in files:
        for text in (dump(config), json.dumps(config, indent=indent).encode(), json.dumps(config).encode() + b"\n"):
            assert loader.load(text) == tables(orjson.loads(text))


def test_equal_tables_are_one_object() -> None:
    loader = TableLoader()
    one = loader.load(dump({"A": {"x": {"f": "1"}}, "B": {"x": {"f": "1"}}, "C": {"x": {}}}))
    other = loader.load(dump({"A": {"x": {"f": "1"}}, "B": {"x": {"f": "2"}}, "C": {"x": {}}}))
    assert one["A"] is other["A"] and one["C"] is other["C"] and one["B"] != other["B"]


@pytest.mark.parametrize(
    "text",
    [
        # cut marks between rows, not tables: the pieces alone would read as tables PORT, Ethernet4 and FIELD
        b'{\n    "PORT": {"Ethernet0": {\n    "mtu": "1"\n    },\n    "Ethernet4": {\n    "mtu": "2"\n    }}}',
        b'{\n    "A": {"x": {\n    "f": "1"\n    },\n    "y": {"f": "2"\n    }\n}}',
        b'{\n    "A": {\n        "x": {}\n    },\n    "B": {}\n}',
        b'{\n    "A": {},\n    "B": {\n        "x": {}\n    }\n}',
    ],
)
def test_misleading_layouts(text: bytes) -> None:
    loader = TableLoader()
    assert loader.load(text) == orjson.loads(text)
    assert loader.load(text) == orjson.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{\n    "A": {\n    },\n    ,\n    "B": {\n    }\n}',
        b'{\n    "A": {\n        "x": {}\n    },\n    }\n}',
        b'{\n    "A": {\n        "x": {}\n    },\n\n    }\n}',
        b'{\n    "A": 1',
        b"",
    ],
)
def test_no_json(text: bytes) -> None:
    loader = TableLoader()
    loader.load(b'{\n    "A": {\n        "x": {}\n    }\n}')
    for _ in range(2):  # also where a piece stood in the file before
        with pytest.raises(orjson.JSONDecodeError):
            loader.load(text)


def test_no_object() -> None:
    with pytest.raises(TypeError, match="not a JSON object"):
        TableLoader().load(b"[]")
