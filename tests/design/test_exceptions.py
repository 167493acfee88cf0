"""Exceptions in a regular design change what they name and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.findings import Severity
from fabricgen.render.plans import Plans, make_plans
from tests.conftest import Cli
from tests.inventories import Tree, explicit, rail_optimized, write
from tests.render.hosts.rendered import files_of
from tests.rules.access import BONDED

LEAF, OTHER = "compute-su00-r0-leaf", "compute-su01-r0-leaf"


def plans(folder: Path, tree: Tree) -> Plans:
    return make_plans(write(folder, tree))


def codes(found: Plans) -> list[tuple[str, str, str]]:
    return [(one.code, one.path, one.message) for one in found.findings if one.severity is not Severity.NOTE]


def ports_of(found: Plans) -> dict[str, tuple[str, str, str]]:
    """Link -> its lower port, its switch and its port."""
    return {link.key: (link.a_port, found.allocation.names[link.b.key], link.b_port) for link in found.fabric.links}


def rows(folder: Path, cli: Cli, tree: Tree) -> dict[str, Any]:
    path = write(folder, tree)
    assert cli("render", path, "--output", folder / "out", "-q").code == 0
    return {file.parent.name: json.loads(file.read_text()) for file in (folder / "out").glob("sonic/*/config_db.json")}


def test_cables_have_the_length_of_their_rack_device_or_link(tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["planes"]["compute"]["cables"] = {
        "host-leaf": {
            "length": "5m",
            "where": [
                {"rack": "r1?", "device": "gpu-005", "length": "15m"},
                {"device": "gpu/6", "length": "7m", "medium": "smf"},
                {"link": "compute/gpu/7/rail[01]", "length": "9m"},
            ],
        }
    }
    tree["devices"] = [{"name": "gpu-005", "rack": "r12"}, {"name": "gpu-004", "rack": "r12"}]
    found = plans(tmp_path, tree)
    assert codes(found) == []
    lengths = {(link.a.key, link.a_port): (link.cable.length_m, link.cable.medium) for link in found.fabric.links}
    assert lengths["gpu/4", "rail0"] == (5, "mmf") and lengths["gpu/5", "rail3"] == (15, "mmf")
    assert lengths["gpu/6", "rail7"] == (7, "smf")
    assert [lengths["gpu/7", f"rail{rail}"][0] for rail in (0, 1, 2)] == [9, 9, 5]


def test_headroom_follows_the_length_of_a_cable(tmp_path: Path, cli: Cli) -> None:
    tree = rail_optimized()
    before = rows(tmp_path / "before", cli, tree)
    where = [{"device": "gpu-001", "length": "120m"}]
    tree["planes"]["compute"]["cables"] = {"host-leaf": {"length": "5m", "where": where}}
    after = rows(tmp_path / "after", cli, tree)
    changed = {name for name, tables in after.items() if tables != before[name]}
    assert changed == {f"compute-su00-r{rail}-leaf" for rail in range(8)}
    lengths = after[LEAF]["CABLE_LENGTH"]["AZURE"]
    assert lengths["Ethernet4"] != lengths["Ethernet0"] == before[LEAF]["CABLE_LENGTH"]["AZURE"]["Ethernet4"]


def test_one_switch_has_another_model(tmp_path: Path, cli: Cli) -> None:
    tree = rail_optimized()
    before = plans(tmp_path / "before", tree)
    tree["devices"] = [{"identity": "compute/su1/rail3/leaf0", "platform": "dell-z9664f"}]
    found = plans(tmp_path / "after", tree)
    assert codes(found) == []
    assert found.allocation.names == before.allocation.names and found.allocation.blocks == before.allocation.blocks
    old, new = ports_of(before), ports_of(found)
    changed = {link for link in new if new[link] != old[link]}
    assert changed and all(link.startswith("compute/su1/rail3/leaf0/up") for link in changed), "from its last port"
    after = rows(tmp_path / "rows", cli, tree)
    assert after["compute-su01-r3-leaf"]["DEVICE_METADATA"]["localhost"]["hwsku"] == "DellEMC-Z9664f-O64"
    assert cli("validate", tmp_path / "rows" / "out").code == 0


def test_a_model_with_too_few_ports_is_refused(tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["devices"] = [{"identity": "compute/spine0", "platform": "dell-z9332f-d1508"}]
    (code, path, message), *_ = codes(plans(tmp_path, tree))
    assert (code, path) == ("FG159", "devices[0].platform") and "too few for the links of compute/spine0" in message


def test_a_moved_host_keeps_its_addresses_at_its_leaf_and_gets_a_subnet_at_another(tmp_path: Path, cli: Cli) -> None:
    tree = rail_optimized()
    before = plans(tmp_path / "before", tree)
    tree["moves"] = [
        {"nic": "gpu-001:rail0", "port": f"{LEAF}:Ethernet48"},
        {"nic": "gpu/2:rail0", "port": f"{OTHER}:Ethernet48"},
    ]
    found = plans(tmp_path / "after", tree)
    assert codes(found) == []
    old, new = ({link.key: link for link in one.fabric.links} for one in (before, found))
    assert [link for link in new if ports_of(found)[link] != ports_of(before)[link]] == [
        "compute/gpu/1/rail0", "compute/gpu/2/rail0"
    ]  # fmt: skip
    same, away = (found.allocation.link_addresses(new[f"compute/gpu/{host}/rail0"]) for host in (1, 2))
    assert same == before.allocation.link_addresses(old["compute/gpu/1/rail0"])
    announced = found.control.host_aggregates["compute/su1/rail0/leaf0"]
    assert f"{away[0][1]}/31" in announced and len(announced) == 2
    assert all(before.allocation.blocks[key] == block for key, block in found.allocation.blocks.items() if key in old)
    rows(tmp_path / "rows", cli, tree)
    assert cli("validate", tmp_path / "rows" / "out").code == 0


@pytest.mark.parametrize(
    ("move", "code", "words"),
    [
        ({"nic": "gpu-009:rail0", "port": f"{LEAF}:Ethernet48"}, "FG107", "no NIC 'gpu-009:rail0'"),
        ({"nic": "gpu-001:rail0", "port": "leaf:Ethernet48"}, "FG107", "no switch 'leaf'"),
        ({"nic": "gpu-001:rail0", "port": f"{LEAF}:Ethernet9999"}, "FG107", "no port 'Ethernet9999'"),
        ({"nic": "gpu-001:rail0", "port": f"{LEAF}:Ethernet0"}, "FG158", "has a link already"),
        ({"nic": "gpu-001:rail0", "port": f"{LEAF}:Ethernet512"}, "FG158", "has 10G, the NIC 400G"),
    ],
)  # fmt: skip
def test_moves_that_cannot_be_are_refused(tmp_path: Path, move: dict[str, str], code: str, words: str) -> None:
    tree = rail_optimized()
    tree["moves"] = [move]
    (found,) = codes(plans(tmp_path, tree))
    assert found[0] == code and words in found[2], found


def test_a_nic_moves_once_and_within_its_plane(tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["moves"] = [{"nic": "gpu-001:rail0", "port": f"{LEAF}:Ethernet{port}"} for port in (48, 52)]
    assert [code for code, *_ in codes(plans(tmp_path, tree))] == ["FG158"]
    (tmp_path / "f.yaml").write_text(
        BONDED + "moves: [{nic: 'gpu-000:inband0', port: 'in-band-su01-leaf-00:Ethernet48'}]\n"
    )
    found = make_plans(tmp_path / "f.yaml").findings
    assert any(one.code == "FG158" and "is in the VLAN of" in one.message for one in found)


def test_a_bond_moves_with_its_ports_to_spare_ports_of_its_leaf() -> None:
    text = BONDED + "moves: [{nic: 'gpu-000:inband0', port: 'in-band-su00-leaf-00:Ethernet48'}]\n"
    leaf = json.loads(files_of(text)["sonic/in-band-su00-leaf-00/config_db.json"])
    assert list(leaf["PORTCHANNEL_MEMBER"]) == ["PortChannel4|Ethernet4", "PortChannel4|Ethernet48"]


def test_exceptions_without_a_cable_and_entries_without_a_name_are_refused(tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["planes"]["compute"]["cables"] = {"host-leaf": {"length": "5m", "where": [{"rack": "r9", "length": "15m"}]}}
    tree["devices"] = [{"rack": "r1"}]
    assert [(code, path) for code, path, _ in codes(plans(tmp_path, tree))] == [
        ("FG106", "devices[0]"), ("FG157", "planes.compute.cables.host-leaf.where[0]")
    ]  # fmt: skip


def test_a_plane_has_its_own_names(tmp_path: Path) -> None:
    tree = rail_optimized(names={"leaf": "c-{su}-{rail}"})
    tree["names"] = {"leaf": "x-{su}-{rail}", "spine": "top-{number}"}
    assert sorted(plans(tmp_path, tree).allocation.names.values())[:2] == ["c-0-0", "c-0-1"]
    tree["planes"]["compute"]["names"] = {"leaf": "c-{hall}"}
    assert [(code, path) for code, path, _ in codes(plans(tmp_path / "wrong", tree))] == [
        ("FG105", "planes.compute.names.leaf")
    ]


def test_growth_keeps_exceptions_and_all_numbers(tmp_path: Path, cli: Cli) -> None:
    tree = rail_optimized()
    tree["moves"] = [{"nic": "gpu-002:rail0", "port": f"{OTHER}:Ethernet48"}]
    path = write(tmp_path / "inventory", tree)
    assert cli("render", path, "--output", tmp_path / "a", "-q").code == 0
    tree["hosts"]["gpu"]["count"] = 12
    write(tmp_path / "inventory", tree)
    assert cli("render", path, "--output", tmp_path / "b", "-q").code == 0
    old, new = (
        {file.parent.name: file.read_bytes() for file in (tmp_path / name).glob("sonic/*leaf/config_db.json")}
        for name in "ab"
    )
    assert len(new) == len(old) + 8 and {name: new[name] for name in old} == old


def test_an_explicit_design_has_another_model_with_as_many_ports(tmp_path: Path) -> None:
    tree = explicit()
    tree["devices"] = [{"identity": "compute/leaf/leaf1", "platform": "nvidia-sn5600"}]
    assert {code for code, *_ in codes(plans(tmp_path, tree))} <= {"FG159", "FG202"}
