"""What libyang accepts and refuses, and where: one defect, one violation at its place."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.errors import UsageError
from fabricgen.sonic.yang import Models, check, load_models

CONFIG: dict[str, dict[str, dict[str, Any]]] = {
    "PORT": {
        "Ethernet0": {
            "speed": "400000",
            "fec": "rs",
            "adv_speeds": "100000, 400000",
            "mode": "trunk",
            "native_vlan": "1",
        },
        "Ethernet8": {"speed": "400000", "adv_speeds": "all", "peer_note": "5 < 6 & \n\u00e9"},
    },
    "DSCP_TO_TC_MAP": {"AZURE": {"26": "3", "48": "6"}, "EMPTY": {}},
    "PORT_QOS_MAP": {
        "global": {"default_map": "AZURE"},
        "Ethernet0": {"map": "AZURE", "enabled": "true"},
        "Ethernet8": {},
    },
    "WRED_PROFILE": {"w": {"low": "10", "high": "20"}},
    "MEMBER": {"g": {"description": "both", "tags": ["a", "b"]}, "g|Ethernet0": {"weight": "1"}, "h": {"tags": [""]}},
    "NOT_OURS": {"any": {"thing": 1}},
}


def changed(table: str, key: str, **fields: Any) -> dict[str, Any]:
    """CONFIG with fields of one row changed, or removed by None."""
    config = copy.deepcopy(CONFIG)
    row = config[table].setdefault(key, {})
    row.update({name.removeprefix("_"): value for name, value in fields.items()})
    for name in [name for name, value in row.items() if value is None]:
        del row[name]
    return config


def places(models: Models, config: Any) -> list[tuple[str, str, str]]:
    return [(one.table, one.key, one.field) for one in check(models, config)]


def test_a_good_file_is_accepted(models: Models) -> None:
    assert check(models, CONFIG) == []
    assert check(models, {}) == []


@pytest.mark.parametrize(
    ("table", "key", "fields", "field", "words"),
    [
        ("PORT", "Ethernet0", {"fec": "rs544"}, "fec", "rs|none"),
        ("PORT", "Ethernet0", {"speed": "0"}, "speed", "range"),
        ("PORT", "Ethernet0", {"speed": "fast"}, "speed", "whole number"),
        ("PORT", "Ethernet0", {"speed": None}, "speed", "Mandatory"),
        ("PORT", "Ethernet0", {"mode": "hybrid"}, "mode", "hybrid"),
        ("PORT", "Ethernet0", {"mode": "access"}, "native_vlan", "When condition"),
        ("PORT", "Ethernet8", {"adv_speeds": "all,100"}, "", "all stands alone"),
        ("PORT", "Ethernet8", {"adv_speeds": "100,fast"}, "adv_speeds", "fast"),
        ("PORT", "Ethernet8", {"fecs": "rs"}, "fecs", "does not have this field"),
        ("PORT", "Ethernet8", {"peer_note": "a\x00b"}, "peer_note", "control character"),
        ("PORT", "Ethernet8", {"peer_note": ["a"]}, "peer_note", "not a text"),
        ("PORT", "eth0", {"speed": "1"}, "", "Ethernet[0-9]+"),
        ("PORT", "Ethernet0|x", {}, "", "expected <name>"),
        ("MEMBER", "g|Ethernet16", {}, "", "no row of PORT has the name 'Ethernet16'"),
        ("MEMBER", "g|Ethernet8", {"weight": "300"}, "weight", "300"),
        ("MEMBER", "g", {"weight": "3"}, "weight", "does not have this field"),
        ("MEMBER", "g", {"tags": "abc"}, "tags", "list of texts"),
        ("MEMBER", "g", {"tags": ["a", "much too long"]}, "tags", "length"),
        ("DSCP_TO_TC_MAP", "AZURE", {"_64": "1"}, "64", "range"),
        ("DSCP_TO_TC_MAP", "AZURE", {"_26": "8"}, "26", "range"),
        ("PORT_QOS_MAP", "Ethernet0", {"map": "AZUER"}, "map", "no row of DSCP_TO_TC_MAP has the name 'AZUER'"),
        (
            "PORT_QOS_MAP",
            "global",
            {"default_map": "AZUER"},
            "default_map",
            "no row of DSCP_TO_TC_MAP has the name 'AZUER'",
        ),
        ("PORT_QOS_MAP", "Ethernet0", {"enabled": True}, "enabled", "True"),
        ("WRED_PROFILE", "w", {"high": "9"}, "high", "high must not be below low"),
    ],
)
def test_one_defect_one_violation(
    models: Models, table: str, key: str, fields: dict[str, Any], field: str, words: str
) -> None:
    (found,) = check(models, changed(table, key, **fields))
    assert (found.table, found.key, found.field) == (table, key, field)
    assert words in found.message


@pytest.mark.parametrize("table", [None, [], "x", 3])
def test_a_table_of_no_rows(models: Models, table: Any) -> None:
    assert places(models, {"WRED_PROFILE": table}) == [("WRED_PROFILE", "", "")]
    assert places(models, {"WRED_PROFILE": {"w": table}}) == [("WRED_PROFILE", "w", "")]


def test_a_leaf_of_the_key_given_as_a_field_counts(models: Models) -> None:
    assert check(models, changed("PORT", "Ethernet0", name="Ethernet0")) == []
    named = changed("PORT", "Ethernet8", name="Ethernet24")
    assert places(models, named) == [("PORT_QOS_MAP", "Ethernet8", "")]
    assert places(models, changed("PORT", "Ethernet8", name="eth0"))[0] == ("PORT", "Ethernet8", "")


def test_a_limit_of_rows(models: Models) -> None:
    assert places(models, {"LIMITED": {"a": {}}}) == []
    ((table, _, _),) = places(models, {"LIMITED": {"a": {}, "b": {}}})
    assert table == "LIMITED"


def test_keys_that_differ_in_blanks_only_are_one_row_twice(models: Models) -> None:
    assert places(models, {"WRED_PROFILE": {"w": {}, "w ": {}}}) == [("WRED_PROFILE", "w ", "")]
    assert places(models, {"DSCP_TO_TC_MAP": {"": {}, "\n": {}}}) == [("DSCP_TO_TC_MAP", "\n", "")]


def test_a_place_that_no_path_can_name_is_that_of_the_table(models: Models) -> None:
    config = {"WRED_PROFILE": {"w": {"low": "1"}, "'\"]": {"low": "2", "high": "1"}}}
    assert places(models, config) == [("WRED_PROFILE", "", "")]


def test_all_defects_at_once(models: Models) -> None:
    config = changed("PORT", "Ethernet0", fec="rs544", speed="0")
    config["WRED_PROFILE"]["w"]["high"] = "9"
    config["PORT_QOS_MAP"] |= {"Ethernet16": {}, "Ethernet24": {}}
    assert sorted(places(models, config)) == [
        ("PORT", "Ethernet0", "fec"),
        ("PORT", "Ethernet0", "speed"),
        ("PORT_QOS_MAP", "Ethernet16", ""),
        ("PORT_QOS_MAP", "Ethernet24", ""),
        ("WRED_PROFILE", "w", "high"),
    ]


def test_what_follows_from_a_defect_is_not_reported(models: Models) -> None:
    """The port is left out, and everything that refers to it."""
    assert places(models, changed("PORT", "Ethernet0", speed=None)) == [("PORT", "Ethernet0", "speed")]


def test_equal_defects_of_many_rows_cost_one_question(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    ask = Models.refusal
    monkeypatch.setattr(Models, "refusal", lambda self, xml: calls.append(1) or ask(self, xml))
    config = {"PORT": {f"Ethernet{n}": {"speed": "1", "fec": "fc"} for n in range(100)}}
    config |= {"PORT_QOS_MAP": {f"Ethernet{n}": {"map": f"m{n}"} for n in range(100)}}
    assert len(check(models, config)) == 200
    assert len(calls) == 3


def test_a_reference_into_an_empty_table(models: Models) -> None:
    config = copy.deepcopy(CONFIG)
    del config["PORT"]
    found = check(models, config)
    names = {one.key.split("|")[-1] for one in found}
    assert names == {"Ethernet0", "Ethernet8"}
    assert all(one.message.endswith(f"{one.key.split('|')[-1]!r}") for one in found)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
def test_any_json_gets_a_verdict(models: Models, data: st.DataObject) -> None:
    names = st.sampled_from(["speed", "adv_speeds", "map", "26", "low", "tags", "x"]) | st.text(max_size=5)
    keys = st.sampled_from(["Ethernet0", "a", "a|b", "global", "g|Ethernet0", "", "|", "'\"]"]) | st.text(max_size=5)
    table = data.draw(st.sampled_from(sorted(models.tables)))
    row = st.dictionaries(names, json_values, max_size=4)
    config = {table: data.draw(st.dictionaries(keys, row | json_values, max_size=3) | json_values)}
    before = copy.deepcopy(config)
    assert {one.table for one in check(models, config)} <= {table}
    assert config == before


def test_models_that_cannot_be_loaded_are_explained(models: Models, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no \*\.yang files"):
        load_models(tmp_path)
    (tmp_path / "site-qos.yang").write_bytes((models.folder / "site-qos.yang").read_bytes())
    with pytest.raises(UsageError, match=r"site-qos\.yang needs site-types\.yang"):
        load_models(tmp_path)
    (tmp_path / "site-qos.yang").write_text("module site-qos { nonsense }")
    with pytest.raises(UsageError, match=r"cannot load site-qos\.yang: "):
        load_models(tmp_path)
