"""The same bytes, whatever the order, the hash seed and the number of processes; growth changes nothing else."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.api.aside import LastRendering, render_aside
from fabricgen.inventory.nodes import SecretReference
from fabricgen.inventory.read_yaml import read_yaml
from tests.conftest import Cli
from tests.inventories import ADDRESSING, DELL, DUAL_STACK, QUICKSTART, Tree, explicit, rail_optimized, write


def files(bundle: Path) -> dict[str, bytes]:
    return {str(file.relative_to(bundle)): file.read_bytes() for file in bundle.rglob("*") if file.is_file()}


def rendered(cli: Cli, inventory: Path, bundle: Path, *more: object) -> dict[str, bytes]:
    outcome = cli("render", inventory, "--output", bundle, "-q", *more)
    assert outcome.code == 0, outcome.out
    return files(bundle)


def shuffled(value: Any, dice: random.Random) -> Any:
    """The same tree with the keys of every mapping in another order."""
    if isinstance(value, dict):
        keys = list(value)
        dice.shuffle(keys)
        return {key: shuffled(value[key], dice) for key in keys}
    return [shuffled(item, dice) for item in value] if isinstance(value, list) else value


def rich(**changes: Any) -> Tree:
    """Two planes, names, devices and overrides: everything whose order could matter, on a few switches."""
    tree = rail_optimized(model="two-rails", addressing=DUAL_STACK, **changes)
    nic = {"name": "rail{rail}", "model": "ConnectX-7", "speed": "400G", "plane": "compute", "rails": 2}
    tree["host_models"] = {"two-rails": {"gpus": 2, "nics": [nic]}}
    other = explicit()["planes"]["compute"]
    other["hosts"], other["design"] = ["cpu"], "explicit"
    other["links"] = [[end.replace("gpu/0", "cpu/0") for end in link] for link in other["links"]]
    other["addressing"] = {"loopbacks": "10.1.0.0/16", "links": "10.2.0.0/16", "hosts": "10.3.0.0/16"}
    tree["planes"]["second"] = other
    tree["hosts"]["cpu"] = {"model": "dgx-h200", "count": 1}
    tree["names"] = {"leaf": "{plane}-{su}-{rail}", "spine": "{plane}-s{number}"}
    tree["devices"] = [{"name": "compute-s0", "rack": "A1", "mac": "00:11:22:33:44:55"}]
    tree["overrides"] = [
        {"match": {"role": "leaf"}, "config_db": {"PORT": {"Ethernet0": {"mtu": 9000, "fec": None}}, "NTP": None}},
        {"match": {"plane": "compute"}, "config_db": {"PORT": {"Ethernet*": {"tpid": "0x8100"}}}},
    ]
    return tree


def test_twice_is_once(cli: Cli, tmp_path: Path) -> None:
    first = rendered(cli, write(tmp_path / "inventory", rich()), tmp_path / "a")
    assert rendered(cli, tmp_path / "inventory", tmp_path / "b") == first
    assert rendered(cli, tmp_path / "inventory", tmp_path / "a") == first


@pytest.mark.parametrize("seed", range(3))
def test_order_of_keys_means_nothing(seed: int, cli: Cli, tmp_path: Path) -> None:
    tree = rich()
    first = rendered(cli, write(tmp_path / "one", tree), tmp_path / "a")
    other = shuffled(tree, random.Random(seed))
    assert rendered(cli, write(tmp_path / "two", other), tmp_path / "b") == first
    locks = [(tmp_path / name / "allocations.lock.yaml").read_bytes() for name in ("one", "two")]
    assert locks[0] == locks[1]


def test_the_hash_seed_means_nothing(tmp_path: Path) -> None:
    found = []
    for seed in ("0", "1"):
        inventory = write(tmp_path / seed, rich())
        command = [sys.executable, "-m", "fabricgen", "render", str(inventory), "-q", "-o", str(tmp_path / f"b{seed}")]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
        found.append(files(tmp_path / f"b{seed}"))
    assert found[0] == found[1]


def test_processes_mean_nothing(cli: Cli, tmp_path: Path) -> None:
    """From 64 switches on work is shared out: 8 units of one host with 8 rails."""
    inventory = write(tmp_path / "inventory", rail_optimized(8, 1, 8, DELL, "hgx-h100"))
    first = rendered(cli, inventory, tmp_path / "a", "--jobs", 1)
    assert sum(path.endswith("config_db.json") for path in first) >= 64
    assert rendered(cli, inventory, tmp_path / "b", "--jobs", 2) == first


def test_processes_that_write_mean_nothing(tmp_path: Path) -> None:
    """`check` renders into its own folder, where each process writes what it makes; a second rendering writes
    what differs."""
    inventory = write(tmp_path / "inventory", rail_optimized(8, 1, 8, DELL, "hgx-h100"))
    last = LastRendering(tmp_path / "2")
    for jobs, rendering in ((1, LastRendering(tmp_path / "1")), (2, last)):
        assert render_aside(inventory, tmp_path / str(jobs), jobs=jobs, last=rendering).is_rendered
    first = files(tmp_path / "1")
    assert "manifest.json" in first and files(tmp_path / "2") == first
    assert last.files.changed() == first.keys()
    tree = rail_optimized(8, 1, 8, DELL, "hgx-h100")
    tree["overrides"] = [{"match": {"role": "spine"}, "config_db": {"PORT": {"Ethernet0": {"mtu": "9000"}}}}]
    write(inventory, tree)
    render_aside(inventory, tmp_path / "2", jobs=2, last=last)
    spines = {name for name in first if "spine" in name}
    changed = {name for name, content in files(tmp_path / "2").items() if content != first[name]}
    assert changed == last.files.changed() == spines | {"manifest.json", "sources.json"}


def test_a_clash_of_templates_in_another_process_is_reported(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", rail_optimized(8, 1, 8, DELL, "hgx-h100"))
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "management.json.j2").write_text('{"DEVICE_METADATA": {"localhost": {"hostname": "x"}}}')
    outcome = cli("render", inventory, "-o", tmp_path / "b", "--templates", templates, "--jobs", 2)
    assert outcome.code == 1 and "the templates disagree: DEVICE_METADATA|localhost|hostname is both" in outcome.out
    assert not (tmp_path / "b").exists()


def test_growing_the_quickstart_changes_no_leaf(cli: Cli, tmp_path: Path) -> None:
    inventory = tmp_path / "quickstart"
    inventory.mkdir()
    for file in QUICKSTART.iterdir():
        (inventory / file.name).write_bytes(file.read_bytes())
    before = rendered(cli, inventory, tmp_path / "b")
    text = (inventory / "fabric.yaml").read_text()
    assert "count: 32" in text
    (inventory / "fabric.yaml").write_text(text.replace("count: 32", "count: 48"))
    after = rendered(cli, inventory, tmp_path / "b")
    leaves = [path for path in before if "leaf" in path]
    assert len(leaves) == 16 and len([path for path in after if "leaf" in path]) == 24
    assert all(after[path] == before[path] for path in leaves)
    cables = set(before["cabling.csv"].splitlines())
    assert cables <= set(after["cabling.csv"].splitlines())


def test_adding_a_plane_changes_no_other_plane(cli: Cli, tmp_path: Path) -> None:
    tree = rich()
    alone = {**tree, "planes": {"compute": tree["planes"]["compute"]}}
    alone = {key: value for key, value in alone.items() if key != "overrides"}
    before = rendered(cli, write(tmp_path / "inventory", alone), tmp_path / "b")
    both = {**alone, "planes": tree["planes"]}
    after = rendered(cli, write(tmp_path / "inventory", both), tmp_path / "b")
    configs = [path for path in before if path.startswith("sonic/")]
    assert all(after[path] == before[path] for path in configs)
    assert sum(path.startswith("sonic/") for path in after) == len(configs) + 4


def test_the_shuffle_is_one() -> None:
    """The order test could not fail if shuffling kept the order, or changed the content."""
    tree = rich()
    other = shuffled(tree, random.Random(0))
    assert other == tree and list(other) != list(tree)
    assert SecretReference("a") == "a" and read_yaml(yaml.dump({"a": 1}), "f")[0].plain() == {"a": 1}
    assert ADDRESSING["loopbacks"] == "10.0.0.0/16"
