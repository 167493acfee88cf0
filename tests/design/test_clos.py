"""The rules of counting a Clos one by one, and refusals with their arithmetic."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.design.capacity import capacity
from fabricgen.design.clos import ClosIntent, DoesNotFitError, plan_clos
from fabricgen.render.plans import design_only
from tests.inventories import GENERIC, Tree, rail_optimized, write


def counted(tree: Tree, folder: Path) -> dict[str, Any]:
    fabric, findings = design_only(write(folder, tree))
    assert [finding for finding in findings if finding.severity != "note"] == []
    (plane,) = capacity(fabric)["planes"]
    assert isinstance(plane, dict)
    return plane


@pytest.mark.parametrize(("ratio", "uplinks", "spines"), [(1, 16, 4), (2, 8, 2), (3, 6, 2), (0.5, 32, 8), (16, 1, 1)])
def test_uplinks_are_the_hosts_of_a_full_unit_over_the_oversubscription(
    ratio: float, uplinks: int, spines: int, tmp_path: Path
) -> None:
    plane = counted(rail_optimized(16, 16, 2, GENERIC, oversubscription=ratio), tmp_path)
    assert plane["links"]["leaf-spine"] == 8 * uplinks
    assert plane["switches"]["spine"] == spines
    assert plane["oversubscription"]["leaf"] == pytest.approx(16 / uplinks, abs=0.001)


def test_service_ports_are_no_radix(tmp_path: Path) -> None:
    """An Arista 7060X6-64PE has 128 fabric ports of 400G and two service ports beside them."""
    intent = rail_optimized(64, 64, 1)
    assert counted(intent, tmp_path)["ports"][0] == {"role": "leaf", "used": 8 * 128, "spare": 0}
    intent["planes"]["compute"]["scalable_unit"]["hosts"] = 65
    (finding,) = design_only(write(tmp_path, intent))[1]
    assert "a leaf needs 130 ports (65 hosts + 65 uplinks), its platform has 128" in finding.message


def test_links_of_a_split_cage_share_a_cable_between_switches(tmp_path: Path) -> None:
    """Two 400G ports to a cage: half as many cables as links between switches, and one for each NIC."""
    plane = counted(rail_optimized(16, 16, 2), tmp_path)
    assert plane["links"] == {"host-leaf": 128, "leaf-spine": 128, "spine-core": 0}
    assert plane["cables"] == {"host-leaf": 128, "leaf-spine": 64, "spine-core": 0}


INTENT = {"columns": 8, "units": 4, "uplinks": 32, "spine_radix": 64}


@pytest.mark.parametrize(
    ("change", "role", "arithmetic"),
    [
        ({"units": 16}, "spine", "16 units x 8 rails = 128 leaves, more than the 64 ports of a spine"),
        ({"spines": 12}, "spine", "12 spine switches cannot take 32 leaves x 32 uplinks"),
        ({"spines": 8}, "spine", "at least 32 x 32 / 64 ports = 16"),
        (
            {"units": 16, "core_radix": 64, "cores": 65},
            "core",
            "65 cores cannot be divided over the 16 spines",
        ),
        ({"units": 16, "core_radix": 64, "cores": 32}, "core", "must divide 32 and be at least 8 x 32 / 64"),
        ({"units": 512, "core_radix": 64}, "core", "8 rails x 16 pods = 128 pods, more than the 64 ports of a core"),
    ],
)
def test_refusals_show_the_arithmetic(change: dict[str, Any], role: str, arithmetic: str) -> None:
    with pytest.raises(DoesNotFitError) as refusal:
        plan_clos(ClosIntent(**{**INTENT, **change}))
    assert refusal.value.role == role
    assert arithmetic in refusal.value.reason


def test_a_forced_count_is_taken_when_it_fits() -> None:
    plan = plan_clos(ClosIntent(**INTENT, spines=32))
    assert (plan.spines_per_pod, plan.leaf_spine_parallel) == (32, 1)


def test_more_hosts_than_planned(tmp_path: Path) -> None:
    fabric, (finding,) = design_only(write(tmp_path, rail_optimized(13, 4, 3)))
    assert finding.code == "FG207" and fabric.switches == ()
    assert finding.message == "13 hosts, 4 in a unit, make 4 units, `planned` is 3"
    assert "planned: 4" in finding.hint


def with_appliance(rails: list[int]) -> Tree:
    tree = rail_optimized(7, 4, 2, GENERIC)
    nics = [
        {"name": f"p{rail}", "model": "BCM57608", "speed": "400G", "plane": "compute", "rail": rail} for rail in rails
    ]
    tree["host_models"] = {"box": {"gpus": 0, "nics": nics}}
    tree["hosts"]["box"] = {"model": "box", "count": 1}
    tree["planes"]["compute"]["scalable_unit"]["appliances"] = ["box"]
    return tree


def test_appliances_take_the_last_places_of_unit_0(tmp_path: Path) -> None:
    fabric, findings = design_only(write(tmp_path, with_appliance([0, 1])))
    assert findings == []
    taken = {
        (link.a.key, link.b.key, link.b_port) for link in fabric.links if link.a.key in ("box/0", "gpu/2", "gpu/3")
    }
    ports = [port.name for port in fabric.switches[0].layout.fabric_ports]
    assert {row for row in taken if row[0] == "box/0"} == {
        ("box/0", f"compute/su0/rail{rail}/leaf0", ports[3]) for rail in (0, 1)
    }
    assert {row[1:] for row in taken if row[0] == "gpu/3"} == {
        (f"compute/su1/rail{rail}/leaf0", ports[0]) for rail in range(8)
    }


def test_appliances_have_rails_of_the_hosts(tmp_path: Path) -> None:
    (finding,) = design_only(write(tmp_path, with_appliance([*range(9)])))[1]
    assert finding.code == "FG209" and "is on rail 8, which no host of plane compute has" in finding.message
    assert finding.path == "planes.compute.scalable_unit.appliances"


def test_groups_with_places_share_every_unit(tmp_path: Path) -> None:
    """Each group has its own places of a unit, so no host moves when one of them grows."""

    def seats(first: int, second: int, folder: str) -> dict[str, tuple[str, int]]:
        tree = rail_optimized(first, 4, 3, GENERIC)
        tree["hosts"]["other"] = {"model": "dgx-h100", "count": second}
        compute = tree["planes"]["compute"]
        compute |= {
            "hosts": ["gpu", "other"],
            "scalable_unit": {"hosts": 4, "planned": 3, "places": {"gpu": 3, "other": 1}},
        }
        fabric, findings = design_only(write(tmp_path / folder, tree))
        assert findings == [] and dict(fabric.planes[0].units) == {"gpu": (0, 1), "other": (0, 1)}
        ports = [port.name for port in fabric.switches[0].layout.fabric_ports]
        on_rail_0 = [
            link
            for link in fabric.links
            if link.b.key.endswith("rail0/leaf0") and link.a.key.startswith(("gpu", "other"))
        ]
        return {link.a.key: (link.b.key, ports.index(link.b_port)) for link in on_rail_0}

    before, after = seats(4, 1, "before"), seats(6, 2, "after")
    leaves = [f"compute/su{unit}/rail0/leaf0" for unit in range(2)]
    assert [before[f"gpu/{number}"] for number in range(4)] == [
        *((leaves[0], place) for place in range(3)),
        (leaves[1], 0),
    ]
    assert before["other/0"] == (leaves[0], 3) and after["other/1"] == (leaves[1], 3)
    assert before.items() <= after.items() and len(after) == 8
