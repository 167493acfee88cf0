"""Seeded faults are found, files of any shape are judged, secrets stay secret, meant variants are left alone."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.mutants import level, mutants
from fabricgen.bundle.read import open_bundle
from fabricgen.rules.run import run
from tests.examples import examples
from tests.rules.clean import clean_fabric

ODD = st.one_of(st.none(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
ROWS = st.dictionaries(st.sampled_from(["action", "asn", "name", "profile", "lanes", "3", "pfc_enable"]), ODD)
KEYS = st.sampled_from(["Ethernet0", "Ethernet0|3-4", "Ethernet0,Ethernet4|3", "10.0.0.1", "AZURE", "GLOBAL", "|", ""])
TABLES = st.sampled_from([
    "PORT", "BGP_NEIGHBOR", "PORT_QOS_MAP", "BUFFER_PG", "QUEUE", "PFC_WD", "DSCP_TO_TC_MAP", "INTERFACE", "SCHEDULER",
    "CABLE_LENGTH", "DEVICE_NEIGHBOR", "DEVICE_METADATA", "STATIC_ROUTE", "MGMT_INTERFACE", "BUFFER_PROFILE",
])  # fmt: skip


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_seeded_faults_are_found_at_device_and_table(model: str, count: int) -> None:
    """`count` faults of each table."""
    bundle = clean_fabric(model).bundle()
    reached = [(str(mutant), level(bundle, mutant, [mutant.device])[0]) for mutant in mutants(bundle, count, seed=3)]
    survivors = [one for one in reached if one[1] in ("missed", "device")]
    assert len(survivors) <= count, survivors


@settings(max_examples=examples(60), deadline=None)
@given(
    st.dictionaries(TABLES, st.one_of(ODD, st.dictionaries(KEYS, st.one_of(ODD, ROWS), max_size=4)), max_size=6).filter(
        lambda config: any(config.values())
    )
)
def test_no_file_breaks_a_rule(tmp_path_factory: pytest.TempPathFactory, config: dict[str, Any]) -> None:
    file = tmp_path_factory.mktemp("any") / "config_db.json"
    file.write_text(json.dumps(config))
    run(open_bundle([file]))


def test_a_pair_of_loose_files_is_judged_across_their_link(tmp_path: Path) -> None:
    fabric = clean_fabric()
    fabric.configs["leaf1"]["PORT"]["Ethernet256"]["mtu"] = "9000"
    for name in ("leaf1", "spine1"):
        (tmp_path / f"{name}.json").write_text(json.dumps(fabric.configs[name]))
    bundle = open_bundle([tmp_path])
    assert [(finding.code, finding.path) for finding in run(bundle)] == [("FG243", "PORT|Ethernet256|mtu")]


def test_a_secret_is_never_printed() -> None:
    fabric = clean_fabric()
    for name, config in fabric.configs.items():
        config["TACPLUS_SERVER"] = {
            "10.255.0.9": {"priority": "1", "passkey": f"same{'' if name != 'leaf1' else ' one'}"}
        }
    findings = fabric.judge()
    assert {finding.device for finding in findings if finding.code != "FG430"} == {"leaf1"}
    assert not any("same" in finding.message + finding.hint for finding in findings)


def test_what_all_switches_of_a_rail_have_alike_is_meant() -> None:
    fabric = clean_fabric()
    assert fabric.wiring
    rails = {"leaf1": 0, "leaf2": 0, "leaf3": 1, "leaf4": 2, "leaf5": 2}
    for name in ("leaf4", "leaf5"):
        fabric.configs[name] = copy.deepcopy(fabric.configs["leaf3"])
    devices = {device.name: device for device in fabric.wiring.devices}
    wired = tuple(replace(devices.get(name, devices["leaf3"]), name=name, rail=rail) for name, rail in rails.items())
    fabric.wiring = replace(fabric.wiring, devices=wired, links=(), cables=())
    del fabric.configs["spine1"], fabric.configs["spine2"], fabric.configs["spine3"]
    for name in ("leaf1", "leaf2"):
        fabric.configs[name]["SYSLOG_SERVER"] = {"10.255.0.7": {}}
    assert fabric.judge("FG592") == []
    fabric.configs["leaf3"]["SYSLOG_SERVER"] = {"10.255.0.8": {}}
    assert [(finding.device, finding.path) for finding in fabric.judge("FG592")] == [
        ("leaf3", "SYSLOG_SERVER|10.255.0.8")
    ]
