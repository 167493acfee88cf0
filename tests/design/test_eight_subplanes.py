"""MRC, arXiv 2605.04333: an adapter of 800G with eight ports of 100G, one for each of eight planes."""

from pathlib import Path

from fabricgen.design.capacity import capacity
from fabricgen.design.model import Fabric
from fabricgen.render.plans import design_only

HOSTS, PORTS = 16, 8
TEXT = """\
fabricgen: 1
fabric: mrc
host_models:
  mrc:
    gpus: 8
    nics:
{nics}hosts: {{gpu: {{model: mrc, count: {hosts}}}}}
planes:
  compute:
    design: fat-tree
    hosts: [gpu]
    subplanes: 8
    scalable_unit: {{hosts: {unit}, planned: {planned}}}
    leaf: {{platform: generic-512x100g}}
    spine: {{platform: generic-512x100g}}
    speed: 100G
    lossless: none
    addressing: {{loopbacks: 10.0.0.0/16, links: 172.16.0.0/12, hosts: 10.64.0.0/10}}
"""


def designed(folder: Path, hosts: int, unit: int, planned: int) -> Fabric:
    row = '      - {{name: "rail{{rail}}{0}", model: ConnectX-8, speed: 100G, plane: compute, rails: 8, port: {1}}}\n'
    nics = "".join(row.format("abcdefgh"[port], port) for port in range(PORTS))
    (folder / "fabric.yaml").write_text(TEXT.format(nics=nics, hosts=hosts, unit=unit, planned=planned))
    fabric, findings = design_only(folder / "fabric.yaml")
    assert [one for one in findings if one.severity == "error"] == []
    return fabric


def test_a_plane_can_have_eight_subplanes(tmp_path: Path) -> None:
    fabric = designed(tmp_path, HOSTS, 8, 2)
    (plane,) = capacity(fabric)["planes"]
    assert len([link for link in fabric.links if link.nic]) == HOSTS * 8 * PORTS
    leaves = {link.b.key for link in fabric.links if link.nic}
    assert len(leaves) == 2 * PORTS, plane  # a leaf of each unit in each subplane


def test_two_tiers_of_512_ports_carry_131072_gpus(tmp_path: Path) -> None:
    """The first of 512 units: eight leaves with 256 ports up and down, and the spines of all units."""
    units, unit = 512, 32
    (plane,) = capacity(designed(tmp_path, unit, unit, units))["planes"]
    assert units * plane["gpus"] == 131_072
    assert plane["switches"] == {"leaf": PORTS, "spine": PORTS * 256, "core": 0}
    assert plane["planned"] == {"leaf": PORTS * units, "spine": PORTS * 256, "core": 0}
    assert plane["links"] == {"host-leaf": PORTS * 256, "leaf-spine": PORTS * 256, "spine-core": 0}
    assert plane["injection_gbps"] == PORTS * 256 * 100
