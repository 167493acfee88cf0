"""Tenants by EVPN through the command line: rendered rows and frr.conf, the verdict, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api import render
from fabricgen.sonic.frr_lines import frr_conf
from tests.conftest import Cli
from tests.inventories import Tree, rail_optimized, write
from tests.isolation.test_exactness import checker
from tests.isolation.test_tenants import edit, isolation_of

LEAF, OTHER = "sonic/compute-su00-r0-leaf", "sonic/compute-su01-r0-leaf"
CONFIG = f"{LEAF}/config_db.json"


def rented(release: int = 202511, **plane: Any) -> Tree:
    """Eight hosts on two units; gpu/7 has no tenant, and gpu/6 serves both tenants."""
    tree = rail_optimized(isolation="evpn", **{"bgp": "unnumbered", **plane})
    tree["sonic"] = {"release": release}
    tree["tenants"] = {
        "blue": {"hosts": ["gpu/0-1", "gpu/4"], "vni": 5001},
        "red": {"hosts": ["gpu/2-3", "gpu/5"], "vni": 5002},
        "store": {"hosts": ["gpu/6"], "vni": 5003, "shared_with": ["ALL"]},
    }
    tree["management"] = {"addresses": "10.255.0.0/24", "gateway": "10.255.0.1"}
    return tree


@pytest.fixture(scope="module")
def _rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rented")
    render(write(folder / "inventory", rented()), folder / "bundle")
    return folder / "bundle"


@pytest.fixture
def bundle(_rendered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_rendered, tmp_path / "bundle"))


def test_rows_of_a_vtep(bundle: Path) -> None:
    config = json.loads((bundle / CONFIG).read_text())
    loopback = next(key.partition("|")[2] for key in config["LOOPBACK_INTERFACE"] if "|" in key).removesuffix("/32")
    assert config["VXLAN_TUNNEL"] == {"vtep": {"src_ip": loopback}}
    assert config["VXLAN_EVPN_NVO"] == {"nvo": {"source_vtep": "vtep"}}
    assert config["VRF"] == {"Vrf_blue": {"vni": "5001"}, "Vrf_red": {"vni": "5002"}, "Vrf_store": {"vni": "5003"}}
    assert config["VLAN_INTERFACE"]["Vlan3002"] == {"vrf_name": "Vrf_red"}
    assert config["VXLAN_TUNNEL_MAP"]["vtep|map_5002_Vlan3002"] == {"vlan": "Vlan3002", "vni": "5002"}
    assert config["BGP_GLOBALS_AF"]["default|l2vpn_evpn"] == {"advertise-all-vni": "true"}
    assert config["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] == "split-unified"
    assert "Vrf_store|10.64.0.1/32" in config["STATIC_ROUTE"]  # the store's VRF is where its tenants are


def test_spines_know_no_tenant(bundle: Path) -> None:
    config = json.loads((bundle / "sonic/compute-spine-00/config_db.json").read_text())
    assert not {"VRF", "VXLAN_TUNNEL", "VLAN"} & config.keys()
    assert config["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] == "unified"
    assert not (bundle / "sonic/compute-spine-00/frr.conf").exists()


def test_frr_conf_announces_routes_of_vrfs(bundle: Path) -> None:
    lines = (bundle / LEAF / "frr.conf").read_text().splitlines()
    assert " vrf " not in next(line for line in lines if line.startswith("router bgp"))
    assert lines.count("  advertise ipv4 unicast") == 3
    assert lines.count("  advertise-all-vni") == 1
    assert " vni 5001" in lines


def test_hosts_have_room_for_vxlan(bundle: Path) -> None:
    assert "mtu: 9050" in (bundle / "hosts/gpu/netplan/gpu-000.yaml").read_text()
    assert json.loads((bundle / CONFIG).read_text())["PORT"]["Ethernet0"]["mtu"] == "9100"


@pytest.mark.parametrize("release", [202411, 202505, 202605])
def test_own_rendering_is_proved_apart(cli: Cli, tmp_path: Path, release: int) -> None:
    found = cli("check", write(tmp_path, rented(release)))
    assert found.code == 0, found.out
    assert "3 tenants, apart: proved" in found.out.splitlines()[0]
    assert "error" not in found.out.partition("Checked")[0]


def test_flows_take_the_paths_between_vteps(cli: Cli, bundle: Path) -> None:
    found = json.loads(cli("simulate", "congestion", bundle, "--pattern", "all-to-all", "--format", "json").out)
    pairs = {(flow["src"][:7], flow["dst"][:7]) for flow in found["congestion"]["flows"]}
    blue, red = {"gpu-000", "gpu-001", "gpu-004"}, {"gpu-002", "gpu-003", "gpu-005"}
    assert pairs == {(a, b) for group in (blue, red) for a in group for b in group if a != b}
    free = json.loads(cli("simulate", "deadlock", bundle, "--format", "json").out)["deadlock"]
    assert (free["verdict"], free["covers"]["without_routes"]) == ("free", 0)


def test_swapped_vnis_leak(cli: Cli, bundle: Path) -> None:
    def swap(config: Any) -> None:
        config["VRF"].update(Vrf_blue={"vni": "5002"}, Vrf_red={"vni": "5001"})
        config["VLAN_INTERFACE"].update(Vlan3001={"vrf_name": "Vrf_red"}, Vlan3002={"vrf_name": "Vrf_blue"})

    edit(bundle, swap, CONFIG)
    verdict, findings = isolation_of(cli, bundle)
    assert verdict["verdict"] == "leaks"
    leak = next(one for one in findings if one["code"] == "FG647" and one["path"])
    assert leak["path"] in ("VRF|Vrf_blue", "VRF|Vrf_red")
    assert "leads to its VRF" in leak["message"]
    assert "FG660" in cli("validate", bundle).out


def test_a_wrong_source_of_the_vtep_cuts_hosts_off(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["VXLAN_TUNNEL"]["vtep"].update(src_ip="10.0.0.250"), CONFIG)
    verdict, _ = isolation_of(cli, bundle)
    assert verdict["pairs"]["leaks"] == 0
    assert verdict["pairs"]["cut"] > 0
    assert "FG289" in cli("validate", bundle).out


def test_another_frr_conf_leaves_the_verdict_open(cli: Cli, bundle: Path) -> None:
    file = bundle / LEAF / "frr.conf"
    file.write_text(file.read_text().replace("vni 5001", "vni 5002"))
    verdict, (finding,) = isolation_of(cli, bundle)
    assert (verdict["verdict"], verdict["unread"]) == ("unknown", ["compute-su00-r0-leaf"])
    assert (finding["code"], finding["device"]) == ("FG649", "compute-su00-r0-leaf")
    assert "frr.conf of 1 switch differs from the tables" in cli("validate", bundle).out


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ({"bgp": "numbered"}, "FG654", "templates of bgpcfgd have no such family"),
        ({"addressing": {"loopbacks": "fd00::/64", "links": "fd00:0:0:1::/64", "hosts": "10.64.0.0/10"}}, "FG654",
         "no IPv4 loopback"),
    ],
)  # fmt: skip
def test_planes_without_evpn(cli: Cli, tmp_path: Path, change: Tree, code: str, text: str) -> None:
    found = cli("check", write(tmp_path, rented(**change)))
    assert found.code == 1
    assert code in found.out
    assert text in " ".join(found.out.split())


@pytest.mark.parametrize(("vni", "text"), [(None, "tenant red has no VNI"), (6001, "uses VLAN 3001, as VNI 5001")])
def test_vnis_of_tenants(cli: Cli, tmp_path: Path, vni: int | None, text: str) -> None:
    tree = rented()
    tree["tenants"]["red"] = {"hosts": ["gpu/2"], **({"vni": vni} if vni else {})}
    found = cli("check", write(tmp_path, tree))
    assert "FG655" in found.out
    assert text in found.out


def test_a_vlan_of_hosts_cannot_be_that_of_a_vni(cli: Cli, tmp_path: Path) -> None:
    """Hosts in VLAN 3001 would be in the VRF of VNI 5001: a plane with tenants has no such hosts."""
    found = cli("check", write(tmp_path, rented(access={"kind": "vlan", "vlan": 3001})))
    assert found.code == 1 and "FG661" in found.out


def test_files_belong_to_the_bundle(cli: Cli, tmp_path: Path) -> None:
    tree, bundle = rented(), tmp_path / "bundle"
    inventory = write(tmp_path / "inventory", tree)
    assert cli("render", inventory, "--output", bundle).code == 0
    assert "0 changed" in cli("render", inventory, "--output", bundle).out
    tree["tenants"]["red"]["hosts"] = ["gpu/2-3", "gpu/5", "gpu/7"]
    write(tmp_path / "inventory", tree)
    assert cli("render", inventory, "--output", bundle, "--only", "compute-su01-r0-leaf").code == 0
    assert (bundle / LEAF / "frr.conf").is_file()  # of a switch that was not chosen
    tree["planes"]["compute"]["isolation"] = "acl"
    write(tmp_path / "inventory", tree)
    assert cli("render", inventory, "--output", bundle).code == 0
    assert not (bundle / LEAF / "frr.conf").exists()


@pytest.mark.parametrize("handoff", ["ansible", "ztp", "containerlab"])
def test_handoffs_bring_frr_conf(cli: Cli, bundle: Path, tmp_path: Path, handoff: str) -> None:
    chosen = ("--only", "compute-su00-r0-leaf,compute-spine-00") if handoff == "containerlab" else ()
    assert cli("handoff", handoff, bundle, "--output", tmp_path / "out", *chosen).code == 0
    brought = [file.read_text() for file in (tmp_path / "out").rglob("frr.conf")]
    assert any("advertise ipv4 unicast" in text for text in brought)
    (bundle / LEAF / "frr.conf").unlink()
    if handoff != "containerlab":  # which makes its own
        found = cli("handoff", handoff, bundle, "--output", tmp_path / "out")
        assert (found.code, "reads frr.conf, which is not beside its file" in found.err) == (2, True)


def test_certificate_is_verified_without_fabricgen(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    file, verdict = tmp_path / "tenants.json", isolation_of(cli, bundle)[0]
    assert cli("validate", bundle, "--select", "FG647", "--certificate", file).code == 0
    assert checker().main(file, bundle) == verdict["pairs"]["apart"]
    edit(bundle, lambda config: config["VRF"].update(Vrf_blue={"vni": "5002"}), CONFIG)
    with pytest.raises(AssertionError, match=r"with \d+:5002 to Vrf_blue on compute-su00-r0-leaf"):
        checker().main(file, bundle)


BLUE, RED = "Vrf_blue|l2vpn_evpn", "Vrf_red|l2vpn_evpn"
UNIFIED = {"docker_routing_config_mode": "unified"}


def with_targets(bundle: Path, change: Any) -> None:
    """The leaves of rail 0 read their tables, as those of images whose frrcfgd has all fields, and `change` is done to
    the first one."""
    for leaf in (LEAF, OTHER):

        def by_tables(config: Any) -> None:
            config["DEVICE_METADATA"]["localhost"].update(UNIFIED)
            for vrf in ("Vrf_blue", "Vrf_red", "Vrf_store"):
                config["BGP_GLOBALS_AF"][f"{vrf}|l2vpn_evpn"] = {"advertise-ipv4-unicast": "true"}

        edit(bundle, by_tables, f"{leaf}/config_db.json")
        (bundle / leaf / "frr.conf").unlink()
    edit(bundle, change, CONFIG)


def test_equal_route_targets_change_nothing(cli: Cli, bundle: Path) -> None:
    with_targets(bundle, lambda config: None)
    assert isolation_of(cli, bundle)[0]["verdict"] == "apart"


@pytest.mark.parametrize(
    ("rows", "leaks", "cut"),
    [
        ({BLUE: {"import-rts": ["65000:5009"]}}, False, True),  # no other VRF exports it
        ({BLUE: {"export-rts": ["65000:5009"]}}, False, True),
        ({BLUE: {"export-rts": ["65000:5001"]}}, False, False),  # others import the number of any ASN
        ({BLUE: {"export-rts": ["10.0.0.1:5001"]}}, False, False),
        ({BLUE: {"import-rts": ["*:5001"]}}, False, False),
        ({BLUE: {"import-rts": ["*:5001", "*:5002"]}}, True, False),  # the routes of red, too
        ({BLUE: {"export-rts": "65000:5001,65000:5002"}}, True, False),
        ({RED: {"import-rts": ["route-target:*:5002", "*:5001"]}}, True, False),
        ({BLUE: {"autort": "rfc8365-compatible"}}, False, True),  # on one leaf only
    ],
    ids=str,
)
def test_route_targets_of_the_tables(cli: Cli, bundle: Path, rows: Any, leaks: bool, cut: bool) -> None:
    def add(config: Any) -> None:
        for key, row in rows.items():
            config["BGP_GLOBALS_AF"][key].update(row)

    with_targets(bundle, add)
    verdict, findings = isolation_of(cli, bundle)
    assert (verdict["pairs"]["leaks"] > 0, verdict["pairs"]["cut"] > 0) == (leaks, cut)
    assert not leaks or any(one["code"] == "FG647" and one["location"] for one in findings)


@pytest.mark.parametrize(("way", "leaks"), [("import", True), ("export", True), ("both", True)])
def test_rows_of_route_targets(cli: Cli, bundle: Path, way: str, leaks: bool) -> None:
    """A row of BGP_GLOBALS_EVPN_RT replaces the automatic target, as in FRR."""
    row = {f"Vrf_blue|L2VPN_EVPN|{'*' if way == 'import' else '65000'}:5002": {"route-target-type": way}}
    with_targets(bundle, lambda config: config.update(BGP_GLOBALS_EVPN_RT=row))
    verdict, _ = isolation_of(cli, bundle)
    assert (verdict["pairs"]["leaks"] > 0) == leaks
    assert verdict["pairs"]["cut"] > 0, "hosts of blue on the other leaf"


def test_route_targets_that_frr_conf_does_not_have_leave_the_verdict_open(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["BGP_GLOBALS_AF"].update({BLUE: {"import-rts": ["*:5002"]}}), CONFIG)
    verdict, _ = isolation_of(cli, bundle)
    assert verdict["unread"] == ["compute-su00-r0-leaf"]
    file = bundle / LEAF / "frr.conf"
    file.write_text(frr_conf(json.loads((bundle / CONFIG).read_text())))
    assert "  route-target import *:5002\n" in file.read_text()
    assert isolation_of(cli, bundle)[0]["verdict"] == "leaks"


def test_hosts_that_send_vxlan_enter_vrfs(cli: Cli, bundle: Path, tmp_path: Path) -> None:
    """A host in the default VRF whose ACL lets packets to VTEPs pass reaches each tenant, on one switch and on all."""
    file = tmp_path / "tenants.json"
    assert cli("validate", bundle, "--select", "FG647", "--certificate", file).code == 0
    checker().main(file, bundle)
    edit(bundle, lambda config: config["ACL_RULE"].pop("NO_TENANT|DROP_2"), f"{OTHER}/config_db.json")
    verdict, findings = isolation_of(cli, bundle)
    assert (verdict["verdict"], verdict["pairs"]["leaks"]) == ("leaks", 7 * 8)  # gpu/7 on one rail to all tenants
    assert {(one["code"], one["device"], one["path"]) for one in findings} == {
        ("FG647", "compute-su01-r0-leaf", "PORT|Ethernet12")
    }
    assert "no ACL of Ethernet12 drops VXLAN packets to 10.0." in findings[0]["message"]
    with pytest.raises(AssertionError, match="VXLAN packets from"):
        checker().main(file, bundle)
    for leaf in bundle.glob("sonic/*su01*/config_db.json"):
        edit(bundle, lambda config: config.pop("ACL_RULE"), str(leaf.relative_to(bundle)))
    assert isolation_of(cli, bundle)[0]["pairs"]["leaks"] == 8 * 7 * 8 + 8 * 7


def test_an_acl_of_vxlan_only_is_enough(cli: Cli, bundle: Path) -> None:
    for leaf in bundle.glob("sonic/*su01*/config_db.json"):
        edit(bundle, lambda config: config["ACL_RULE"]["NO_TENANT|DROP_2"].update(
            DST_IP="0.0.0.0/0", IP_PROTOCOL="17", L4_DST_PORT="4789"), str(leaf.relative_to(bundle)))  # fmt: skip
    assert isolation_of(cli, bundle)[0]["verdict"] == "apart"


def test_a_vrf_that_falls_back_sends_vxlan_too(cli: Cli, bundle: Path) -> None:
    edit(bundle, lambda config: config["VRF"]["Vrf_blue"].update(fallback="true"), CONFIG)
    assert isolation_of(cli, bundle)[0]["verdict"] == "leaks"


def test_a_port_in_the_default_vrf(cli: Cli, bundle: Path) -> None:
    """Its routes are not judged, which the verdict says, and its VXLAN packets enter the VRFs of all tenants."""
    before, _ = isolation_of(cli, bundle)
    assert "routes of the default VRF are not judged: its 8 addresses are taken as connected" in before["not_covered"]
    edit(bundle, lambda config: config["INTERFACE"]["Ethernet0"].pop("vrf_name"), CONFIG)
    verdict, findings = isolation_of(cli, bundle)
    assert "its 9 addresses" in verdict["not_covered"]
    of_pair = next(one for one in findings if "no ACL is bound" in one["message"])
    assert of_pair["hint"] == "put each port into the VRF of its tenant"
    assert any("VXLAN packets" in one["message"] for one in findings)
