"""Tables of files that are loaded: equal texts become one object."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.same import Same
from fabricgen.sonic.dump import dump
from fabricgen.sonic.load import RepeatedNameError, TableLoader

TABLES = {"PORT": {"Ethernet0": {"lanes": "1"}}, "VLAN": {"Vlan10": {"vlanid": "10"}}}


def test_equal_texts_are_one_object() -> None:
    loader = TableLoader()
    one = loader.load(dump(TABLES))
    other = loader.load(dump(TABLES | {"VLAN": {}}))
    assert one["PORT"] is other["PORT"]
    assert Same(one["PORT"]) == Same(other["PORT"])


def test_equal_tables_of_different_texts_are_different_keys() -> None:
    loader = TableLoader()
    one = loader.load(dump(TABLES))["PORT"]
    other = loader.load(dump(TABLES).replace(b'"1"', b' "1"'))["PORT"]
    assert one == other
    assert Same(one) != Same(other)
    assert Same(one) != one


def test_a_file_in_another_layout_is_parsed_as_a_whole() -> None:
    tables = TableLoader().load(json.dumps(TABLES).encode())
    assert tables == TABLES


def saved(config: object) -> bytes:
    """The layout of `config save`, with values of any type."""
    return json.dumps(config, indent=4).encode()


def kept(loader: TableLoader, text: bytes) -> dict[str, Any]:
    """The members of a file whose tables stay in memory."""
    return loader.load_all(text, are_kept=True)[0]


def test_equal_texts_of_rows_are_one_object_and_other_values_stay() -> None:
    loader = TableLoader()
    rows = {"a": {"x": "some text", "y": True}, "b": {"x": "some text", "y": 1}, "c": {}}
    one = kept(loader, saved({"T": rows}))["T"]
    other = kept(loader, saved({"T": rows | {"d": {"x": "some text", "y": 1.0}}}))["T"]
    assert one["a"]["x"] is one["b"]["x"] is other["d"]["x"]
    assert [str(row.get("y")) for row in other.values()] == ["True", "1", "None", "1.0"]


def test_rows_about_a_neighbor_are_one_object_if_they_are_equal() -> None:
    loader = TableLoader()
    rows = {"spine1": {"type": "LeafRouter"}}
    first, same, wrong = (
        kept(loader, dump({"DEVICE_NEIGHBOR_METADATA": rows | {f"leaf{number}": {}} | odd}))["DEVICE_NEIGHBOR_METADATA"]
        for number, odd in ((1, {}), (2, {}), (3, {"spine1": {"type": "SpineRouter"}}))
    )
    assert first["spine1"] is same["spine1"] and wrong["spine1"] == {"type": "SpineRouter"}


_ROWS = st.dictionaries(st.text(), st.dictionaries(st.text(), st.text()))


@given(st.lists(st.tuples(st.sampled_from("ABC"), _ROWS)), st.sampled_from("ABD"))
def test_one_table_is_the_one_of_the_whole_file(members: list[tuple[str, Any]], name: str) -> None:
    texts = [saved({table: rows}).decode().removeprefix("{\n").removesuffix("\n}") for table, rows in members]
    text = ("{\n" + ",\n".join(texts) + "\n}").encode()
    loader = TableLoader()
    if len(dict(members)) < len(members):
        with pytest.raises(RepeatedNameError, match=f'a second "[{"".join(dict(members))}]" in one object'):
            loader.load_all(text)
        return
    whole = loader.load_all(text)[0]
    assert whole == dict(members)
    assert loader.load_table(text, name) == whole.get(name)
