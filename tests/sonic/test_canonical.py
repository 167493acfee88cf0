"""Canonical bytes are those of `config save`; natsort and json are the oracles."""

import json
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from natsort import natsorted

from fabricgen.sonic.canonical import in_natural_order, natural_key, redis_field
from fabricgen.sonic.dump import dump, dump_row

Config = dict[str, dict[str, dict[str, Any]]]
names = st.text(st.characters(codec="ascii", exclude_characters="\x00"), min_size=1, max_size=12)
port_like = st.from_regex(r"\A[A-Z][a-z]{0,3}[0-9]{0,4}(\|[0-9.:/a-f-]{0,6})?\Z")
fields = st.text(max_size=10) | st.lists(st.text(max_size=6), min_size=1, max_size=3)  # Redis holds no empty list
rows = st.dictionaries(names, fields, max_size=4)
configs = st.dictionaries(names, st.dictionaries(names | port_like, rows, max_size=4), max_size=4)


def config_save(config: Config) -> str:
    """What sonic-utilities writes: json.dumps with four blanks, tables and keys by natsort, fields by Redis name."""
    ordered = {
        table: {
            key: {name: row[name] for name in sorted(row, key=lambda name: redis_field(name, row[name]))}
            for key, row in natsorted(config[table].items())
        }
        for table in natsorted(config)
        if config[table]
    }
    return json.dumps(ordered, indent=4)


@given(st.lists(names | port_like, unique=True, max_size=12))
def test_natural_order_is_natsorts(texts: list[str]) -> None:
    assert sorted(texts, key=natural_key) == natsorted(sorted(texts))


addresses = st.lists(st.sampled_from(["0", "9", "10", "010", "255"]), min_size=4, max_size=4).map(".".join)


@given(st.lists(addresses, unique=True, max_size=6), st.lists(names, max_size=1))
def test_natural_order_of_addresses_alone_and_among_others(texts: list[str], others: list[str]) -> None:
    given = list(dict.fromkeys([*texts, *others]))
    assert in_natural_order(given) == natsorted(sorted(given))


def test_natural_order_of_ports_and_addresses() -> None:
    assert sorted(["Ethernet10", "Ethernet9", "Ethernet9|10.0.0.0/31", "Ethernet9|9.0.0.0/31"], key=natural_key) == [
        "Ethernet9",
        "Ethernet9|9.0.0.0/31",
        "Ethernet9|10.0.0.0/31",
        "Ethernet10",
    ]


@given(st.dictionaries(port_like, st.dictionaries(port_like, rows, max_size=4), max_size=4))
def test_dump_is_what_config_save_writes(config: Config) -> None:
    assert dump(config).decode() == config_save(config)


@given(configs, st.randoms())
def test_dump_reads_back_and_the_order_of_the_input_changes_nothing(config: Config, random: Random) -> None:
    def shuffled(mapping: dict[str, object]) -> dict[str, object]:
        items = list(mapping.items())
        random.shuffle(items)
        return {key: shuffled(value) if isinstance(value, dict) else value for key, value in items}

    assert dump(config) == dump(shuffled(config))
    assert json.loads(dump(config)) == {table: rows for table, rows in config.items() if rows}


def test_list_fields_sort_by_their_redis_name() -> None:
    """'a@' comes after 'a-b' and 'a0' there, although 'a' comes before them."""
    assert list(json.loads(dump_row({"a-b": "1", "a": ["2"], "a0": "3"}))) == ["a-b", "a0", "a"]


def test_equal_rows_and_unusual_content() -> None:
    shared_row = {"profile": "é\u2028"}
    text = dump({"T": {"b": shared_row, "a": shared_row}, "EMPTY": {}, "E": {"x": {}}})
    assert text == (
        b'{\n    "E": {\n        "x": {}\n    },\n    "T": {\n'
        b'        "a": {\n            "profile": "\\u00e9\\u2028"\n        },\n'
        b'        "b": {\n            "profile": "\\u00e9\\u2028"\n        }\n    }\n}'
    )
    assert dump({}) == dump({"EMPTY": {}}) == b"{}"
