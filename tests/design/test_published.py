"""Counts of published designs, from inventories of at most 40 lines.

Tables A, B: NVIDIA DGX SuperPOD reference architectures H100 and B200 with InfiniBand switches; D: B300, twin planes,
whose cable column counts 800G cables with two links each. Then the published designs of operators: Alibaba HPN
(SIGCOMM 2024 and the HPN 7.0 description), Meta (SIGCOMM 2024, Llama 3), ByteDance MegaScale (NSDI 2024). Vendors:
AMD Instinct MI3XX Reference Design, Intel Gaudi 3 sub-cluster, Asterfusion CX864E-N configuration guide, a 72-node
pattern of Quantum-X800, Kedios' B300 report (February 2026), and one scalable unit of Spectrum-X (RA 1.3).
"""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.design.capacity import capacity
from fabricgen.render.plans import design_only
from tests.conftest import Cli
from tests.inventories import Tree, rail_optimized, text_of, write

QM9700 = "nvidia-qm9700"


def counted(tree: Tree, folder: Path) -> dict[str, Any]:
    tree = {key: part for key, part in tree.items() if key != "management"}
    assert len(text_of(tree).splitlines()) <= 40
    fabric, findings = design_only(write(folder, tree))
    assert [finding for finding in findings if finding.severity != "note"] == []
    (plane,) = capacity(fabric)["planes"]
    assert isinstance(plane, dict)
    return plane


TABLE_A = [(1, 31, 248, 8, 4, 252, 256), (2, 63, 504, 16, 8, 508, 512), (3, 95, 760, 24, 16, 764, 768),
           (4, 127, 1016, 32, 16, 1020, 1024)]  # fmt: skip


@pytest.mark.parametrize(("units", "nodes", "gpus", "leaves", "spines", "node_cables", "cables"), TABLE_A)
def test_table_a(
    units: int, nodes: int, gpus: int, leaves: int, spines: int, node_cables: int, cables: int, tmp_path: Path
) -> None:
    """The missing node's place is that of the fabric manager, which has four ports."""
    tree = rail_optimized(nodes, 32, units, QM9700, technology="infiniband")
    tree["hosts"]["ufm"] = {"model": "ufm", "count": 1}
    nic = {"name": "rail{rail}", "model": "ConnectX-7", "speed": "400G", "plane": "compute", "rails": 4}
    tree["host_models"] = {"ufm": {"gpus": 0, "nics": [nic]}}
    tree["planes"]["compute"]["scalable_unit"]["appliances"] = ["ufm"]
    plane = counted(tree, tmp_path)
    assert plane["switches"] == plane["planned"] == {"leaf": leaves, "spine": spines, "core": 0}
    assert (plane["hosts"], plane["gpus"]) == (nodes + 1, gpus)
    assert plane["cables"] == plane["links"] == {"host-leaf": node_cables, "leaf-spine": cables, "spine-core": 0}
    assert plane["lids"] == node_cables + leaves + spines
    tree["hosts"]["gpu"]["count"] = nodes + 1
    (refusal,) = [each for each in design_only(write(tmp_path, tree))[1] if each.severity == "error"]
    assert refusal.message == (
        f"{nodes + 1} hosts, 32 in a unit, 1 reserved for appliances, make {units + 1} units, `planned` is {units}"
    )


TABLE_B = [(2, 64, 16, 8, 0, 512, 512, 0), (4, 128, 32, 16, 0, 1024, 1024, 0), (8, 256, 64, 32, 0, 2048, 2048, 0),
           (16, 512, 128, 128, 64, 4096, 4096, 4096), (32, 1024, 256, 256, 128, 8192, 8192, 8192),
           (64, 2048, 512, 512, 256, 16384, 16384, 16384)]  # fmt: skip


@pytest.mark.parametrize(("units", "nodes", "leaves", "spines", "cores", "down", "middle", "up"), TABLE_B)
def test_table_b(
    units: int, nodes: int, leaves: int, spines: int, cores: int, down: int, middle: int, up: int, tmp_path: Path
) -> None:
    tree = rail_optimized(nodes, 32, units, QM9700, "dgx-b200", technology="infiniband", core={"platform": QM9700})
    plane = counted(tree, tmp_path)
    assert plane["switches"] == {"leaf": leaves, "spine": spines, "core": cores}
    assert plane["cables"] == plane["links"] == {"host-leaf": down, "leaf-spine": middle, "spine-core": up}
    assert set(plane["oversubscription"].values()) == {1.0}
    assert {rail["oversubscription"] for rail in plane["rails"]} == {1.0} and len(plane["rails"]) == 8


TABLE_D = [(1, 64, 512, 16, 8, 512, 512), (2, 128, 1024, 32, 16, 1024, 1024), (4, 256, 2048, 64, 32, 2048, 2048),
           (8, 512, 4096, 128, 64, 4096, 4096), (16, 1024, 8192, 256, 128, 8192, 8192)]  # fmt: skip


@pytest.mark.parametrize(("units", "nodes", "gpus", "leaves", "spines", "node_cables", "cables"), TABLE_D)
def test_table_d(
    units: int, nodes: int, gpus: int, leaves: int, spines: int, node_cables: int, cables: int, tmp_path: Path
) -> None:
    plane = counted(rail_optimized(nodes, 64, units, "nvidia-sn5600", "dgx-b300", subplanes=2), tmp_path)
    assert plane["switches"] == {"leaf": leaves, "spine": spines, "core": 0}
    assert (plane["hosts"], plane["gpus"], plane["endpoints"]) == (nodes, gpus, 2 * gpus)
    assert plane["cables"] == {"host-leaf": node_cables, "leaf-spine": cables, "spine-core": 0}
    assert plane["links"] == {"host-leaf": 2 * node_cables, "leaf-spine": 2 * cables, "spine-core": 0}


TABLE_XDR = [(1, 72, 576, 8, 4, 576), (2, 144, 1152, 16, 8, 1152), (4, 288, 2304, 32, 18, 2304),
             (8, 576, 4608, 64, 36, 4608), (18, 1296, 10368, 144, 72, 10368)]  # fmt: skip


def xdr(units: int) -> Tree:
    """Units of 72 DGX B300 on Quantum-X800, from the catalog alone."""
    tree = rail_optimized(72 * units, 72, units, "nvidia-q3400", "dgx-b300-xdr", technology="infiniband", speed="800G")
    del tree["planes"]["compute"]["addressing"]
    return tree


@pytest.mark.parametrize(("units", "nodes", "gpus", "leaves", "spines", "cables"), TABLE_XDR)
def test_table_xdr(units: int, nodes: int, gpus: int, leaves: int, spines: int, cables: int, tmp_path: Path) -> None:
    """DGX B300 with XDR: the published table; its 9,216 GPUs of 18 units are eight for each of 1,152 nodes."""
    plane = counted(xdr(units), tmp_path)
    assert plane["switches"] == {"leaf": leaves, "spine": spines, "core": 0}
    assert (plane["hosts"], plane["gpus"]) == (nodes, gpus)
    assert plane["cables"] == {"host-leaf": cables, "leaf-spine": cables, "spine-core": 0}
    assert set(plane["oversubscription"].values()) == {1.0}


def test_a_unit_of_xdr_is_clean(tmp_path: Path, cli: Cli) -> None:
    tree = {key: part for key, part in xdr(1).items() if key != "management"}
    outcome = cli("check", write(tmp_path, tree), "--fail-on", "warning")
    assert outcome.code == 0 and "0 errors, 0 warnings" in outcome.out + outcome.err


def test_trays_of_gb300(tmp_path: Path) -> None:
    """Two units of 72 trays, four racks each: four rails, from the catalog alone."""
    tree = rail_optimized(144, 72, 2, "nvidia-q3400", "gb300-nvl72", technology="infiniband", speed="800G")
    plane = counted(tree, tmp_path)
    assert (plane["gpus"], plane["nvlink_domains"]) == (576, 8)
    assert plane["switches"] == {"leaf": 8, "spine": 4, "core": 0}


def test_more_trays_in_a_unit_than_a_leaf_has_ports_are_refused(tmp_path: Path) -> None:
    tree = rail_optimized(144, 144, 1, "nvidia-q3400", "gb300-nvl72", technology="infiniband", speed="800G")
    del tree["management"]
    (refusal,) = [each for each in design_only(write(tmp_path, tree))[1] if each.severity == "error"]
    assert "needs 288 ports" in refusal.message and "scalable_unit.hosts" in (refusal.hint or "")


@pytest.mark.parametrize("model", ["dgx-h100", "dgx-h200", "dgx-b200"])
def test_transceivers_of_a_pod(model: str, tmp_path: Path) -> None:
    """127 nodes: four twin-port cages of a host, the same of leaves and spines, and four ports of the manager."""
    tree = rail_optimized(127, 32, 4, QM9700, model, technology="infiniband")
    nic = {"name": "rail{rail}", "model": "ConnectX-7", "speed": "400G", "plane": "compute", "rails": 4}
    tree["hosts"]["ufm"] = {"model": "ufm", "count": 1}
    tree["host_models"] = {"ufm": {"gpus": 0, "nics": [nic]}}
    compute = tree["planes"]["compute"]
    compute["scalable_unit"]["appliances"] = ["ufm"]
    compute["cables"] = {kind: {"length": "30m", "medium": "mmf"} for kind in ("host-leaf", "leaf-spine")}
    del tree["management"]
    fabric, _ = design_only(write(tmp_path, tree))
    (plane,) = capacity(fabric)["planes"]
    assert sum(optic["transceivers"] for optic in plane["optics"]) == 127 * 4 + 4 + 512 + 1024


def two_ports(tree: Tree) -> Tree:
    nic = {"name": "rail{rail}", "model": "ConnectX-7", "speed": "200G", "plane": "compute", "rails": 8, "ports": 2}
    return {**tree, "host_models": {"dual": {"gpus": 8, "nics": [nic]}}}


def test_hpn_segment(tmp_path: Path) -> None:
    """128 hosts with 8 NICs of 2 x 200G: 1024 GPUs, 16 leaves; fifteen segments make a pod of 15,360 GPUs."""
    leaf = {"platform": "generic-128x200g+64x400g"}
    tree = rail_optimized(128, 128, 15, "generic-128x400g", "dual", design="dual-tor", leaf=leaf, speed="200G",
                          uplink_speed="400G")  # fmt: skip
    plane = counted(two_ports(tree), tmp_path)
    assert (plane["switches"]["leaf"], plane["gpus"], plane["planned"]["leaf"]) == (16, 1024, 240)
    assert plane["links"] == {"host-leaf": 2048, "leaf-spine": 16 * 64, "spine-core": 0}
    assert plane["oversubscription"]["leaf"] == 1.0


def test_hpn_pod_of_eight_segments(tmp_path: Path) -> None:
    leaf = {"platform": "generic-128x200g+64x400g"}
    tree = rail_optimized(1024, 128, 8, "generic-128x400g", "dual", design="dual-tor", leaf=leaf, speed="200G",
                          uplink_speed="400G")  # fmt: skip
    plane = counted(two_ports(tree), tmp_path)
    assert (plane["switches"]["leaf"], plane["gpus"]) == (8 * 16, 8192)


def test_meta(tmp_path: Path) -> None:
    """24,576 GPUs: 1,536 racks of two hosts, eight pods of 192 racks; 1:2 at the rack, 7:1 at the top."""
    rack = {"platform": "dell-z9864f", "ports": {"1-24": "2x400G"}}
    chassis = {"platform": "generic-576x400g"}
    tree = rail_optimized(3072, 2, 1536, "generic-64x400g", design="fat-tree", leaf=rack, spine=chassis, core=chassis,
                          pod={"units": 192}, oversubscription={"leaf": 0.5, "spine": 7})  # fmt: skip
    plane = counted(tree, tmp_path)
    assert (plane["gpus"], plane["switches"]["leaf"]) == (24_576, 1536)
    assert plane["oversubscription"]["leaf"] == 0.5 and 6.9 <= plane["oversubscription"]["spine"] <= 7
    assert plane["switches"]["spine"] % 8 == 0, "eight pods"


def test_megascale_leaf(tmp_path: Path) -> None:
    """64 servers below eight leaves; a leaf has 32 ports of 400G split into 64 of 200G below, 32 of 400G above."""
    nic = {"name": "rail{rail}", "model": "ConnectX-7", "speed": "200G", "plane": "compute", "rails": 8}
    leaf = {"platform": "generic-64x200g+32x400g"}
    tree = rail_optimized(64, 64, 8, "generic-64x400g", "server", leaf=leaf, speed="200G", uplink_speed="400G")
    plane = counted({**tree, "host_models": {"server": {"gpus": 8, "nics": [nic]}}}, tmp_path)
    assert plane["switches"]["leaf"] == 8
    assert plane["links"]["host-leaf"] == 8 * 64 and plane["links"]["leaf-spine"] == 8 * 32
    assert plane["ports"][0] == {"role": "leaf", "used": 8 * 96, "spare": 0}
    assert plane["oversubscription"]["leaf"] == 1.0


def test_nvl72(tmp_path: Path) -> None:
    """Eight racks of 18 trays with four GPUs are 576 GPUs in eight NVLink domains."""
    plane = counted(rail_optimized(144, 18, 8, model="gb200-nvl72"), tmp_path)
    assert (plane["hosts"], plane["gpus"], plane["nvlink_domains"], plane["endpoints"]) == (144, 576, 8, 576)
    assert plane["switches"]["leaf"] == 8 * 4


def own(gpus: int, rails: int, speed: str = "400G", model: str = "ConnectX-7") -> Tree:
    nic = {"name": "rail{rail}", "model": model, "speed": speed, "plane": "compute", "rails": rails}
    return {"host_models": {"server": {"gpus": gpus, "nics": [nic]}}}


def test_amd_two_thousand_gpus(tmp_path: Path) -> None:
    """2,072 GPUs in 259 nodes on a tree of about 61 switches of 51.2T: seven to a leaf, all of its ports in use."""
    tree = rail_optimized(259, 7, 37, "generic-128x400g", "mi300x", design="fat-tree", oversubscription=0.778)
    plane = counted(tree, tmp_path)
    assert plane["gpus"] == 2072 and sum(plane["switches"].values()) == 61
    assert plane["ports"][0]["spare"] == 0


def test_gaudi_sub_cluster(tmp_path: Path) -> None:
    """Sixteen nodes below three leaves of 64 x 800G, half of whose cages lead down."""
    leaf = {"platform": "generic-128x200g+32x800g"}
    tree = rail_optimized(16, 16, 8, "generic-64x800g", "gaudi-3", leaf=leaf, speed="200G", uplink_speed="800G",
                          rails_per_leaf=8)  # fmt: skip
    plane = counted(tree, tmp_path)
    assert (plane["switches"]["leaf"], plane["gpus"]) == (3, 128)
    assert plane["links"] == {"host-leaf": 3 * 128, "leaf-spine": 3 * 32, "spine-core": 0}


def test_asterfusion_four_rails(tmp_path: Path) -> None:
    """64 nodes of four GPUs: a leaf for each rail, two spines."""
    plane = counted({**rail_optimized(64, 64, 1, "generic-128x400g", "server"), **own(4, 4)}, tmp_path)
    assert (plane["switches"], plane["gpus"]) == ({"leaf": 4, "spine": 2, "core": 0}, 256)
    assert plane["links"] == {"host-leaf": 256, "leaf-spine": 256, "spine-core": 0}
    assert (plane["injection_gbps"], plane["bisection_gbps"]) == (102_400, 51_200)


def test_quantum_x800_of_72_nodes(tmp_path: Path) -> None:
    """32 of 72 nodes built: eight leaves and four spines of 144 ports."""
    tree = rail_optimized(32, 72, 1, "nvidia-q3400", "server", technology="infiniband", speed="800G")
    plane = counted({**tree, **own(8, 8, "800G", "ConnectX-8")}, tmp_path)
    assert (plane["switches"], plane["gpus"]) == ({"leaf": 8, "spine": 4, "core": 0}, 256)


def test_kedios_of_32_nodes(tmp_path: Path) -> None:
    """Eight leaves and four spines; the report calls the bandwidth of all hosts 204.8 Tb/s: half of it crosses the
    middle."""
    spine = {"platform": "nvidia-q3400", "count": 4}
    tree = rail_optimized(32, 32, 1, "nvidia-q3400", "dgx-b300-xdr", technology="infiniband", speed="800G", spine=spine)
    plane = counted(tree, tmp_path)
    assert plane["switches"] == {"leaf": 8, "spine": 4, "core": 0}
    assert set(plane["oversubscription"].values()) == {1.0}
    assert (plane["injection_gbps"], plane["bisection_gbps"]) == (204_800, 102_400)


def test_spectrum_x_unit(tmp_path: Path) -> None:
    """One scalable unit of 32 nodes: twelve switches and 256 cables of hosts."""
    spine = {"platform": "nvidia-sn5600", "count": 4}
    plane = counted(rail_optimized(32, 32, 1, "nvidia-sn5600", "dgx-h100", spine=spine), tmp_path)
    assert (sum(plane["switches"].values()), plane["cables"]["host-leaf"], plane["gpus"]) == (12, 256, 256)
