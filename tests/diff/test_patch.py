"""Patches applied by jsonpatch, the library that the updater itself uses, lead to the new configuration."""

import json
import tempfile
from pathlib import Path
from typing import Any

import jsonpatch
import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.diff.changes import changes
from fabricgen.diff.counts import count
from fabricgen.diff.difference import compare
from fabricgen.diff.patch import operations, pointer
from fabricgen.diff.sides import open_side
from fabricgen.report.diff_json import patch_object
from fabricgen.sonic.updater.verdicts import Cost
from tests.examples import examples

Config = dict[str, dict[str, dict[str, Any]]]
KEYS = st.sampled_from(["Ethernet0", "Ethernet4|10.0.0.1/31", "a~b", "a/b~1", "~0", "é", "with blank", "-", "0", ""])
FIELDS = st.sampled_from(["mtu", "f/g", "~f", "speed", "-", "0", "xoff"])
VALUES = st.text(max_size=3) | st.lists(st.text(max_size=2), max_size=3)
TABLES = st.sampled_from(["PORT", "BUFFER_PROFILE", "PFC_WD", "QUEUE", "ACL_TABLE", "X/Y", "Z~"])
ROWS = st.dictionaries(KEYS, st.dictionaries(FIELDS, VALUES, max_size=4), min_size=1, max_size=5)
CONFIGS = st.dictionaries(TABLES, ROWS, max_size=4)


def applied(old: Config, new: Config) -> tuple[Config, list[dict[str, Any]]]:
    """The old configuration after the patch, and the patch as people get it."""
    patch = [operation.json for operation in operations(changes(old, new), old, new)]
    result: Config = jsonpatch.apply_patch(old, json.loads(json.dumps(patch)))
    return result, patch


def differing(old: Config, new: Config) -> int:
    """Rows that come or go and fields of other rows that differ, counted without the code under test."""
    total = 0
    for table in old.keys() | new.keys():
        before, after = old.get(table, {}), new.get(table, {})
        total += len(before.keys() ^ after.keys())
        for key in before.keys() & after.keys():
            fields = before[key].keys() | after[key].keys()
            total += sum(before[key].get(field) != after[key].get(field) for field in fields)
    return total


@given(CONFIGS, CONFIGS)
def test_the_patch_leads_to_the_new_configuration(old: Config, new: Config) -> None:
    result, patch = applied(old, new)
    assert result == new
    tables = [each for each in patch if each["path"].count("/") == 1]
    assert len(patch) - len(tables) == differing(old, new)
    assert all(each == {"op": "add", "path": each["path"], "value": {}} for each in tables if each["op"] == "add")
    assert len(tables) == len(old.keys() ^ new.keys())


@given(CONFIGS, st.data())
def test_few_operations_for_few_changes(old: Config, data: st.DataObject) -> None:
    """A few edits of an existing configuration: no operation touches a table, and there is one for each."""
    new: Config = json.loads(json.dumps(old))
    for table, rows in new.items():
        key = data.draw(st.sampled_from(sorted(rows)))
        rows[key][data.draw(FIELDS)] = data.draw(VALUES)
        rows[data.draw(KEYS)] = data.draw(st.dictionaries(FIELDS, VALUES, max_size=2))
        assert table in old
    result, patch = applied(old, new)
    assert result == new and len(patch) <= 1.2 * differing(old, new)
    assert all(each["path"].count("/") >= 2 for each in patch)


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(CONFIGS, CONFIGS, st.sampled_from([None, 2, 4])), min_size=1, max_size=3))
def test_pairs_of_bundles(devices: list[tuple[Config, Config, Any]]) -> None:
    """From the files of two bundles to the object that people get, whatever the files' layout."""
    with tempfile.TemporaryDirectory() as folder:
        for number, (*sides, indent) in enumerate(devices):
            for name, config in zip(("old", "new"), sides, strict=True):
                file = Path(folder, name, "sonic", f"leaf{number}", "config_db.json")
                file.parent.mkdir(parents=True)
                file.write_text(json.dumps(config, indent=indent))
        old, new = (open_side(Path(folder, name), "bundle") for name in ("old", "new"))
        difference = compare(old, new)
        found = json.loads(orjson.dumps(patch_object("1", difference, count(difference))))
    for number, (before, after, _) in enumerate(devices):
        patch = found["devices"].get(f"leaf{number}", {"patch": []})["patch"]
        assert jsonpatch.apply_patch(before, patch) == after


def test_a_table_opens_empty_and_closes_after_its_last_row() -> None:
    old: Config = {"A": {"x": {"f": "1"}, "y": {}}, "SAME": {"k": {}}}
    new: Config = {"B": {"z": {"f": "1"}}, "SAME": {"k": {}}}
    _, patch = applied(old, new)
    assert patch == [
        {"op": "add", "path": "/B", "value": {}},
        {"op": "remove", "path": "/A/x"},
        {"op": "remove", "path": "/A/y"},
        {"op": "add", "path": "/B/z", "value": {"f": "1"}},
        {"op": "remove", "path": "/A"},
    ]


def test_an_empty_table_of_the_file_is_left_as_it_is() -> None:
    """Redis holds none, but a file that a person edited may: applying the patch to the file still gives the file."""
    for old, new in (
        ({"A": {"x": {}}}, {"A": {}}),
        ({"A": {}}, {"A": {"x": {}}}),
    ):
        result, patch = applied(old, new)
        assert result == new and len(patch) == 1


def test_pointers_escape() -> None:
    assert pointer("INTERFACE", "Ethernet0|10.0.0.0/31") == "/INTERFACE/Ethernet0|10.0.0.0~131"
    assert pointer("T", "~1/") == "/T/~01~1"


def test_secrets_and_references_to_them_stay_out_of_patches() -> None:
    """The updater would take `${secret:b}` as the secret."""
    old: Config = {"TACPLUS": {"global": {"passkey": "old"}}, "SNMP_COMMUNITY": {"${secret:a}": {"TYPE": "RO"}}}
    new: Config = {
        "TACPLUS": {"global": {"passkey": "hunter2", "timeout": "5"}},
        "SNMP_COMMUNITY": {"${secret:b}": {"TYPE": "RO"}, "hunter3": {"TYPE": "RO"}},
    }
    patch = operations(changes(old, new), old, new)
    assert "hunter" not in json.dumps([each.json for each in patch])
    assert [each.path for each in patch] == ["/TACPLUS/global/timeout"]
    referring = old | {"TACPLUS": {"global": {"passkey": "${secret:tacacs/key}"}}}
    assert operations(changes(old, referring), old, referring) == []
    assert operations(changes({}, referring), {}, referring) == []
    assert {each.verdict.cost for each in patch} == {Cost.CHEAP}
