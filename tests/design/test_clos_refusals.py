"""What a Clos cannot be, and keys that would change nothing: one finding each, at the line to change."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.render.plans import design_only
from tests.inventories import ARISTA, DELL, GENERIC, NVIDIA, Tree, rail_optimized, write

CORE = {"platform": ARISTA}
UNIT = {"hosts": 4, "planned": 3}


def nic(rails: int = 4, ports: int = 1, **other: Any) -> Tree:
    row = {"name": "rail{rail}", "model": "ConnectX-7", "speed": "400G", "plane": "compute", "rails": rails, **other}
    return {**row, "ports": ports} if ports > 1 else row


def with_appliance(row: Tree, **plane: Any) -> Tree:
    tree = rail_optimized(scalable_unit={**UNIT, "appliances": ["ufm"]}, **plane)
    tree["hosts"]["ufm"] = {"model": "ufm", "count": 1}
    return {**tree, "host_models": {"ufm": {"gpus": 0, "nics": [row]}}}


def with_hosts(groups: list[str], **plane: Any) -> Tree:
    tree = rail_optimized(**plane)
    tree["planes"]["compute"]["hosts"] = groups
    return tree


def uneven(**plane: Any) -> Tree:
    """Hosts with two rails of two ports and one of one port."""
    single = {"name": "x", "model": "ConnectX-7", "speed": "400G", "plane": "compute", "rail": 2}
    tree = rail_optimized(model="odd", subplanes=2, **plane)
    return {**tree, "host_models": {"odd": {"gpus": 2, "nics": [nic(2, 2), single]}}}


def tier(platform: str = ARISTA, **keys: Any) -> Tree:
    return {"platform": platform, **keys}


def newer(unit: int, platform: str) -> list[Tree]:
    return [{"from_unit": unit, "platform": platform}]


@pytest.mark.parametrize(
    ("tree", "code", "path", "message"),
    [
        (with_appliance(nic(12)), "FG209", "scalable_unit.appliances", "NIC rail8 of ufm is on rail 8"),
        (with_appliance(nic(4, 3), design="dual-tor", model="dgx-b300", subplanes=1), "FG209",
         "scalable_unit.appliances", "NIC rail0c of ufm is port 2 of its card"),
        (with_appliance(nic(4, 3), model="dgx-b300", subplanes=2), "FG209", "scalable_unit.appliances", "is port 2"),
        (with_appliance(nic(speed="200G")), "FG209", "scalable_unit.appliances", "ufm has NICs of 200G"),
        (rail_optimized(scalable_unit={**UNIT, "appliances": ["gpu"]}, hosts=3), "FG105",
         "scalable_unit.appliances[0]", "host group 'gpu' is on plane compute already"),
        (rail_optimized(scalable_unit={**UNIT, "places": {"gpu": UNIT["hosts"] + 1}}, hosts=3), "FG853",
         "scalable_unit.places", f"the groups of `places` have {UNIT['hosts'] + 1} places"),
        (rail_optimized(scalable_unit={**UNIT, "places": {"other": 1}}, hosts=3), "FG853",
         "scalable_unit.places.other", "other has places in the units of plane compute"),
        (with_hosts(["gpu", "gpu"], hosts=4), "FG105", "hosts[1]", "'gpu' is on plane compute already"),
        (with_hosts([]), "FG106", "hosts", "the rail-optimized design needs hosts"),
        (uneven(), "FG214", "subplanes", "odd has 3 and 2 NIC ports for the 2 subplanes"),
        (uneven(design="fat-tree"), "FG214", "subplanes", "odd has 3 and 2 NIC ports for the 2 subplanes"),
        (rail_optimized(8, 8, 1, design="rail-only"), "FG201", "spine.platform", "1 unit has 1 leaf for each rail"),
        (rail_optimized(design="dual-tor"), "FG214", "design", "needs NICs with at least 2 ports, the NICs"),
        (rail_optimized(leaf=tier(layout="64x800g")), "FG202", "leaf.layout", "layout 64x800g of arista-7060x6-64pe"),
        (rail_optimized(spine=tier(layout="64x800g")), "FG202", "spine.layout", "has no port of 400G"),
        (rail_optimized(leaf=tier(count=5)), "FG215", "leaf.count", "units and rails determine the number of leaves"),
        (rail_optimized(oversubscription={"spine": 2}), "FG215", "oversubscription.spine", "no `core:` tier"),
        (rail_optimized(tiers=2, pod={"units": 2}, core=CORE), "FG215", "pod", "two tiers have no pods"),
        (rail_optimized(tiers=3), "FG201", "tiers", "three tiers are required, and the plane has no core tier"),
        (rail_optimized(pod={"units": 2}), "FG201", "pod", "three tiers are required, and the plane has no core tier"),
        (rail_optimized(8, 16, 100, GENERIC, pod={"units": 50}, core=tier(GENERIC)), "FG201", "pod",
         "50 leaves of a pod, more than the 32 of a spine's 64 ports"),
        (rail_optimized(core=tier(count=4)), "FG201", "core.count", "`count` sets 4 cores, and two tiers"),
        (rail_optimized(spine=tier(count=3)), "FG201", "spine.count", "3 spine switches cannot take 24 leaves"),
        (rail_optimized(spine=tier(spare_ports=200)), "FG201", "spine.spare_ports",
         "200 spare ports leave none of the 128 ports of a spine"),
        (rail_optimized(32, 32, 3, leaf=tier(spare_ports=20, newer=newer(1, DELL))), "FG201", "leaf.newer[0].platform",
         "a leaf needs 84 ports (32 hosts + 32 uplinks + 20 spare), its platform has 64"),
        (rail_optimized(leaf=tier(newer=newer(9, NVIDIA))), "FG105", "leaf.newer[0].from_unit",
         "unit 9 is never built: `planned` has the units 0 to 2"),
        (rail_optimized(leaf=tier(newer=newer(1, NVIDIA) + newer(1, DELL))), "FG105", "leaf.newer[0].from_unit",
         "two platforms start at unit 1"),
        (rail_optimized(spine=tier(newer=newer(1, NVIDIA))), "FG201", "spine.newer[0].from_unit", "serve all units"),
        (rail_optimized(tiers=3, core=tier(newer=newer(1, NVIDIA))), "FG215", "core.newer", "serve all units"),
        (rail_optimized(64, 32, 4, pod={"units": 2}, core=CORE, spine=tier(newer=newer(2, DELL), count=1)), "FG201",
         "spine.newer[0].platform", "a spine needs 128 ports (64 below + 64 uplinks), the newer platform has 64"),
    ],
)  # fmt: skip
def test_one_finding_at_the_line_to_change(tree: Tree, code: str, path: str, message: str, tmp_path: Path) -> None:
    findings = [each for each in design_only(write(tmp_path, tree))[1] if each.severity != "note"]
    assert [(each.code, each.path) for each in findings] == [(code, f"planes.compute.{path}")]
    assert message in findings[0].message
    assert findings[0].location and findings[0].location.line > 1
