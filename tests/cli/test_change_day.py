"""The change day: each change is one edit, its plan keeps all hosts connected, and `check` has nothing above a note."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.cli.main import run
from tests.conftest import Cli
from tests.inventories import two_rails, write

_ARISTA = {"platform": "arista-7060x6-64pe"}
FABRIC: dict[str, Any] = {
    "fabricgen": 1,
    "fabric": "site",
    "host_models": {
        "node": {
            "gpus": 2,
            "nics": [{"name": "rail{rail}", "model": "ConnectX-7", "rails": 2, "speed": "400G", "plane": "compute"}],
        }
    },
    "hosts": {"gpu": {"model": "node", "count": 16}},
    "planes": {
        "compute": {
            "design": "rail-optimized",
            "hosts": ["gpu"],
            "scalable_unit": {"hosts": 4, "planned": 8},
            "tiers": 3,
            "pod": {"units": 2},
            "leaf": {**_ARISTA, "spare_ports": 1},
            "spine": {**_ARISTA, "count": 2},
            "core": _ARISTA,
            "speed": "400G",
            "cables": {"host-leaf": "5m"},
            "addressing": {"loopbacks": "10.0.0.0/16", "links": "10.128.0.0/10", "hosts": "10.64.0.0/10"},
        }
    },
    "management": {"addresses": "10.255.0.0/20", "gateway": "10.255.0.1"},
    "devices": [{"name": f"gpu-{number:03}", "rack": "r1" if number < 4 else "r2"} for number in range(16)],
}
LEAF, FAR_LEAF = "compute-su00-r0-leaf", "compute-su01-r0-leaf"


def _add_pod(tree: dict[str, Any]) -> None:
    tree["hosts"]["gpu"]["count"] = 24


def _other_model(tree: dict[str, Any]) -> None:
    tree["devices"].append({"identity": "compute/su1/rail1/leaf0", "platform": "dell-z9664f"})


def _move_on_leaf(tree: dict[str, Any]) -> None:
    tree["moves"] = [{"nic": "gpu-001:rail0", "port": f"{LEAF}:Ethernet128"}]


def _move_to_leaf(tree: dict[str, Any]) -> None:
    tree["moves"] = [{"nic": "gpu-001:rail0", "port": f"{FAR_LEAF}:Ethernet128"}]


def _asns(tree: dict[str, Any]) -> None:
    tree["planes"]["compute"]["addressing"]["asn"] = {"first": 65100, "last": 65500}


def _longer(tree: dict[str, Any]) -> None:
    tree["planes"]["compute"]["cables"]["host-leaf"] = {"length": "5m", "where": [{"rack": "r2", "length": "40m"}]}


def _rename(tree: dict[str, Any]) -> None:
    tree["planes"]["compute"]["names"] = {"leaf": "c-su{su}-r{rail}"}


_RENUMBER = ("--renumber", "compute")
CHANGES = {
    "add a pod": (_add_pod, ()),
    "replace a leaf by another model": (_other_model, ()),
    "move a host to a spare port": (_move_on_leaf, ()),
    "move a host to another leaf": (_move_to_leaf, ()),
    "change the ASNs": (_asns, _RENUMBER),
    "longer cables in one row": (_longer, ()),
    "rename the leaves": (_rename, ()),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inventory with its lock file, and its bundle beside it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "old").mkdir()
    (folder / "old" / "fabric.yaml").write_text(yaml.safe_dump(FABRIC))
    with pytest.raises(SystemExit) as stop:
        run(["-q", "render", str(folder / "old"), "-o", str(folder / "bundle")])
    assert not stop.value.code
    return folder


def edited(site: Path, name: str, cli: Cli) -> Path:
    """The bundle after a change, which `check` finds right. Do not change it: each change is rendered once."""
    folder = site / name
    if folder.exists():
        return folder / "bundle"
    edit, options = CHANGES[name]
    tree = yaml.safe_load((site / "old" / "fabric.yaml").read_text())
    edit(tree)
    inventory = folder / "inventory"
    inventory.mkdir(parents=True)
    (inventory / "fabric.yaml").write_text(yaml.safe_dump(tree))
    (inventory / "allocations.lock.yaml").write_text((site / "old" / "allocations.lock.yaml").read_text())
    assert cli("render", inventory, "-o", folder / "bundle", *options, "-q").code == 0
    found = cli("check", inventory, "--against", site / "bundle", "--fail-on", "warning", "--format", "json")
    assert found.code == 0, found.out
    assert [one for one in json.loads(found.out)["findings"] if one["severity"] != "note"] == []
    return folder / "bundle"


@pytest.mark.parametrize("name", CHANGES)
def test_the_plan_keeps_every_host_connected(cli: Cli, site: Path, name: str) -> None:
    is_safe(cli, site / "bundle", edited(site, name, cli))


def test_a_drained_spine_of_four(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "inventory", two_rails(spines=4))
    assert cli("render", tmp_path / "inventory", "-o", tmp_path / "old", "-q").code == 0
    with (tmp_path / "inventory" / "fabric.yaml").open("a") as file:
        file.write("devices: [{name: compute-spine-01, state: drained}]\n")
    assert cli("render", tmp_path / "inventory", "-o", tmp_path / "new", "-q").code == 0
    assert cli("check", tmp_path / "inventory", "--against", tmp_path / "old", "--fail-on", "warning").code == 0
    is_safe(cli, tmp_path / "old", tmp_path / "new")


def is_safe(cli: Cli, old: Path, new: Path) -> None:
    """Each step of the plan is judged, and keeps all hosts and routes; stand-ins of the switches take the patches."""
    outcome = cli("diff", old, new, "--format", "plan", "--safe")
    assert outcome.code == 0, outcome.err
    plan = json.loads(outcome.out)
    steps = [step for device in plan["devices"].values() for step in device["steps"]]
    states = [one["between"] for one in (*plan["devices"].values(), *steps)]
    assert states and all(state is not None for state in states)
    assert {tuple(state["hosts_cut_off"]) for state in states} == {()}
    assert {tuple(state["routes_lost"]) for state in states} == {()}
    assert {state["deadlock"] for state in states} == {"free"}
    rehearsed = cli("rehearse", old, new)
    assert rehearsed.code == 0, rehearsed.out


def test_new_asns_go_through_patches_that_leave_the_new_files(cli: Cli, site: Path, tmp_path: Path) -> None:
    """The order says each patch once; after each switch, the files as they are then have all sessions."""
    from fabricgen.diff.patched import patched

    bundle = edited(site, "change the ASNs", cli)
    assert cli("diff", site / "bundle", bundle, "--format", "plan", "--output", tmp_path / "plan").code == 0
    plan = json.loads((tmp_path / "plan" / "plan.json").read_text())
    configs = {name: _config(site / "bundle", name) for name in plan["devices"]}
    used: list[tuple[str, int]] = []
    for number, asn in enumerate(plan["asns"]):
        first, *others = asn["steps"]
        assert first["device"] == asn["switch"] and first["then"] == "systemctl restart bgp"
        assert all("then" not in step for step in others)
        for step in asn["steps"]:
            used.append((step["device"], step["step"]))
            patch = json.loads((tmp_path / "plan" / step["file"]).read_text())
            configs[step["device"]] = patched(configs[step["device"]], patch)
        if number % 8 == 0:
            found = _sessions(cli, site, tmp_path / f"after-{number}", configs)
            assert found == [], f"after {asn['switch']}"
    assert len(used) == len(set(used)) == sum(len(device["steps"]) for device in plan["devices"].values())
    assert configs == {name: _config(bundle, name) for name in configs}


def test_a_switch_without_a_twin_is_named(cli: Cli, tmp_path: Path) -> None:
    """With one leaf for each host, its new ASN cuts the hosts off: the plan says so, and no order is safe."""
    tree = json.loads(json.dumps(FABRIC))
    tree["host_models"]["node"]["nics"][0] |= {"name": "nic", "rails": 1}
    tree["planes"]["compute"] |= {"tiers": 2, "scalable_unit": {"hosts": 4, "planned": 4}}
    for key in ("pod", "core"):
        del tree["planes"]["compute"][key]
    (tmp_path / "fabric.yaml").write_text(yaml.safe_dump(tree))
    assert cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "old", "-q").code == 0
    _asns(tree)
    (tmp_path / "fabric.yaml").write_text(yaml.safe_dump(tree))
    assert cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "new", *_RENUMBER, "-q").code == 0
    outcome = cli(
        "diff", tmp_path / "old", tmp_path / "new", "--format", "plan", "--safe", "--output", tmp_path / "plan"
    )
    assert outcome.code == 1
    named = [line for line in outcome.err.splitlines() if "FG947" in line]
    assert len(named) == 4 and "(new ASN) cuts off 4 hosts (gpu-000, gpu-001, gpu-002, gpu-003)" in named[0]
    refused = cli(
        "handoff", "ansible", tmp_path / "new", "--plan", tmp_path / "plan" / "plan.json", "-o", tmp_path / "a"
    )
    assert refused.code == 2 and "no safe order was found" in refused.err


def test_ansible_refuses_steps_across_switches(cli: Cli, site: Path, tmp_path: Path) -> None:
    bundle = edited(site, "change the ASNs", cli)
    assert cli("diff", site / "bundle", bundle, "--format", "plan", "--safe", "--output", tmp_path / "plan").code == 0
    refused = cli("handoff", "ansible", bundle, "--plan", tmp_path / "plan" / "plan.json", "-o", tmp_path / "play")
    assert refused.code == 2 and "changes ASNs step by step" in refused.err and not (tmp_path / "play").exists()


def _config(bundle: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((bundle / "sonic" / name / "config_db.json").read_text())
    return found


def _sessions(cli: Cli, site: Path, folder: Path, configs: dict[str, dict[str, Any]]) -> Sequence[str]:
    """The findings on sessions and routes of these files."""
    for name, config in configs.items():
        file = folder / "sonic" / name / "config_db.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(config))
    (folder / "fabric.json").write_text((site / "bundle" / "fabric.json").read_text())
    outcome = cli("validate", folder, "--select", "FG30,FG31,FG32,FG36", "--format", "json", "--fail-on", "never")
    return [one["message"] for one in json.loads(outcome.out)["findings"] if one["severity"] == "error"]
