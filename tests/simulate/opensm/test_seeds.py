"""The seeds of torus-2QoS.conf on the real OpenSM: either finds the grid, with the same paths and service levels."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabricgen.simulate.opensm import Proof, Tools, prove
from tests.conftest import Cli
from tests.inventories import Tree, write

HEAD, NEXT = re.compile(r"(?ms)\A.*?(?=^# Seen)"), re.compile(r"(?m)^next_seed$")


def grid_tree(size: list[int], design: str = "torus", **torus: Any) -> Tree:
    """A grid of switches with one endpoint each."""
    nic = {"name": "hca{rail}", "model": "ConnectX-7", "speed": "400G", "plane": "compute", "rails": 1}
    hosts = int(np.prod(size))
    plane = {
        "technology": "infiniband", "design": design, "hosts": ["node"], "scalable_unit": {"hosts": 1},
        "torus": {"size": size, **torus}, "leaf": {"platform": "generic-64x400g"}, "speed": "400G",
    }  # fmt: skip
    return {
        "fabricgen": 1, "fabric": "grid", "hosts": {"node": {"model": "server", "count": hosts}},
        "host_models": {"server": {"gpus": 0, "nics": [nic]}}, "planes": {"compute": plane},
    }  # fmt: skip


def rendered(cli: Cli, folder: Path, tree: Tree) -> Path:
    assert cli("render", write(folder / "i", tree), "-o", folder / "b").code == 0
    return folder / "b" / "infiniband" / "compute"


def only_seed(subnet: Path, number: int) -> None:
    """Leave one seed in torus-2QoS.conf."""
    file = subnet / "torus-2QoS.conf"
    text = file.read_text()
    head = HEAD.match(text)
    assert head
    seeds = NEXT.split(text)
    file.write_text(text if number == 0 and len(seeds) == 1 else f"{head[0]}{seeds[number].removeprefix(head[0])}")


def proved(opensm: Tools, subnet: Path) -> Proof:
    proof = prove(opensm, subnet / "topology.ibsim", subnet)
    assert proof.active == "torus-2QoS" and proof.refused == () and proof.dumps
    return proof


@pytest.mark.parametrize(
    ("size", "design", "datelines"),
    [([5, 5], "torus", [0, 2]), ([4, 5], "torus", [1, 0]), ([4, 4], "mesh", [0, 0]), ([3, 3, 3], "torus", [0, 0, 0])],
)  # fmt: skip
def test_either_seed_gives_the_same_tables(
    size: list[int], design: str, datelines: list[int], opensm: Tools, cli: Cli, tmp_path: Path
) -> None:
    more = {"datelines": datelines} if design == "torus" else {}
    found = []
    for number in (0, 1):
        subnet = rendered(cli, tmp_path / str(number), grid_tree(size, design, **more))
        only_seed(subnet, number)
        found.append(proved(opensm, subnet).dumps)
    first, second = found
    assert first and second and first.path_sl is not None and second.path_sl is not None
    assert np.array_equal(first.path_sl, second.path_sl)
    assert np.array_equal(first.forwarding, second.forwarding)


def test_without_its_datelines_the_second_seed_gives_others(opensm: Tools, cli: Cli, tmp_path: Path) -> None:
    levels = []
    for number in (0, 1):
        subnet = rendered(cli, tmp_path / str(number), grid_tree([5, 5]))
        only_seed(subnet, number)
        file = subnet / "torus-2QoS.conf"
        file.write_text(re.sub(r"(?m)^._dateline .*$", "", file.read_text()))
        dumps = proved(opensm, subnet).dumps
        assert dumps and dumps.path_sl is not None
        levels.append(dumps.path_sl)
    assert len(np.unique(levels[0])) > 2 and not np.array_equal(*levels)


def without(subnet: Path, name: str) -> None:
    """Take a switch and its endpoint out of the netlist."""
    file = subnet / "topology.ibsim"
    nodes = re.split(r"\n\n", file.read_text())
    gone = next(
        re.search(r'^Switch\t\d+ "(\S+)"', node, re.M)[1] for node in nodes if f'# "{name}"' in node.split("\n[")[0]
    )  # type: ignore[index]
    kept = [node for node in nodes if not re.search(rf'^(?:Switch\t\d+ "{gone}"|\[1\]\(\w+\)\t"{gone}")', node, re.M)]
    file.write_text(
        "\n\n".join("\n".join(line for line in node.split("\n") if f'"{gone}"' not in line) for node in kept)
    )


def test_a_lost_switch_of_the_first_seed(opensm: Tools, cli: Cli, tmp_path: Path) -> None:
    both, one = (rendered(cli, tmp_path / name, grid_tree([5, 5])) for name in ("both", "one"))
    only_seed(one, 0)
    for subnet in (both, one):
        without(subnet, "compute-leaf-00")
    assert prove(opensm, one / "topology.ibsim", one).active == "nue", "else the second seed would change nothing"
    proved(opensm, both)


@pytest.mark.parametrize(("size", "seeds"), [([2, 2], 1), ([3, 3], 2), ([2, 3, 2], 2), ([3, 8], 2)])
def test_seeds_share_no_switch(size: list[int], seeds: int, cli: Cli, tmp_path: Path) -> None:
    text = (rendered(cli, tmp_path, grid_tree(size)) / "torus-2QoS.conf").read_text()
    sets = [set(re.findall(r"0x\w{16}", part)) for part in NEXT.split(text)]
    assert len(sets) == seeds and (seeds == 1 or sets[0].isdisjoint(sets[1]))
    for axis, place in re.findall(r"(?m)^(\w)_dateline (-?\d+)$", text):
        assert abs(int(place)) < size["xyz".index(axis)]
