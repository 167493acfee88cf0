"""Tables of files that are loaded: equal texts become one object."""

import copy
import json
import pickle

from fabricgen.sonic.dump import dump
from fabricgen.sonic.load import LoadedTable, TableLoader

TABLES = {"PORT": {"Ethernet0": {"lanes": "1"}}, "VLAN": {"Vlan10": {"vlanid": "10"}}}


def test_equal_texts_are_one_object() -> None:
    loader = TableLoader()
    one = loader.load(dump(TABLES))
    other = loader.load(dump(TABLES | {"VLAN": {}}))
    assert one["PORT"] is other["PORT"]
    assert isinstance(one["PORT"], LoadedTable)
    assert b'"Ethernet0"' in one["PORT"].text and b"Vlan10" not in one["PORT"].text


def test_different_texts_are_different_keys() -> None:
    loader = TableLoader()
    one = loader.load(dump(TABLES))["PORT"]
    other = loader.load(dump({"PORT": {"Ethernet0": {"lanes": "2"}}}))["PORT"]
    assert isinstance(one, LoadedTable) and isinstance(other, LoadedTable)
    assert one.text != other.text


def test_a_copy_that_can_be_changed_has_no_text() -> None:
    table = TableLoader().load(dump(TABLES))["PORT"]
    changed = copy.deepcopy(table)
    assert changed == table and not isinstance(changed, LoadedTable)
    sent = pickle.loads(pickle.dumps(table))
    assert isinstance(sent, LoadedTable) and isinstance(table, LoadedTable)
    assert (sent, sent.text) == (table, table.text)


def test_a_file_in_another_layout_has_plain_tables() -> None:
    tables = TableLoader().load(json.dumps(TABLES).encode())
    assert tables == TABLES
    assert not isinstance(tables["PORT"], LoadedTable)
