"""What is kept for later: newer platforms, spare ports, the places of appliances. What is in service stays as it is."""

from collections import Counter
from pathlib import Path
from typing import Any

from fabricgen.design.model import Fabric, Host
from fabricgen.render.plans import design_only
from tests.design.laws import check_ports, wiring
from tests.inventories import ARISTA, DELL, NVIDIA, Tree, rail_optimized, write


def laid_out(folder: Path, tree: Tree) -> Fabric:
    fabric, findings = design_only(write(folder, tree))
    assert [finding for finding in findings if finding.severity != "note"] == []
    return fabric


def platforms(fabric: Fabric, role: str) -> set[tuple[int | None, str]]:
    """Unit or pod of each switch of a role, and what it is."""
    found = [switch for switch in fabric.switches if switch.role == role]
    return {(each.identity.su if role == "leaf" else each.identity.pod, each.platform.name) for each in found}


def test_leaves_from_a_unit_on_are_newer(tmp_path: Path) -> None:
    later = [{"from_unit": 3, "platform": DELL}, {"from_unit": 1, "platform": NVIDIA}]
    fabric = laid_out(tmp_path, rail_optimized(16, 4, 6, leaf={"platform": ARISTA, "newer": later}))
    assert platforms(fabric, "leaf") == {(0, ARISTA), (1, NVIDIA), (2, NVIDIA), (3, DELL)}
    check_ports(fabric)


def three_tiers(hosts: int, **spine: Any) -> Tree:
    return rail_optimized(hosts, 4, 8, pod={"units": 2}, core={"platform": ARISTA}, spine={"platform": ARISTA, **spine})


def test_spines_follow_the_first_unit_of_their_pod(tmp_path: Path) -> None:
    """Unit 3 is the second of pod 1, so pod 2 is the first to be newer."""
    fabric = laid_out(tmp_path, three_tiers(32, newer=[{"from_unit": 3, "platform": NVIDIA}]))
    assert platforms(fabric, "spine") == {(0, ARISTA), (1, ARISTA), (2, NVIDIA), (3, NVIDIA)}


def test_newer_spines_change_no_link_of_those_in_service(tmp_path: Path) -> None:
    """Not even where the newer platform has fewer ports than the first."""
    before = laid_out(tmp_path, three_tiers(16))
    after = laid_out(tmp_path, three_tiers(32, newer=[{"from_unit": 4, "platform": DELL}]))
    assert wiring(before).items() <= wiring(after).items()
    check_ports(after)


def test_spare_ports_count_as_used_where_switches_are_counted(tmp_path: Path) -> None:
    """16 leaves with 32 uplinks need 8 spines of 64 ports; with one port kept free there, 16."""
    for spare, spines in ((0, 8), (1, 16)):
        tree = rail_optimized(64, 32, 2, DELL, spine={"platform": DELL, "spare_ports": spare})
        roles = Counter(switch.role for switch in laid_out(tmp_path, tree).switches)
        assert roles == {"leaf": 16, "spine": spines}


def test_appliances_take_the_last_places_of_unit_0(tmp_path: Path) -> None:
    tree = rail_optimized(7, scalable_unit={"hosts": 4, "planned": 3, "appliances": ["ufm"]})
    tree["hosts"]["ufm"] = {"model": "ufm", "count": 2}
    nic = {"name": "rail{rail}", "model": "ConnectX-7", "speed": "400G", "plane": "compute", "rails": 2}
    fabric = laid_out(tmp_path, {**tree, "host_models": {"ufm": {"gpus": 0, "nics": [nic]}}})
    found = {
        link.a.key: (link.b.identity.su, [port.name for port in link.b.layout.fabric_ports].index(link.b_port))
        for link in fabric.links
        if isinstance(link.a, Host) and link.rail == 0
    }
    assert found == {
        "gpu/0": (0, 0), "gpu/1": (0, 1), "ufm/0": (0, 3), "ufm/1": (0, 2),
        "gpu/2": (1, 0), "gpu/3": (1, 1), "gpu/4": (1, 2), "gpu/5": (1, 3), "gpu/6": (2, 0),
    }  # fmt: skip
