"""GUIDs from ibnetdiscover and from UFM: their owners, refused readings, and placeholders that cannot be deployed."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fabricgen.findings import Finding
from fabricgen.opensm.guids import looks_swapped
from fabricgen.opensm.netlist import read_netlist
from fabricgen.render.plans import make_plans
from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.opensm.bench import swept
from tests.conftest import Cli
from tests.inventories import Tree, write
from tests.render.infiniband.test_files import subnet_tree

RDMA = {f"rail{rail}": f"mlx5_{place}" for rail, place in enumerate((0, 3, 4, 5, 6, 9, 10, 11))}  # of a DGX H100


def hardware(text: str) -> str:
    """The text with GUIDs of hardware instead of placeholders."""
    return text.replace("02fab001", "e8ebd303").replace("02fab002", "e8ebd304")


@pytest.fixture
def subnet(cli: Cli, tmp_path: Path) -> Path:
    """The files of four hosts on one unit of eight rails, all with placeholders."""
    assert cli("render", write(tmp_path / "planned", subnet_tree()), "-o", tmp_path / "placeholders").code == 0
    return tmp_path / "placeholders" / "infiniband" / "compute"


def discovered(folder: Path, reading: str, name: str = "compute.ibnetdiscover", tree: Tree | None = None) -> Path:
    """An inventory with a reading of its compute plane."""
    tree = tree or subnet_tree()
    tree["planes"]["compute"].setdefault("infiniband", {})["discovered"] = [name]
    inventory = write(folder, tree)
    (inventory / name).write_text(reading)
    return inventory


def findings_of(inventory: Path, *ignored: str) -> list[Finding]:
    return [finding for finding in make_plans(inventory).findings if finding.code not in ignored]


def guids_of(bundle: Path) -> dict[str, str]:
    """Owner -> GUID."""
    wired = json.loads((bundle / "fabric.json").read_bytes())
    found = {device["name"]: device["node_guid"] for device in wired["devices"]}
    for host in wired["hosts"]:
        for nic in host["nics"]:
            for kind in ("node_guid", "port_guid"):
                found[f"{host['name']} {nic['name']} {kind}"] = nic[kind]
    return found


def rendered(cli: Cli, inventory: Path, out: Path) -> dict[str, str]:
    outcome = cli("render", inventory, "-o", out)
    assert outcome.code == 0 and "FG888" not in outcome.err + outcome.out
    return guids_of(out)


def test_output_of_the_real_ibnetdiscover(
    opensm: Tools, ibnetdiscover: str, cli: Cli, subnet: Path, tmp_path: Path
) -> None:
    for file in (file for file in subnet.rglob("*") if file.is_file()):
        file.write_text(hardware(file.read_text()))
    with swept(opensm, subnet / "topology.ibsim", subnet) as bench:
        output = subprocess.run(
            [ibnetdiscover], env=bench.environment, capture_output=True, text=True, timeout=60, check=True
        ).stdout
    after = rendered(cli, discovered(tmp_path / "i", output), tmp_path / "b")
    before = {key: hardware(guid) for key, guid in guids_of(subnet.parents[1]).items()}
    assert after == before and len(after) > 70
    assert "placeholders" not in json.loads((tmp_path / "b" / "fabric.json").read_bytes())
    assert cli("validate", tmp_path / "b", "--deploy").code == 0


@pytest.mark.parametrize("way", ["names", "rdma devices", "wiring"])
def test_ways_to_identify_a_nic_port(way: str, cli: Cli, subnet: Path, tmp_path: Path) -> None:
    text = hardware((subnet / "topology.ibsim").read_text())
    text = re.sub(r'(switchguid.*\nSwitch.*# ")([^"]+)"', r'\1MF0;\2:MQM9700/U1"', text)
    devices = {"names": {}, "rdma devices": RDMA, "wiring": dict.fromkeys(RDMA, "HCA-1")}[way]
    for rail, device in devices.items():
        text = re.sub(rf'("gpu-\d+) {rail}"', rf'\1 {device}"', text)
    after = rendered(cli, discovered(tmp_path / "i", text), tmp_path / "b")
    assert after == {key: hardware(guid) for key, guid in guids_of(subnet.parents[1]).items()}


def ufm_ports(netlist: str) -> list[dict[str, Any]]:
    """The fields read from GET /ufmRest/resources/ports: GUIDs without 0x, a switch port by the GUID of its switch."""
    read, ports = read_netlist(netlist), []
    for (key, number), port in read.ports.items():
        node, far = read.nodes[key], read.nodes[port.far]
        is_switch = node.kind == "Switch"
        own, peer = port.guid or node.guid, read.ports[port.far, port.far_port].guid or far.guid
        ports.append(
            {
                "description": "Switch IB Port" if is_switch else "Computer IB Port",
                "name": f"{own:016x}_{number}",
                "number": number,
                "guid": f"{own:016x}",
                "system_name": node.name.split()[0],
                "node_description": f"{node.name}:{number}" if is_switch else node.name,
                "peer_guid": f"{peer:016x}",
                "peer_node_guid": f"{far.guid:016x}",
            }
        )
    return ports


@pytest.mark.parametrize("paged", [False, True])
def test_an_export_of_ufm(paged: bool, cli: Cli, subnet: Path, tmp_path: Path) -> None:
    ports = ufm_ports(hardware((subnet / "topology.ibsim").read_text()))
    text = json.dumps({"data": ports} if paged else ports, indent=1)
    after = rendered(cli, discovered(tmp_path / "i", text, "ufm.json"), tmp_path / "b")
    assert after == {key: hardware(guid) for key, guid in guids_of(subnet.parents[1]).items()}


def test_ufm_has_no_node_guid_without_switch_ports(subnet: Path, tmp_path: Path) -> None:
    ports = [port for port in ufm_ports((subnet / "topology.ibsim").read_text()) if "Switch" not in port["description"]]
    (finding,) = findings_of(discovered(tmp_path / "i", json.dumps(ports), "ufm.json"), "FG888")
    assert (finding.code, finding.severity) == ("FG893", "warning")
    assert "32 unknown nodes" in finding.message and "the reading does not contain its node GUID" in finding.message


def test_systems_of_ufm_are_the_switches(subnet: Path, tmp_path: Path) -> None:
    nodes = read_netlist(hardware((subnet / "topology.ibsim").read_text())).nodes.values()
    systems = [
        {"type": "switch" if node.kind == "Switch" else "host", "guid": f"{node.guid:016x}", "system_name": node.name}
        for node in nodes
    ]
    (finding,) = findings_of(discovered(tmp_path / "i", json.dumps(systems), "systems.json"))
    assert "plane compute: 0 switches and 32 adapters have placeholder GUIDs" in finding.message


def test_unknown_nodes_are_one_warning(subnet: Path, tmp_path: Path) -> None:
    text = hardware((subnet / "topology.ibsim").read_text())
    text = text.replace('"gpu-003 ', '"old-003 ').replace(
        '# "compute-su00-r0-leaf"', '# "Quantum Mellanox Technologies"'
    )
    findings = findings_of(discovered(tmp_path / "i", text))
    assert [(finding.code, finding.severity) for finding in findings] == [("FG893", "warning"), ("FG888", "note")]
    assert "9 unknown nodes: switch 'Quantum Mellanox" in findings[0].message
    assert findings[0].message.count("; ") == 3 and findings[0].message.endswith("; …"), "the first three are listed"
    assert "plane compute: 1 switches and 8 adapters" in findings[1].message


def test_a_wrong_cable_gives_no_port_its_guid(subnet: Path, tmp_path: Path) -> None:
    text = re.sub(r'"(gpu-\d+) rail\d"', r'"\1 HCA-1"', hardware((subnet / "topology.ibsim").read_text()))
    swapped = {"gpu-000": "gpu-001", "gpu-001": "gpu-000"}
    text = re.sub(r'"(gpu-00[01]) ', lambda match: f'"{swapped[match[1]]} ', text)
    (finding,) = findings_of(discovered(tmp_path / "i", text), "FG888")
    assert (
        finding.code == "FG893" and "the design has no cable from gpu-001 to port 1 of that switch" in finding.message
    )


def row(host: str, nic: str, node: str, port: str) -> dict[str, str]:
    return {"host": host, "nic": nic, "node_guid": node, "port_guid": port}


NODE, PORT = "0xe8ebd30400000000", "0xe8ebd30400000001"


def test_a_swapped_pair_of_any_source_is_refused(subnet: Path, tmp_path: Path) -> None:
    csv = write(tmp_path / "csv", subnet_tree())
    (csv / "guids.csv").write_text(f"host,nic,node_guid,port_guid\ngpu-000,rail0,{PORT},{NODE}\n")
    text = hardware((subnet / "topology.ibsim").read_text())
    netlist = (
        text.replace(f"caguid={NODE}", "caguid=X").replace(PORT[2:], NODE[2:], 1).replace("caguid=X", f"caguid={PORT}")
    )
    ports = ufm_ports(text)
    for port in ports:
        port |= {key: {NODE[2:]: PORT[2:], PORT[2:]: NODE[2:]}.get(str(value), value) for key, value in port.items()}
    sources = {
        "inventory": write(tmp_path / "yaml", {**subnet_tree(), "guids": [row("gpu/0", "rail0", PORT, NODE)]}),
        "guids.csv": csv,
        "ibnetdiscover": discovered(tmp_path / "net", netlist),
        "ufm": discovered(tmp_path / "ufm", json.dumps(ports), "ufm.json"),
    }
    for source, inventory in sources.items():
        (finding,) = findings_of(inventory, "FG888")
        assert (finding.code, finding.severity) == ("FG891", "error"), source
        assert "gpu-000 rail0" in finding.message.replace("gpu/0", "gpu-000") and finding.location, source


def test_the_inventory_and_a_reading_disagree(subnet: Path, tmp_path: Path) -> None:
    text = hardware((subnet / "topology.ibsim").read_text())
    tree = {**subnet_tree(), "guids": [row("gpu/0", "rail0", NODE, "0xe8ebd304000000ff")]}
    tree["devices"] = [{"name": "compute-su00-r0-leaf", "guid": "0xe8ebd3030000ffff"}]
    findings = findings_of(discovered(tmp_path / "i", text, tree=tree))
    assert [finding.code for finding in findings] == ["FG894", "FG894"]
    assert {len(finding.related) for finding in findings} == {1}
    assert "two GUIDs for the port of gpu-000 rail0: 0xe8ebd304000000ff" in findings[1].message
    both = {**subnet_tree(), "guids": [row("gpu/0", "rail0", NODE, PORT)]}
    assert findings_of(discovered(tmp_path / "same", text, tree=both)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "neither ibnetdiscover output"), ("[1, 2]", "neither"), ("{", "not JSON"),
     ('[{"description": "Switch IB Port", "guid": "port7"}]', "not the ports of UFM")],
)  # fmt: skip
def test_a_file_that_is_not_a_reading(text: str, message: str, tmp_path: Path) -> None:
    (finding,) = findings_of(discovered(tmp_path / "i", text), "FG888")
    assert finding.code == "FG892" and message in finding.message
    (tmp_path / "i" / "compute.ibnetdiscover").unlink()
    (finding,) = findings_of(tmp_path / "i", "FG888")
    assert finding.code == "FG892" and "No such file" in finding.message


def test_a_reading_is_content_of_the_inventory(subnet: Path, tmp_path: Path) -> None:
    inventory = discovered(tmp_path / "i", hardware((subnet / "topology.ibsim").read_text()))
    before = make_plans(inventory).fabric.inventory.digest
    (inventory / "compute.ibnetdiscover").write_text(
        hardware((subnet / "topology.ibsim").read_text()).replace("e8ebd303", "e8ebd305")
    )
    assert make_plans(inventory).fabric.inventory.digest != before


def test_swapped_means_a_little_lower() -> None:
    assert looks_swapped(PORT, NODE) and not looks_swapped(NODE, PORT) and not looks_swapped(NODE, NODE)
    assert not looks_swapped("0xe8ebd30400000009", NODE), "another adapter of the same maker"


def test_placeholders_cannot_be_deployed(cli: Cli, subnet: Path) -> None:
    bundle = subnet.parents[1]
    assert cli("validate", bundle).code == 0
    outcome = cli("validate", bundle, "--deploy", "--format", "json")
    (finding,) = json.loads(outcome.out)["findings"]
    assert outcome.code == 1 and (finding["code"], finding["severity"]) == ("FG840", "error")
    assert "subnet compute: " in finding["message"] and finding["related"]
    assert cli("validate", bundle, "--deploy", "--ignore", "FG84").code == 0
    for file in (file for file in subnet.rglob("*") if file.is_file()):
        file.write_text(hardware(file.read_text()))
    outcome = cli("validate", bundle, "--deploy", "--select", "FG84", "--format", "json")
    (finding,) = json.loads(outcome.out)["findings"]
    assert "fabric.json" in finding["location"]["file"] and "32 adapters" in finding["message"]
