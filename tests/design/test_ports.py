"""`ports` of tiers and devices: published designs from catalog platforms, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.design.capacity import capacity
from fabricgen.render.plans import design_only, make_plans
from tests.conftest import Cli
from tests.inventories import ARISTA, Tree, explicit, rail_optimized, write

SN5600, Z9864F = "nvidia-sn5600", "dell-z9864f"


def nics(speed: str, ports: int = 1, rails: int = 8) -> Tree:
    nic = {"name": "rail{rail}", "model": "ConnectX-7", "speed": speed, "plane": "compute", "rails": rails}
    return {"host_models": {"server": {"gpus": 8, "nics": [nic | ({"ports": ports} if ports > 1 else {})]}}}


def hpn(hosts: int, planned: int, platform: str = Z9864F, rails: int = 8) -> Tree:
    """Alibaba HPN 7.0: 128 x 200G and 60 x 400G on the 64 cages of a 51.2T leaf, eight ports of 200G in reserve."""
    leaf = {"platform": platform, "ports": {"1-34": "4x200G", "35-64": "2x400G"}}
    spine = {"platform": platform, "ports": {"1-64": "2x400G"}}
    tree = rail_optimized(hosts, 128, planned, platform, "server", design="dual-tor", leaf=leaf, spine=spine,
                          speed="200G", uplink_speed="400G", oversubscription={"leaf": 1.067})  # fmt: skip
    return {**tree, **nics("200G", 2, rails)}


def megascale(hosts: int, planned: int, rails: int = 8) -> Tree:
    """ByteDance MegaScale: half of 64 cages of 400G split into two ports of 200G, the other half at 400G above."""
    leaf = {"platform": SN5600, "ports": {"1-32": "2x200G", "33-64": "1x400G"}}
    spine = {"platform": SN5600, "ports": {"1-64": "1x400G"}}
    tree = rail_optimized(hosts, 64, planned, SN5600, "server", leaf=leaf, spine=spine, speed="200G",
                          uplink_speed="400G")  # fmt: skip
    return {**tree, **nics("200G", 1, rails)}


def gb200(hosts: int, planned: int) -> Tree:
    """Trays of GB200 NVL72 below twin ports of 400G; 800G above."""
    leaf = {"platform": SN5600, "ports": {"1-32": "2x400G", "33-64": "1x800G"}}
    spine = {"platform": SN5600, "layout": "64x800g"}
    return rail_optimized(hosts, 36, planned, SN5600, "gb200-nvl72", leaf=leaf, spine=spine, uplink_speed="800G")


def meta(hosts: int, units: int, pod: int, spine: Tree, core: Tree) -> Tree:
    """Meta: two hosts in a rack, 1:2 at the rack, 7:1 at the top."""
    rack = {"platform": Z9864F, "ports": {"1-24": "2x400G"}}
    tree = rail_optimized(hosts, 2, units, Z9864F, design="fat-tree", leaf=rack, spine=spine, core=core,
                          pod={"units": pod}, oversubscription={"leaf": 0.5, "spine": 7})  # fmt: skip
    tree["planes"]["compute"]["tiers"] = 3
    return tree


def counted(tree: Tree, folder: Path) -> dict[str, Any]:
    fabric, findings = design_only(write(folder, tree))
    assert [finding.message for finding in findings if finding.severity != "note"] == []
    (plane,) = capacity(fabric)["planes"]
    assert isinstance(plane, dict)
    return plane


def test_hpn(tmp_path: Path) -> None:
    """A segment: 1024 GPUs, 16 leaves, 60 uplinks each; 15 segments below 60 spines of each of the two planes."""
    plane = counted(hpn(128, 15), tmp_path)
    assert (plane["switches"], plane["gpus"]) == ({"leaf": 16, "spine": 120, "core": 0}, 1024)
    assert plane["planned"]["leaf"] == 240
    assert plane["links"] == {"host-leaf": 2048, "leaf-spine": 16 * 60, "spine-core": 0}
    assert plane["ports"][0] == {"role": "leaf", "used": 16 * 188, "spare": 16 * 8}
    assert plane["oversubscription"]["leaf"] == 1.067


def test_megascale(tmp_path: Path) -> None:
    plane = counted(megascale(64, 1), tmp_path)
    assert plane["switches"]["leaf"] == 8
    assert plane["links"] == {"host-leaf": 8 * 64, "leaf-spine": 8 * 32, "spine-core": 0}
    assert plane["ports"][0] == {"role": "leaf", "used": 8 * 96, "spare": 0}
    assert plane["oversubscription"]["leaf"] == 1.0


def test_gb200(tmp_path: Path) -> None:
    """Eight racks: 576 GPUs in eight NVLink domains; two racks of trays fill 36 of the 64 twin ports of a leaf."""
    plane = counted(gb200(144, 4), tmp_path)
    assert (plane["hosts"], plane["gpus"], plane["nvlink_domains"]) == (144, 576, 8)
    assert plane["switches"] == {"leaf": 16, "spine": 6, "core": 0}
    assert plane["links"] == {"host-leaf": 576, "leaf-spine": 16 * 18, "spine-core": 0}
    assert plane["oversubscription"]["leaf"] == 1.0


FIXED = {"platform": Z9864F, "ports": {"1-64": "2x400G"}}


@pytest.mark.parametrize(
    "tree",
    [hpn(2, 1, rails=2), megascale(2, 1, rails=2), gb200(2, 1), meta(4, 2, 1, FIXED, FIXED)],
    ids=["hpn", "megascale", "gb200", "meta"],
)
def test_a_published_design_is_clean(tree: Tree, tmp_path: Path, cli: Cli) -> None:
    """A corner of each design, with the ports of the whole one. Congestion (FG7) is intended where 7:1 is, and a
    corner has one spine (FG285, FG606)."""
    outcome = cli("check", write(tmp_path, tree), "--format", "json")
    found = [each for each in json.loads(outcome.out)["findings"] if each["severity"] != "note"]
    assert outcome.code == 0 and not [each for each in found if not each["code"].startswith(("FG7", "FG285", "FG606"))]


def small(ports: Tree, platform: str = ARISTA, **plane: Any) -> Tree:
    return rail_optimized(4, 4, 2, leaf={"platform": platform, "ports": ports}, **plane)


@pytest.mark.parametrize(
    ("ports", "code", "key", "message", "hint"),
    [
        ({"60-70": "2x400G"}, "FG240", "60-70", "arista-7060x6-64pe has no cage 60-70 for the fabric",
         "its cages are 1-64"),
        ({"65": "1x10G"}, "FG240", "65", "arista-7060x6-64pe has no cage 65 for the fabric", "its cages are 1-64"),
        ({"1-8": "2x400G", "8,9": "1x400G"}, "FG102", "8,9", "cage 8 is in '8,9' and in '1-8' of `ports`",
         "name each cage once"),
        ({"3": "3x100G"}, "FG202", "3", "cage 3 of arista-7060x6-64pe has no breakout mode '3x100G'",
         "it has: 2x400G, 1x800G[400G], 1x400G, 4x200G, 8x100G"),
        ({"1-64": "4x200G"}, "FG202", None, "`ports` has no port of 400G",
         "give cages of arista-7060x6-64pe a breakout mode with ports of 400G"),
        ({"1-50": "4x200G", "51-64": "1x800G"}, "FG202", None, "`ports` has no port of 400G",
         "give cages of arista-7060x6-64pe a breakout mode with ports of 400G"),
    ],
)  # fmt: skip
def test_ports_that_are_refused(
    ports: Tree, code: str, key: str | None, message: str, hint: str, tmp_path: Path
) -> None:
    _, findings = design_only(write(tmp_path, small(ports)))
    (found,) = [finding for finding in findings if finding.severity == "error"]
    assert (found.code, found.message, found.hint) == (code, message, hint)
    assert found.path == "planes.compute.leaf.ports" + (f".{key}" if key else "")
    assert found.location and found.location.line


def test_too_few_ports_name_the_key(tmp_path: Path) -> None:
    tree = small({"1-4": "4x200G"}, SN5600, speed="200G", uplink_speed="400G", spine={"platform": SN5600})
    tree = {**tree, **nics("200G")}
    tree["hosts"]["gpu"]["model"] = "server"
    tree["planes"]["compute"]["scalable_unit"]["hosts"] = 20
    _, findings = design_only(write(tmp_path, tree))
    (found,) = [finding for finding in findings if finding.severity == "error"]
    assert (found.code, found.path) == ("FG201", "planes.compute.leaf.ports")
    assert "20 ports for hosts" in found.message


def test_no_layout_has_both_speeds(tmp_path: Path) -> None:
    tree = rail_optimized(4, 4, 2, SN5600, "server", speed="200G", uplink_speed="400G")
    _, findings = design_only(write(tmp_path, {**tree, **nics("200G")}))
    found = next(finding for finding in findings if finding.severity == "error")
    assert found.code == "FG202" and '`ports: {"1-32": 4x200G, "33-64": 2x400G}`' in found.hint


def with_device(ports: Tree, *more: Tree) -> Tree:
    return {**rail_optimized(2, 2, 2, SN5600), "devices": [{"name": "compute-su00-r0-leaf", "ports": ports}, *more]}


def errors(tree: Tree, folder: Path) -> list[tuple[str, str]]:
    plans = make_plans(write(folder, tree))
    return [(found.code, found.message) for found in plans.findings if found.severity == "error"]


def test_a_device_keeps_its_links(tmp_path: Path) -> None:
    before, after = (
        make_plans(write(tmp_path / name, tree))
        for name, tree in (("a", with_device({"1": "2x400G"})), ("b", with_device({"20": "4x200G", "1": "2x200G"})))
    )
    assert errors(with_device({"20": "4x200G"}), tmp_path) == []
    ends = [[(link.key, link.a_port, link.b_port) for link in plans.fabric.links] for plans in (before, after)]
    assert ends[0] == ends[1]
    slow = [link.key for link in after.fabric.links if link.speed_mbps == 200_000]
    assert slow == ["compute/gpu/0/rail0", "compute/gpu/1/rail0"], "both ports of cage 1 lead to hosts"
    leaf = next(switch for switch in after.fabric.switches if switch.key == "compute/su0/rail0/leaf0")
    assert [leaf.layout.port_by_name[name].alias for name in ("Ethernet152", "Ethernet158")] == ["etp20a", "etp20d"]


def test_a_device_that_loses_a_link(tmp_path: Path) -> None:
    (first, second) = errors(with_device({"1": "1x800G"}), tmp_path)[:2]
    assert second == (
        "FG216", "`ports` removes Ethernet4 of compute-su00-r0-leaf, which carries link compute/gpu/1/rail0"
    )  # fmt: skip
    assert first == ("FG206", "compute/gpu/0/rail0: ConnectX-7 has no port of 800G")


def test_both_ends_of_a_slow_link(tmp_path: Path) -> None:
    found = errors(with_device({"64": "2x200G"}), tmp_path)
    assert found[0][0] == "FG206" and "Ethernet504 200G, " in found[0][1] and "400G" in found[0][1]


def test_infiniband_has_layouts(tmp_path: Path) -> None:
    tree = rail_optimized(4, 4, 2, "nvidia-qm9700", technology="infiniband")
    tree["planes"]["compute"]["leaf"]["ports"] = {"1-4": "2x200G"}
    _, findings = design_only(write(tmp_path, tree))
    assert [(one.code, one.hint) for one in findings if one.severity == "error"] == [
        ("FG240", "remove `ports`, and choose a `layout`")
    ]


def test_ports_of_an_explicit_switch(tmp_path: Path) -> None:
    tree = explicit(SN5600)
    tree["planes"]["compute"]["leaves"][0]["ports"] = {"30": "1x400G"}
    plans = make_plans(write(tmp_path, tree))
    leaf = next(switch for switch in plans.fabric.switches if switch.key == "compute/leaf/leaf1")
    assert leaf.layout.port_by_name["Ethernet232"].speed_mbps == 400_000
    assert "Ethernet236" not in leaf.layout.port_by_name and "Ethernet244" in leaf.layout.port_by_name
