"""Tables of files that are loaded: equal texts become one object."""

import json

from fabricgen.sonic.dump import dump
from fabricgen.sonic.load import TableLoader
from fabricgen.sonic.tables import SameTable

TABLES = {"PORT": {"Ethernet0": {"lanes": "1"}}, "VLAN": {"Vlan10": {"vlanid": "10"}}}


def test_equal_texts_are_one_object() -> None:
    loader = TableLoader()
    one = loader.load(dump(TABLES))
    other = loader.load(dump(TABLES | {"VLAN": {}}))
    assert one["PORT"] is other["PORT"]
    assert SameTable(one["PORT"]) == SameTable(other["PORT"])


def test_equal_tables_of_different_texts_are_different_keys() -> None:
    loader = TableLoader()
    one = loader.load(dump(TABLES))["PORT"]
    other = loader.load(dump(TABLES).replace(b'"1"', b' "1"'))["PORT"]
    assert one == other
    assert SameTable(one) != SameTable(other)
    assert SameTable(one) != one


def test_a_file_in_another_layout_is_parsed_as_a_whole() -> None:
    tables = TableLoader().load(json.dumps(TABLES).encode())
    assert tables == TABLES
