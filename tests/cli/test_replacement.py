"""A switch model replaced unit by unit, and hosts with NICs of two vendors in one unit."""

import json
import shutil
from pathlib import Path

from tests.conftest import Cli
from tests.inventories import ARISTA, NVIDIA, QUICKSTART, rail_optimized, write


def render(inventory: Path, output: Path, cli: Cli) -> dict[str, bytes]:
    assert cli("-q", "render", inventory, "--output", output).code == 0
    return {file.parent.name: file.read_bytes() for file in output.glob("sonic/*/config_db.json")}


def test_a_replaced_unit_changes_its_leaves_and_what_spines_know_of_them(
    rendered: Path, tmp_path: Path, cli: Cli
) -> None:
    inventory = shutil.copytree(QUICKSTART, tmp_path / "f")
    text = (inventory / "fabric.yaml").read_text()
    newer = f"leaf: {{platform: {ARISTA}, newer: [{{from_unit: 1, platform: {NVIDIA}}}]}}"
    (inventory / "fabric.yaml").write_text(text.replace(f"leaf: {{platform: {ARISTA}}}", newer))
    lock = (inventory / "allocations.lock.yaml").read_bytes()
    before = {file.parent.name: file.read_bytes() for file in rendered.glob("sonic/*/config_db.json")}
    after = render(inventory, tmp_path / "b", cli)
    assert (inventory / "allocations.lock.yaml").read_bytes() == lock
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {name for name in before if "su01" in name or "spine" in name}
    for name in (name for name in changed if "spine" in name):
        old, new = json.loads(before[name]), json.loads(after[name])
        old.pop("DEVICE_NEIGHBOR_METADATA"), new.pop("DEVICE_NEIGHBOR_METADATA")
        assert old == new
    outcome = cli("check", inventory, "--against", rendered, "--fail-on", "warning")
    assert outcome.code == 0 and "0 new cables, 0 moved, 0 removed, 384 unchanged" in outcome.out


def test_two_vendors_share_the_leaves_of_a_unit(tmp_path: Path, cli: Cli) -> None:
    nics = [{"name": "rail{rail}", "model": "BCM57608", "speed": "400G", "plane": "compute", "rails": 8}]
    tree = rail_optimized(4, 8, 1, lossless="roce-lossless")
    tree["host_models"] = {"node-b": {"gpus": 8, "nics": nics}}
    tree["hosts"]["other"] = {"model": "node-b", "count": 4}
    tree["planes"]["compute"]["scalable_unit"] = {"hosts": 8, "appliances": ["other"]}
    inventory = write(tmp_path / "f", tree)
    files = render(inventory, tmp_path / "b", cli)
    leaves = [json.loads(text) for name, text in files.items() if name.endswith("leaf")]
    assert len(leaves) == 8
    for leaf in leaves:
        hosts = [row["name"] for row in leaf["DEVICE_NEIGHBOR"].values() if "spine" not in row["name"]]
        assert sorted(hosts) == [f"{group}-{n:03}" for group in ("gpu", "other") for n in range(4)]
    assert cli("check", inventory, "--fail-on", "warning", "--ignore", "FG285").code == 0  # one spine
    one, two = ((tmp_path / f"b/hosts/{group}/nccl.conf").read_text() for group in ("gpu", "other"))
    assert [line for line in one.splitlines() if line.startswith("NCCL_IB_TC")] == [
        line for line in two.splitlines() if line.startswith("NCCL_IB_TC")
    ]
