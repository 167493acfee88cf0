"""The virtual lab: valid for containerlab, and every port one that the virtual switch has."""

import csv
import json
import subprocess
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.containerlab import containerlab_files
from fabricgen.sonic.frr_lines import frr_conf
from tests.components import tool
from tests.conftest import Cli
from tests.handoff.rendered import placed, render, vteps
from tests.inventories import rail_optimized
from tests.shared_material import shared

# Interface -> port and lanes of the default SKU, as facts about the virtual switch have them.
KNOWN = {"eth1": ("Ethernet0", "25,26,27,28"), "eth5": ("Ethernet16", "45,46,47,48"),
         "eth6": ("Ethernet20", "41,42,43,44"), "eth7": ("Ethernet24", "1,2,3,4")}  # fmt: skip


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path) -> Path:
    return render(cli, tmp_path, rail_optimized(hosts=4))


def lab(bundle: Path, only: str | None) -> dict[str, bytes]:
    return dict(containerlab_files(open_bundle([bundle]), only))


def topology(files: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(files["topology.clab.yml"])
    return found


def problems(tree: dict[str, Any]) -> list[str]:
    schema = json.loads(shared("data", "schemas", "clab.schema.json").read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    return [error.message for error in validator.iter_errors(tree)]


def configs(files: dict[str, bytes]) -> dict[str, Any]:
    ours = {path: text for path, text in files.items() if path.endswith("config_db.json")}
    return {path.split("/")[1]: json.loads(text) for path, text in ours.items()}


SLICE = "compute-su00-r[01]-leaf,*spine*"


def test_containerlab_s_schema_takes_the_topology_and_no_mistake_in_it(bundle: Path) -> None:
    tree = topology(lab(bundle, SLICE))
    assert problems(tree) == []
    node = next(iter(tree["topology"]["nodes"]))
    for spoil in (
        lambda bad: bad.pop("name"),
        lambda bad: bad["topology"]["nodes"][node].update(kind="sonic"),
        lambda bad: bad["topology"]["nodes"][node].update(bind=["x:y"]),
        lambda bad: bad["topology"]["nodes"][node].update(binds=["same", "same"]),
        lambda bad: bad["topology"]["nodes"].update({"-leaf": {}}),
        lambda bad: bad["topology"]["links"].append({"endpoint": ["leaf1:eth1", "leaf2:eth1"]}),
    ):
        bad = yaml.safe_load(yaml.safe_dump(tree))
        spoil(bad)
        assert problems(bad), spoil


def test_every_link_has_two_interfaces_that_are_used_once(bundle: Path) -> None:
    tree = topology(lab(bundle, SLICE))["topology"]
    ends = Counter(end for link in tree["links"] for end in link["endpoints"])
    assert set(ends.values()) == {1}
    assert {end.partition(":")[0] for end in ends} == set(tree["nodes"])
    planned = open_bundle([bundle])
    chosen = [name for name, node in tree["nodes"].items() if node["kind"] == "sonic-vs"]
    inside = [
        link for link in planned.links if link.b[0] in chosen and (link.a[0] in chosen or link.kind == "host-leaf")
    ]
    assert len(tree["links"]) == len(inside) > 0


def test_ports_have_the_lanes_of_the_lane_map(bundle: Path) -> None:
    files = lab(bundle, SLICE)
    rows = list(csv.DictReader(StringIO(files["ports.csv"].decode())))
    for name, config in configs(files).items():
        mapped = {row["lab_interface"]: row["lab_port"] for row in rows if row["node"] == name}
        assert set(config["PORT"]) == set(mapped.values())
        lanes = {port: row["lanes"] for port, row in config["PORT"].items()}
        assert all((mapped[eth], lanes[mapped[eth]]) == known for eth, known in KNOWN.items() if eth in mapped)
        assert len({lane for text in lanes.values() for lane in text.split(",")}) == 4 * len(lanes)
        assert config["DEVICE_METADATA"]["localhost"]["hwsku"] == "Force10-S6000"
        assert not [table for table in config if table.startswith(("BUFFER", "BREAKOUT", "PFC_WD", "MGMT", "SNMP"))]


def test_both_ends_agree_and_our_own_rules_find_nothing(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    files = lab(bundle, SLICE)
    for name, config in configs(files).items():
        (tmp_path / "lab" / name).mkdir(parents=True)
        (tmp_path / "lab" / name / "config_db.json").write_text(json.dumps(config))
    outcome = cli("validate", tmp_path / "lab", "--format", "json")
    report = json.loads(outcome.out)
    reported = [each for each in report["findings"] if each["severity"] != "note" and each["code"] != "FG285"]
    assert outcome.code == 0 and reported == []  # the slice has one spine
    assert report["summary"]["links"] == len(topology(files)["topology"]["links"])
    proof = cli("simulate", "deadlock", tmp_path / "lab", "--format", "json", "--fail-on", "never")
    assert json.loads(proof.out)["summary"]["devices"] == 3


def test_sessions_lead_only_to_switches_of_the_lab(bundle: Path) -> None:
    for config in configs(lab(bundle, SLICE)).values():
        local = {key.split("|")[1].split("/")[0] for key in config["INTERFACE"] if "|" in key}
        sessions = config["BGP_NEIGHBOR"].values()
        assert sessions and {row["local_addr"] for row in sessions} <= local


def test_frr_takes_its_part(bundle: Path, tmp_path: Path) -> None:
    vtysh = tool("vtysh", "frr")
    files = lab(bundle, SLICE)
    for path, content in files.items():
        if path.endswith("frr.conf"):
            (tmp_path / "frr.conf").write_bytes(content)
            outcome = subprocess.run([vtysh, "-C", "-f", tmp_path / "frr.conf"], capture_output=True, check=False)
            assert outcome.returncode == 0 and b"Unknown" not in outcome.stdout + outcome.stderr, outcome
            config = configs(files)[path.split("/")[1]]
            text = content.decode()
            asn = config["DEVICE_METADATA"]["localhost"]["bgp_asn"]
            assert f"router bgp {asn}\n" in text
            for address, row in config["BGP_NEIGHBOR"].items():
                assert f" neighbor {address} remote-as {row['asn']}\n" in text


def test_unnumbered_sessions_keep_their_interfaces(cli: Cli, tmp_path: Path) -> None:
    tree = rail_optimized(hosts=4, bgp="unnumbered")
    files = lab(render(cli, tmp_path, tree), SLICE)
    config = configs(files)["compute-su00-r0-leaf"]
    sessions = {key.split("|")[1] for key in config["BGP_NEIGHBOR"]}
    assert sessions and sessions < set(config["PORT"])
    text = files["configs/compute-su00-r0-leaf/frr.conf"].decode()
    assert all(f" neighbor {port} interface remote-as external\n" in text for port in sessions)


def test_vteps_have_their_overlay_and_hosts_a_way_to_each_other(cli: Cli, tmp_path: Path) -> None:
    vtysh = tool("vtysh", "frr")
    files = lab(render(cli, tmp_path, vteps()), SLICE)
    leaf, spine = (configs(files)[name] for name in ("compute-su00-r0-leaf", "compute-spine-00"))
    assert leaf["VXLAN_TUNNEL_MAP"].keys() == {"vtep|map_5001_Vlan3001", "vtep|map_5002_Vlan3002"}
    assert leaf["VXLAN_EVPN_NVO"] and leaf["VLAN_INTERFACE"] == {
        "Vlan3001": {"vrf_name": "Vrf_blue"}, "Vlan3002": {"vrf_name": "Vrf_red"},
    }  # fmt: skip
    assert not {"VXLAN_TUNNEL", "VLAN"} & spine.keys()
    assert set(leaf["STATIC_ROUTE"]) >= {"Vrf_red|10.64.0.1/32"}
    assert {row["ifname"] for row in leaf["STATIC_ROUTE"].values()} <= leaf["PORT"].keys()
    for name, config in configs(files).items():
        text = files[f"configs/{name}/frr.conf"].decode()
        assert text == frr_conf(config)
        assert "  neighbor FABRIC activate" in text.partition("address-family l2vpn evpn")[2]
        (tmp_path / "frr.conf").write_text(text)
        outcome = subprocess.run([vtysh, "-C", "-f", tmp_path / "frr.conf"], capture_output=True, check=False)
        assert outcome.returncode == 0 and b"Unknown" not in outcome.stdout + outcome.stderr, outcome
        (tmp_path / "lab" / name).mkdir(parents=True)
        for file in ("config_db.json", "frr.conf"):
            (tmp_path / "lab" / name / file).write_bytes(files[f"configs/{name}/{file}"])
    report = json.loads(cli("validate", tmp_path / "lab", "--format", "json").out)
    assert not [one for one in report["findings"] if one["severity"] == "error"]
    commands = topology(files)["topology"]["nodes"]["gpu-000"]["exec"]
    assert "ip route replace 10.64.0.0/29 via 10.64.0.0 dev eth1" in commands


def test_hosts_have_their_address_and_a_way_to_the_rest_of_their_rail(bundle: Path) -> None:
    nodes = topology(lab(bundle, SLICE))["topology"]["nodes"]
    wiring = open_bundle([bundle]).wiring
    assert wiring is not None
    nic = wiring.hosts[0].nics[1]
    commands = nodes[wiring.hosts[0].name]["exec"]
    assert f"ip address replace {nic.addresses[0]} dev eth2" in commands
    assert [command for command in commands if command.startswith("ip route") and command.endswith("dev eth2")]


def test_more_links_than_ports_are_refused(cli: Cli, tmp_path: Path) -> None:
    bundle = render(cli, tmp_path, rail_optimized(hosts=8))
    with pytest.raises(UsageError, match=r"links in the lab, a virtual switch 32 ports"):
        lab(bundle, None)


def test_only_some_hosts(bundle: Path) -> None:
    nodes = topology(lab(bundle, f"{SLICE}, gpu-00[02]"))["topology"]["nodes"]
    assert [name for name, node in nodes.items() if node["kind"] == "linux"] == ["gpu-000", "gpu-002"]


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    bundle = render(cli, tmp_path, placed())
    outcome = cli("handoff", "containerlab", bundle, "-o", tmp_path / "lab")
    assert outcome.code == 0 and "containerlab deploy" in outcome.out
    tree = yaml.safe_load((tmp_path / "lab" / "topology.clab.yml").read_text())
    for node in tree["topology"]["nodes"].values():
        for bind in node.get("binds", []):
            assert (tmp_path / "lab" / bind.split(":")[0]).is_file()
    assert cli("handoff", "containerlab", bundle, "-o", tmp_path / "lab", "--only", "x").code == 2
