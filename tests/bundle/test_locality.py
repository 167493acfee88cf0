"""Groups of hosts by the switches that join them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.locality import Locality, localities
from fabricgen.bundle.read import open_bundle
from fabricgen.resources import resource
from tests.conftest import Cli
from tests.inventories import islands, rail_optimized, write


def groups(cli: Cli, inventory: Path, output: Path) -> tuple[Locality, ...]:
    outcome = cli("-q", "render", inventory, "-o", output)
    assert outcome.code == 0, outcome.out
    wiring = open_bundle([output]).wiring
    assert wiring
    return localities(wiring)


def shape(group: Locality) -> Any:
    """{name: number of hosts}, or {name: parts}."""
    return {group.name: [shape(part) for part in group.parts] or len(group.hosts)}


def test_the_rails_of_a_unit_are_one_group(tmp_path: Path, cli: Cli) -> None:
    (fabric,) = groups(cli, write(tmp_path / "in", rail_optimized(8, 4)), tmp_path / "out")
    assert shape(fabric) == {"small": [{"su0": 4}, {"su1": 4}]}
    assert fabric.parts[1].hosts == ("gpu-004", "gpu-005", "gpu-006", "gpu-007")
    assert [one.name for one in fabric.within()] == ["su0", "su1", "small"]


@pytest.mark.parametrize(
    ("example", "parts", "lowest"),
    [
        ("border", [], {"su0": 8}),
        ("dragonfly", [f"su{number}" for number in range(8)], {"su7": 1}),
        ("dragonfly-plus", ["group0", "group1", "group2"], {"compute-su02-leaf-07": 1}),
        ("dual-tor", [], {"su0": 64}),
        ("fat-tree", ["pod0", "pod1", "pod2", "pod3"], {"su31": 2}),
        ("infiniband", [], {"su0": 30}),  # without the hosts of subnet managers and of storage
        ("nvl72", ["su0", "su1", "su2", "su3"], {"su3": 18}),
        ("rail-only", ["su0", "su1"], {"su1": 32}),  # the spines of each rail join the units
        ("torus", [f"compute-leaf-{number:02}" for number in range(60)], {"compute-leaf-59": 2}),
    ],
)
def test_examples(example: str, parts: list[str], lowest: object, tmp_path: Path, cli: Cli) -> None:
    inventory = shutil.copytree(resource("inventories", example), tmp_path / "in")
    (fabric,) = groups(cli, inventory, tmp_path / "out")
    assert [part.name for part in fabric.parts] == parts
    last = fabric
    while last.parts:
        last = last.parts[-1]
    assert shape(last) == lowest


def test_islands(tmp_path: Path, cli: Cli) -> None:
    """Two leaves, each with separate hosts, and no spine."""
    found = groups(cli, write(tmp_path / "in", islands()), tmp_path / "out")
    assert [shape(one) for one in found] == [{"leaf1": 1}, {"leaf2": 1}]
