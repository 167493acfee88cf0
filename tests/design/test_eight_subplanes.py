"""MRC, arXiv 2605.04333: an adapter of 800G with eight ports of 100G, one for each of eight planes."""

from pathlib import Path

from fabricgen.design.capacity import capacity
from fabricgen.render.plans import design_only

HOSTS, PORTS = 16, 8
TEXT = """\
fabricgen: 1
fabric: mrc
host_models:
  mrc:
    gpus: 8
    nics:
{nics}hosts: {{gpu: {{model: mrc, count: 16}}}}
planes:
  compute:
    design: fat-tree
    hosts: [gpu]
    subplanes: 8
    scalable_unit: {{hosts: 8, planned: 2}}
    leaf: {{platform: generic-512x100g}}
    spine: {{platform: generic-512x100g}}
    speed: 100G
    lossless: none
    addressing: {{loopbacks: 10.0.0.0/16, links: 172.16.0.0/12, hosts: 10.64.0.0/10}}
"""


def test_a_plane_can_have_eight_subplanes(tmp_path: Path) -> None:
    row = '      - {{name: "rail{{rail}}{0}", model: ConnectX-8, speed: 100G, plane: compute, rails: 8, port: {1}}}\n'
    nics = "".join(row.format("abcdefgh"[port], port) for port in range(PORTS))
    (tmp_path / "fabric.yaml").write_text(TEXT.format(nics=nics))
    fabric, findings = design_only(tmp_path / "fabric.yaml")
    assert [one for one in findings if one.severity == "error"] == []
    (plane,) = capacity(fabric)["planes"]
    assert len([link for link in fabric.links if link.nic]) == HOSTS * 8 * PORTS
    leaves = {link.b.key for link in fabric.links if link.nic}
    assert len(leaves) == 2 * PORTS, plane  # a leaf of each unit in each subplane
