"""Which switches and NICs a plane takes: technology, bare switches, ports of two speeds, twin-port cages."""

from pathlib import Path

import pytest

from fabricgen.design.capacity import capacity
from fabricgen.findings import Finding
from fabricgen.render.plans import design_only
from tests.inventories import ADDRESSING, NVIDIA, Tree, explicit, rail_optimized, write


def findings_of(folder: Path, tree: Tree) -> list[Finding]:
    return design_only(write(folder, tree))[1]


def counts(folder: Path, tree: Tree) -> dict[str, dict[str, int]]:
    fabric, findings = design_only(write(folder, tree))
    assert findings == []
    plane: dict[str, dict[str, int]] = capacity(fabric)["planes"][0]
    return {key: plane[key] for key in ("switches", "links", "cables")}


@pytest.mark.parametrize("technology", ["roce", "infiniband"])
def test_a_switch_of_the_other_technology_is_refused(technology: str, tmp_path: Path) -> None:
    wrong = "nvidia-qm9700" if technology == "roce" else NVIDIA
    findings = findings_of(tmp_path, rail_optimized(platform=wrong, technology=technology))
    assert [(finding.code, finding.path) for finding in findings] == [
        ("FG239", "planes.compute.leaf.platform"),
        ("FG239", "planes.compute.spine.platform"),
    ]
    assert all(finding.location and finding.hint for finding in findings)


def test_a_single_switch_of_the_other_technology_is_refused(tmp_path: Path) -> None:
    tree = explicit()
    tree["planes"]["compute"]["leaves"].append({"name": "leaf3", "platform": "nvidia-qm8790"})
    assert [(finding.code, finding.path) for finding in findings_of(tmp_path, tree)] == [
        ("FG239", "planes.compute.leaves[2].platform")
    ]


@pytest.mark.parametrize("technology", ["roce", "infiniband"])
def test_bare_switches_serve_both(technology: str, tmp_path: Path) -> None:
    tree = rail_optimized(8, 4, 3, "generic-576x400G", technology=technology)
    assert counts(tmp_path, tree)["switches"] == {"leaf": 16, "spine": 1, "core": 0}


def test_halves_of_a_split_port_share_a_cable(tmp_path: Path) -> None:
    tree = explicit("nvidia-qm9700", technology="infiniband", hosts=[], speed="200G")
    links = [[f"leaf1:{port}", f"spine1:{port}"] for port in (1, 2, 3, 4, 5)]
    tree["planes"]["compute"]["links"] = [*links, ["leaf1:6", "spine1:7"]]
    assert counts(tmp_path, tree)["cables"]["leaf-spine"] == 3  # 1 with 2, 3 with 4, 5 with 6, which fans out


def test_ports_of_two_speeds_on_one_switch(tmp_path: Path) -> None:
    """Controllers at 1G below, 100G upwards."""
    tree: Tree = {
        "fabricgen": 1,
        "fabric": "tiny",
        "hosts": {"gpu": {"model": "dgx-h100", "count": 2}},
        "planes": {
            "out-of-band": {
                "design": "explicit",
                "hosts": ["gpu"],
                "speed": "1G",
                "leaf": {"platform": "nvidia-sn2201"},
                "spine": {"platform": "nvidia-sn4600c", "layout": "64x100g"},
                "leaves": [{"name": "mgmt1"}],
                "spines": [{"name": "agg1"}],
                "links": [
                    ["gpu/0:bmc", "mgmt1:Ethernet0"],
                    ["gpu/1:bmc", "mgmt1:Ethernet1"],
                    ["mgmt1:Ethernet48", "agg1:Ethernet0"],
                ],
                "addressing": ADDRESSING,
            }
        },
    }
    fabric, findings = design_only(write(tmp_path, tree))
    assert findings == []
    assert [(link.kind, link.speed_mbps) for link in fabric.links] == [
        ("host-leaf", 1_000),
        ("host-leaf", 1_000),
        ("leaf-spine", 100_000),
    ]


def test_an_explicit_design_may_take_either_port(tmp_path: Path) -> None:
    tree = explicit()
    tree["hosts"]["gpu"]["model"] = "dgx-b300"
    tree["planes"]["compute"]["links"][:2] = [["gpu/0:rail0a", "leaf1:Ethernet0"], ["gpu/0:rail0b", "leaf2:Ethernet0"]]
    fabric, findings = design_only(write(tmp_path, tree))
    assert findings == []
    assert [(link.a_port, link.nic.port) for link in fabric.links if link.nic] == [("rail0a", 0), ("rail0b", 1)]


def of_nics(model: str, speed: str, technology: str) -> Tree:
    """Eight rails of that NIC on switches that serve both technologies."""
    nic = {"name": "rail{rail}", "model": model, "speed": speed, "plane": "compute", "rails": 8}
    tree = rail_optimized(model="own", platform=f"generic-64x{speed.lower()}", technology=technology, speed=speed)
    if technology == "infiniband":
        del tree["planes"]["compute"]["addressing"]
    return {**tree, "host_models": {"own": {"gpus": 8, "nics": [nic]}}}


@pytest.mark.parametrize(
    ("model", "speed", "technology", "message"),
    [
        ("BCM57608", "400G", "infiniband", "BCM57608 has no InfiniBand port, "),
        ("Gaudi-3", "200G", "infiniband", "Gaudi-3 has no InfiniBand port, "),
        ("ConnectX-6", "50G", "infiniband", "ConnectX-6 has no InfiniBand port of 50G, "),
    ],
)
def test_a_nic_of_the_other_technology_is_refused(
    model: str, speed: str, technology: str, message: str, tmp_path: Path
) -> None:
    (finding,) = findings_of(tmp_path, of_nics(model, speed, technology))
    assert (finding.code, finding.severity, finding.path) == ("FG254", "error", "planes.compute.technology")
    assert message in finding.message and finding.hint and finding.location


@pytest.mark.parametrize(
    ("model", "speed"), [("ConnectX-6", "200G"), ("ConnectX-7", "400G"), ("ConnectX-8", "800G"), ("FastCard", "400G")]
)
def test_a_nic_of_the_technology_is_taken(model: str, speed: str, tmp_path: Path) -> None:
    assert [one.code for one in findings_of(tmp_path, of_nics(model, speed, "infiniband"))] in ([], ["FG114"])
