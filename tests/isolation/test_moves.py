"""A host that goes from one tenant to another, as `diff` and its plan show it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.inventories import Tree, write
from tests.isolation import test_evpn, test_tenants, test_vrfs

FABRICS: dict[str, Any] = {"acl": test_tenants.rented, "vrf": test_vrfs.rented, "evpn": test_evpn.rented}
ORDERS = {
    "acl": "in two changes",
    "vrf": "in one change: a port leaves the VRF of the old tenant",
    "evpn": "copy frr.conf to each leaf",
}


def rendered(cli: Cli, folder: Path, tree: Tree, name: str) -> Path:
    assert cli("render", write(folder / "inventory", tree), "--output", folder / name).code == 0
    return folder / name


@pytest.mark.parametrize("level", FABRICS)
def test_the_plan_says_in_which_order(cli: Cli, tmp_path: Path, level: str) -> None:
    tree = FABRICS[level]()
    old = rendered(cli, tmp_path, tree, "old")
    tree["tenants"]["red"]["hosts"] = [*tree["tenants"]["red"]["hosts"], "gpu/0"]
    tree["tenants"]["blue"]["hosts"] = ["gpu/1"]
    new = rendered(cli, tmp_path, tree, "new")
    shown = cli("diff", old, new).out
    assert "tenants of plane compute: 8 NICs of 1 host from blue to red; " in shown
    assert ORDERS[level] in shown
    assert ("frr.conf" in shown) == (level == "evpn")
    plan = json.loads(cli("diff", old, new, "--format", "plan").out)
    move = next(one for one in plan["tenants"] if one["new"] == "red")
    assert (move["old"], len(move["nics"])) == ("blue", 8)
    assert move["order"].startswith("in ")


def test_nothing_moves(cli: Cli, tmp_path: Path) -> None:
    tree = test_tenants.rented()
    old = rendered(cli, tmp_path, tree, "old")
    tree["planes"]["compute"]["mtu"] = 9000
    new = rendered(cli, tmp_path, tree, "new")
    assert "tenants of plane" not in cli("diff", old, new).out
