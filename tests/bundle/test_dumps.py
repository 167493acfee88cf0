"""Dumps of Redis are not config_db.json files, and are never judged as a switch without rows."""

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
    "a list of keys": ["PORT|Ethernet0"],
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
