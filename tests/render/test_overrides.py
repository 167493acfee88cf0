"""A person's own rows: merged last, by pattern, removed by null; matched by what a switch is."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.sources import read_sources
from fabricgen.inventory.nodes import SecretReference
from fabricgen.render.plans import make_plans
from tests.conftest import Cli
from tests.inventories import Tree, explicit, rail_optimized, write

Config = dict[str, dict[str, dict[str, Any]]]


def with_override(match: Tree, **config_db: Any) -> Tree:
    return {**explicit(), "overrides": [{"match": match, "config_db": config_db}]}


def configs(cli: Cli, folder: Path, tree: Tree) -> dict[str, Config]:
    outcome = cli("render", write(folder / "inventory", tree), "-o", folder / "b", "-q")
    assert outcome.code == 0, outcome.out
    return {file.parent.name: json.loads(file.read_text()) for file in folder.glob("b/sonic/*/config_db.json")}


def test_fields_merge_and_null_removes(cli: Cli, tmp_path: Path) -> None:
    plain = configs(cli, tmp_path / "plain", explicit())["leaf1"]
    tree = with_override(
        {"name": "leaf1"},
        PORT={"Ethernet0": {"mtu": 9000, "fec": None, "tpid": "0x8100"}, "Ethernet8": None},
        NTP_SERVER=None,
        VLAN={"Vlan10": {"vlanid": 10, "members": ["Ethernet16", "Ethernet24"]}},
        SYSLOG_SERVER={"10.255.15.3": None},
    )
    found = configs(cli, tmp_path, tree)["leaf1"]
    expected = {**plain["PORT"]["Ethernet0"], "mtu": "9000", "tpid": "0x8100"}
    del expected["fec"]
    assert found["PORT"]["Ethernet0"] == expected
    assert "Ethernet8" not in found["PORT"] and "Ethernet16" in found["PORT"]
    assert "NTP_SERVER" not in found and "SYSLOG_SERVER" not in found, "an empty table cannot be"
    assert found["VLAN"]["Vlan10"] == {"vlanid": "10", "members": ["Ethernet16", "Ethernet24"]}
    untouched = set(plain) - {"PORT", "NTP_SERVER", "SYSLOG_SERVER"}
    assert all(found[table] == plain[table] for table in untouched)


def test_a_pattern_is_over_the_rows_that_exist(cli: Cli, tmp_path: Path) -> None:
    tree = with_override(
        {"role": "leaf"}, QUEUE={"*|7": {"wred_profile": "LOSSLESS_400G"}}, PFC_WD={"Ethernet[0-9]*": None}
    )
    for name, config in configs(cli, tmp_path, tree).items():
        assert {key for key, row in config["QUEUE"].items() if key.endswith("|7") and "wred_profile" not in row} == (
            set() if name.startswith("leaf") else {key for key in config["QUEUE"] if key.endswith("|7")}
        )
        assert (list(config["PFC_WD"]) == ["GLOBAL"]) is name.startswith("leaf")


def test_switches_that_share_forms_do_not_share_the_change(cli: Cli, tmp_path: Path) -> None:
    tree = with_override(
        {"name": "leaf1"},
        SCHEDULER={"STRICT": {"meter_type": "bytes"}},
        QUEUE={"Ethernet0|3": {"scheduler": "STRICT"}},
        NTP={"global": {"vrf": "default"}},
    )
    found = configs(cli, tmp_path, tree)
    assert found["leaf1"]["SCHEDULER"]["STRICT"] == {"type": "STRICT", "meter_type": "bytes"}
    assert found["leaf2"]["SCHEDULER"]["STRICT"] == {"type": "STRICT"}
    for device, key in (("leaf2", "Ethernet0|3"), ("leaf1", "Ethernet256|3")):
        assert found[device]["QUEUE"][key]["scheduler"] == "LOSSLESS", "rows are shared by ports and switches"
    assert found["leaf1"]["QUEUE"]["Ethernet0|3"]["scheduler"] == "STRICT"
    assert (found["leaf1"]["NTP"]["global"]["vrf"], found["leaf2"]["NTP"]["global"]["vrf"]) == ("default", "mgmt")


def test_later_overrides_win_and_all_are_in_the_source_map(cli: Cli, tmp_path: Path) -> None:
    tree = explicit()
    tree["overrides"] = [
        {"match": {"role": "leaf"}, "config_db": {"PORT": {"Ethernet0": {"mtu": 9000, "tpid": "0x8100"}}}},
        {"match": {"name": "leaf*"}, "config_db": {"PORT": {"Ethernet0": {"mtu": 9216}}}},
    ]
    assert configs(cli, tmp_path, tree)["leaf1"]["PORT"]["Ethernet0"]["mtu"] == "9216"
    sources = read_sources(tmp_path / "b")
    assert sources
    mtu = sources.explain("leaf1", "PORT", "Ethernet0", "mtu")
    tpid = sources.explain("leaf1", "PORT", "Ethernet0", "tpid")
    assert mtu and tpid
    assert mtu.origins[0].inventory == "fabric.yaml#overrides[1].config_db.PORT.Ethernet0.mtu"
    assert tpid.origins[0].inventory == "fabric.yaml#overrides[0].config_db.PORT.Ethernet0.tpid"


def test_secrets_in_overrides(cli: Cli, tmp_path: Path) -> None:
    tree = with_override({"role": "spine"}, TACPLUS={"global": {"passkey": SecretReference("tacacs/key")}})
    found = configs(cli, tmp_path, tree)
    assert found["spine1"]["TACPLUS"]["global"]["passkey"] == "${secret:tacacs/key}"
    file = tmp_path / "inventory" / "fabric.yaml"
    text = file.read_text()
    file.write_text(text.replace("TACPLUS:", "SNMP_COMMUNITY:\n      !secret snmp/ops: {TYPE: RO}\n    TACPLUS:"))
    outcome = cli("render", tmp_path / "inventory", "-o", tmp_path / "b", "-q")
    assert outcome.code == 0, outcome.out
    config = json.loads((tmp_path / "b/sonic/spine1/config_db.json").read_text())
    assert sorted(config["SNMP_COMMUNITY"]) == ["${secret:snmp/ops}", "${secret:snmp/read}"]


@pytest.mark.parametrize(
    ("match", "count"),
    [
        ({"role": "leaf"}, 16),
        ({"role": "leaf", "rail": 3}, 2),
        ({"role": "leaf", "su": 1, "rail": 3}, 1),
        ({"plane": "compute"}, 17),
        ({"plane": "storage"}, 0),
        ({"name": "*-su01-*"}, 8),
        ({"platform": "arista-7060x6-64pe", "role": "spine"}, 1),
        ({"role": "spine", "number": 0}, 1),
        ({"role": "spine", "number": 1}, 0),
        ({"pod": 0}, 0),
    ],
)
def test_what_an_override_matches(match: Tree, count: int, cli: Cli, tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["overrides"] = [{"match": match, "config_db": {"DEVICE_METADATA": {"localhost": {"cloudtype": "x"}}}}]
    found = configs(cli, tmp_path, tree).values()
    assert sum("cloudtype" in config["DEVICE_METADATA"]["localhost"] for config in found) == count
    codes = [finding.code for finding in make_plans(tmp_path / "inventory").findings]
    assert codes == (["FG111"] if count == 0 else [])


def test_overrides_are_judged_like_the_rest(cli: Cli, tmp_path: Path) -> None:
    tree = with_override({"name": "leaf1"}, PORT_QOS_MAP={"Ethernet256": {"pfc_enable": "3"}})
    outcome = cli("check", write(tmp_path, tree), "--format", "concise")
    assert outcome.code == 1
    assert "sonic/leaf1/config_db.json" in outcome.out and "error FG5" in outcome.out
