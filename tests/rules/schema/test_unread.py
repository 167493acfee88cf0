"""A table that can stop traffic and that no rule reads is part of the verdict; a table that a rule reads is not."""

import json
from pathlib import Path

import pytest

from fabricgen.rules.run import run
from fabricgen.sonic.schema import table_names
from fabricgen.sonic.traffic_tables import TRAFFIC_TABLES
from tests.conftest import Cli
from tests.rules.clean import clean_fabric

# What a rule reads by its meaning; the list is derived, and these must not be on it.
READ = {
    "COPP_GROUP": {"queue1_group3": {"trap_action": "trap", "meter_type": "packets", "mode": "sr_tcm"}},
    "MIRROR_SESSION": {"m": {"type": "ERSPAN", "src_ip": "10.0.0.1", "dst_ip": "10.64.0.9", "dscp": "8"}},
    "ACL_TABLE": {"DATA": {"type": "L3", "policy_desc": "x", "ports": ["Ethernet0"]}},
    "FEATURE": {"bgp": {"state": "enabled"}},
    "BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": "false"}},
}


def test_tables_have_models() -> None:
    assert TRAFFIC_TABLES.keys() <= table_names()


@pytest.mark.parametrize("table", READ)
def test_a_table_that_a_rule_reads_is_not_listed(table: str) -> None:
    fabric = clean_fabric()
    for config in fabric.configs.values():
        config[table] = READ[table]
    assert run(fabric.bundle(), ("FG415",)) == []


@pytest.mark.parametrize("everywhere", [False, True])
def test_the_verdict_says_what_it_does_not_cover(everywhere: bool, cli: Cli, tmp_path: Path) -> None:
    fabric = clean_fabric()
    for name, config in fabric.configs.items():
        if everywhere or name == "leaf1":
            config["NAT_POOL"] = {"pool1": {"nat_ip": "192.0.2.1"}}
            config["STP"] = {"GLOBAL": {"mode": "pvst"}}
    fabric.bundle(tmp_path / "sonic")
    outcome = cli("validate", tmp_path / "sonic", "--select", "FG415", "--format", "json")
    report = json.loads(outcome.out)
    assert report["not_judged"] == ["NAT_POOL, STP (tables that can stop traffic, which no rule reads)"]
    head = cli("validate", tmp_path / "sonic", "--select", "FG415").out.splitlines()[:2]
    assert head[1].startswith("not judged: NAT_POOL, STP ")
