"""Dumps of Redis are not config_db.json files, and are never judged as a switch without rows."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli

ROW = {"lanes": "1,2", "speed": "100000"}
DUMPS: dict[str, Any] = {
    "flat keys of CONFIG_DB": {"PORT|Ethernet0": ROW, "INTERFACE|Ethernet0|10.0.0.0/31": {"NULL": "NULL"}},
    "redis-dump-load": {"PORT|Ethernet0": {"type": "hash", "ttl": -1, "value": ROW}, "CONFIG_DB_INITIALIZED": {}},
    "APPL_DB": {"PORT_TABLE:Ethernet0": ROW, "PORT_TABLE:PortInitDone": {"lanes": "0"}},
    "STATE_DB": {"PORT_TABLE|Ethernet0": {"state": "ok"}},
    "ASIC_DB": {"ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x1": {"SAI_PORT_ATTR_SPEED": "100000"}},
    "a database by name": {"CONFIG_DB": {"PORT": {"Ethernet0": ROW}}},
    "swssconfig": [{"PORT_TABLE:Ethernet0": ROW, "OP": "SET"}],
    "COUNTERS_DB": {
        "COUNTERS:oid:0x1": {"SAI_PORT_STAT_IF_IN_OCTETS": "1"},
        "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "1"},
    },
    "sonic-db-dump": {"PORT|Ethernet0": {"expireat": 1.0, "ttl": -0.001, "type": "hash", "value": ROW}},
    "keys with lists": {"PORT|Ethernet0": ROW, "ACL_TABLE|DATA": {"ports@": "Ethernet0,Ethernet4"}},
    "half tables": {"PORT": {"Ethernet0": ROW}, "PORT|Ethernet4": ROW, "VLAN|Vlan7": {"vlanid": "7"}},
    "a database by number": {"4": {"PORT|Ethernet0": ROW}},
    "gNMI": {"notification": [{"update": []}]},
    "YANG": {"sonic-port:sonic-port": {"sonic-port:PORT": {"PORT_LIST": [{"name": "Ethernet0"}]}}},
    "OpenConfig": {"openconfig-interfaces:interfaces": {"interface": []}},
    "small letters": {"port": {"ethernet0": ROW}},
    "tables in a member": {"config_db": {"PORT": {"Ethernet0": ROW}}},
    "a list of keys": ["PORT|Ethernet0"],
    "a text": "PORT",
    "a number": 1,
}


@pytest.mark.parametrize("kind", DUMPS)
@pytest.mark.parametrize("verb", [("validate",), ("simulate", "deadlock"), ("import", "config-db")], ids=" ".join)
def test_a_dump_is_refused_in_one_line(cli: Cli, tmp_path: Path, kind: str, verb: tuple[str, ...]) -> None:
    (tmp_path / "dump.json").write_text(json.dumps(DUMPS[kind]))
    outcome = cli("-q", *verb, tmp_path / "dump.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{tmp_path / 'dump.json'}:1:1" in outcome.err and len(outcome.err.splitlines()) == 1
    if isinstance(DUMPS[kind], dict):
        assert "sonic-cfggen -d --print-data" in outcome.err


FILE = json.dumps({"DEVICE_METADATA": {"localhost": {"hwsku": "X"}}, "PORT": {"Ethernet0": ROW}}, indent=1)
OTHERS: dict[str, tuple[bytes, str]] = {
    "gzip": (gzip.compress(FILE.encode()), ":1:1: not JSON: the file is compressed"),
    "Redis' own file": (b"REDIS0009\xfa\x09redis-ver\x056.0.6\xfe\x04\xff", ":1:1: not JSON: a file of Redis"),
    "redis-cli": (b'1) "lanes"\n2) "1,2"\n', ":1:2: not JSON: an answer of Redis"),
    "protocol of Redis": (b"*3\r\n$4\r\nHSET\r\n", ":1:1: not JSON: an answer of Redis"),
    "redis-cli --csv": (b'"lanes","1,2"\n', ":1:8: not JSON"),
    "byte order mark": (b"\xef\xbb\xbf" + FILE.encode(), ":1:1: not JSON: the file begins with a byte order mark"),
    "UTF-16": (FILE.encode("utf-16"), ":1:1: not JSON: the file is UTF-16"),
    "Latin-1": (FILE.replace("X", "é").encode("latin-1"), ":1:1: not JSON: the file is not UTF-8 text"),
    "minigraph": (b'<?xml version="1.0"?>\n<DeviceMiniGraph/>', ":1:1: not JSON: a minigraph"),
    "HTML": (b"<html>404</html>", ":1:1: not JSON: the file is XML or HTML"),
    "YAML": (b"PORT:\n  Ethernet0:\n    lanes: '1'\n", ":1:1: not JSON: the file is YAML"),
    "comments": (b"// saved\n" + FILE.encode(), ":1:1: not JSON: JSON does not have comments"),
    "single quotes": (FILE.replace('"', "'").encode(), ":2:2: not JSON"),
    "names without quotes": (FILE.replace('"PORT"', "PORT").encode(), ":7:2: not JSON"),
    "NaN": (FILE.replace('"100000"', "NaN").encode(), ":10:13: not JSON"),
    "a huge number": (FILE.replace('"100000"', "1" + 400 * "0").encode(), ":10:13: not JSON"),
    "text before it": (b"Running command: show\n" + FILE.encode(), ":1:1: not JSON"),
    "a prompt after it": (FILE.encode() + b"\nadmin@sonic:~$ ", ":14:1: not JSON"),
    "two documents": (FILE.encode() + b"\n" + FILE.encode(), ":14:1: not JSON"),
    "truncated": (FILE[:-20].encode(), ":10:10: not JSON"),
    "deep": (b'{"A":' * 2000 + b"1" + b"}" * 2000, ":1:5122: not JSON"),
    "two tables": (b'{"PORT": {},\n "PORT": {}}', ':2:2: a second "PORT"'),
    "two rows": (b'{"PORT": {"a": {"x": "1"},\n  "a": {"x": "1"}}}', ':2:3: a second "a"'),
    "two fields": (b'{"PORT": {"a": {"mtu": "1",\n  "lanes": "1", "mtu": "2"}}}', ':2:17: a second "mtu"'),
    "two names with a blank": (b'{"PORT" : {"a" : {}, "a" : {}}}', ':1:22: a second "a"'),
    "empty": (b"", ":1:1: not JSON"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_not_json_has_its_place_and_its_name(cli: Cli, tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.json").write_bytes(OTHERS[kind][0])
    outcome = cli("-q", "validate", tmp_path / "a.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{tmp_path / 'a.json'}{OTHERS[kind][1]}" in outcome.err and len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("value", ['"a"', '"a\\": b"', '["a", "b"]', '{"b": {"c": "d"}}', "7"])
def test_names_are_counted_in_texts_and_values_of_any_kind(cli: Cli, tmp_path: Path, value: str) -> None:
    """Only names that an object has twice are refused."""
    (tmp_path / "a.json").write_text(f'{{"VLAN": {{"Vlan7": {{"x": {value}, "y": {value}}}}}}}')
    assert cli("-q", "validate", tmp_path / "a.json").code in (0, 1)


def test_a_trailing_comma_has_its_place(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"PORT": {\n  "Ethernet0": {"lanes": "1"},\n}}')
    outcome = cli("-q", "validate", tmp_path / "a.json")
    assert outcome.code == 2 and f"{tmp_path / 'a.json'}:2:30: not JSON" in outcome.err


def test_one_odd_member_of_a_file_is_a_finding(cli: Cli, tmp_path: Path) -> None:
    """A person's mistake in one name does not make it a dump."""
    tables = {"PORT": {"Ethernet0": ROW}, "DEVICE_METADATA": {"localhost": {"hwsku": "X"}}, "PORT|Ethernet4": ROW}
    (tmp_path / "a.json").write_text(json.dumps(tables))
    outcome = cli("-q", "validate", tmp_path / "a.json", "--select", "FG401")
    assert outcome.code in (0, 1) and "FG401" in outcome.out
