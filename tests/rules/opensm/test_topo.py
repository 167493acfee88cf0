"""topology.topo as ibdm reads it: ibdmchk of ibutils routes it with its own code and finds the subnet of the design."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.rules.run import run
from tests.conftest import Cli
from tests.inventories import Tree, write
from tests.opensm.small import MESH, rendered
from tests.render.infiniband.test_files import subnet_tree
from tests.simulate.opensm.test_seeds import grid_tree

_PORT = re.compile(r"\s+(\S+) -> (\S+) (\S+) (\S+)")


def system_types(topo: str) -> dict[str, set[str]]:
    """System type -> its ports, of both ends of every cable."""
    types: dict[str, set[str]] = {}
    own = ""
    for line in topo.splitlines():
        if found := _PORT.fullmatch(line):
            types.setdefault(own, set()).add(found[1])
            types.setdefault(found[2], set()).add(found[4])
        elif line and not line.startswith("#"):
            own = line.split()[0]
    return types


def write_ibnl(folder: Path, topo: str) -> None:
    """The IBNL file of each type: a switch is one node, each port of a host is an adapter."""
    folder.mkdir()
    for name, ports in system_types(topo).items():
        if all(re.fullmatch(r"P\d+", port) for port in ports):
            body = "NODE SW 64 switch U1\n" + "".join(f"  {number} -> P{number}\n" for number in range(1, 65))
        else:
            body = "\n".join(f"NODE CA 1 adapter {port}\n  1 -> {port}\n" for port in sorted(ports))
        (folder / f"{name}.ibnl").write_text(f"TOPSYSTEM {name}\n\n{body}")


def output_of(ibdmchk: str, folder: Path, topo: str, manager: str) -> str:
    """The output of ibdmchk. It can crash after its verdict, so its exit code is ignored."""
    (folder / "topology.topo").write_text(topo)
    if not (folder / "ibnl").is_dir():
        write_ibnl(folder / "ibnl", topo)
    command = [ibdmchk, "-t", "topology.topo", "-n", manager, "-p", "1"]
    environment = {**os.environ, "IBDM_IBNL_PATH": str(folder / "ibnl")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def topo_of(cli: Cli, folder: Path, tree: Tree) -> str:
    assert cli("render", write(folder / "i", tree), "-o", folder / "b").code == 0
    return (folder / "b" / "infiniband" / "compute" / "topology.topo").read_text()


def test_ibdm_finds_the_tree(ibdmchk: str, cli: Cli, tmp_path: Path) -> None:
    output = output_of(ibdmchk, tmp_path, topo_of(cli, tmp_path, subnet_tree()), "gpu-000/rail0")
    assert "-E-" not in output and "Defined 13/41 systems/nodes" in output, "9 switches and 4 hosts; 9 + 32 nodes"
    assert "Scanned:992 CA to CA paths" in output, "32 x 31"
    hops = dict(re.findall(r"(?m)^ +(\d) +(\d+)$", output.partition("HOPS NUM-CA-CA-PAIRS")[2].partition("---")[0]))
    assert hops == {"2": "96", "4": "896"}, "8 rails x 4 x 3 pairs on one leaf, all others by a spine"
    assert "no credit loops found" in output


def test_ibdm_finds_the_rings_of_a_torus(ibdmchk: str, cli: Cli, tmp_path: Path) -> None:
    """ibdm routes by shortest paths, which close credit loops on rings: so the rings are in the file."""
    output = output_of(ibdmchk, tmp_path, topo_of(cli, tmp_path, grid_tree([5, 5])), "node-000/hca0")
    assert "Defined 50/50 systems/nodes" in output
    assert re.search("credit loop", output, re.IGNORECASE) and "no credit loops found" not in output


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("DGX-H100 gpu-001 rail0", "DGX-H100 gpu-001 rail1"),
        ("MQM9700 compute-spine-00 P1\n", "MQM9700 compute-spine-00 P65\n"),
    ],
)
def test_ibdm_reports_a_wrong_end(old: str, new: str, ibdmchk: str, cli: Cli, tmp_path: Path) -> None:
    topo = topo_of(cli, tmp_path, subnet_tree())
    write_ibnl(tmp_path / "ibnl", topo)
    assert old in topo
    assert "-E- Fail to parse topology file" in output_of(ibdmchk, tmp_path, topo.replace(old, new, 1), "gpu-000/rail0")


def test_a_folder_without_fabric_json_is_compared_with_its_netlist(tmp_path: Path) -> None:
    """Only if both files use the same names of switches."""
    folder = rendered(tmp_path, MESH) / "infiniband" / "compute"
    topo = folder / "topology.topo"
    assert "FG841" not in {finding.code for finding in run(open_bundle([folder]))}
    text = topo.read_text()
    topo.write_text(text.replace("   P1 -> DGX-H100 gpu-000 rail0", "   P2 -> DGX-H100 gpu-000 rail0", 1))
    messages = [finding.message for finding in run(open_bundle([folder])) if finding.code == "FG841"]
    assert any("is repeated" in message for message in messages)
    assert any("is missing" in message or "is not in topology.ibsim" in message for message in messages)
    topo.write_text(text.replace("gpu-000 rail0\n", "gpu-000 rail9\n").replace("rail0 ->", "rail9 ->"))
    messages = [finding.message for finding in run(open_bundle([folder])) if finding.code == "FG841"]
    assert sorted(messages) == [
        "the cable compute-leaf-00 P1 – gpu-000 rail0 is missing",
        "the cable compute-leaf-00 P1 – gpu-000 rail9 is not in topology.ibsim",
    ]
    topo.write_text(re.sub(r"(compute-|gpu-)", "x", text))
    assert "FG841" not in {finding.code for finding in run(open_bundle([folder]))}


def test_each_subnet_of_a_plane_has_its_own_cables(cli: Cli, tmp_path: Path) -> None:
    """The eight rails of a rail-only plane are eight subnets. A cable of another rail is not expected."""
    inventory, bundle = tmp_path / "i", tmp_path / "b"
    assert cli("init", inventory, "--design", "rail-only", "--technology", "infiniband", "--hosts", "64").code == 0
    assert cli("render", inventory, "-o", bundle).code == 0
    assert len(list(bundle.glob("infiniband/*/*/topology.topo"))) == 8
    found = run(open_bundle([bundle]), ["FG8"])
    assert [(one.code, one.severity) for one in found] == [("FG836", "note")], "no manager has a host yet"
