"""Imports of what other tools say: a fabric of ours, in their words, comes back with its links and numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.adopt.foreign.made_hardware import PROFILES
from fabricgen.bundle.read import Bundle, open_bundle
from tests.adopt.expressed import Files, addresses, as_avd, as_hhfab, as_minigraphs, facts, write
from tests.conftest import Cli
from tests.inventories import ARISTA, MANAGEMENT, explicit
from tests.inventories import write as write_inventory

EXPRESSED: dict[str, Callable[[Bundle], Files]] = {
    "avd": as_avd,
    "hhfab": lambda bundle: as_hhfab(bundle, "arista-7060x6-64pe"),
    "minigraph": as_minigraphs,
}


# What the format cannot say: the layout of a model, and the gateway without which no management network is possible.
UNSAID = {"avd": ("hwsku",), "hhfab": ("hwsku", "management", "gateway"), "minigraph": ()}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Two leaves, two spines and a host; the management network is what the three formats can say."""
    from fabricgen.api.rendering import render

    folder = tmp_path_factory.mktemp("foreign")
    management = {key: MANAGEMENT[key] for key in ("addresses", "gateway")}
    tree = explicit(ARISTA) | {"management": management}
    render(write_inventory(folder / "source", tree), folder / "bundle")
    return open_bundle([folder / "bundle"])


def wires(bundle: Bundle) -> set[frozenset[Any]]:
    """Both ends of each link; hosts by their NICs alone, whose names the import may group anew."""
    return {frozenset((link.a, link.b)) for link in bundle.links}


@pytest.mark.parametrize("kind", EXPRESSED)
def test_a_fabric_of_ours_comes_back(kind: str, tiny: Bundle, cli: Cli, tmp_path: Path) -> None:
    files = write(EXPRESSED[kind](tiny), tmp_path / "files")
    outcome = cli("import", kind, files, "-o", tmp_path / "inventory")
    assert outcome.code == 0, outcome.err
    assert "FG868" not in outcome.err, outcome.err
    judged = cli("check", tmp_path / "inventory")
    assert judged.code == 0, judged.out
    assert cli("render", tmp_path / "inventory", "-o", tmp_path / "again", "-q", "--locked").code == 0
    again = open_bundle([tmp_path / "again"])
    assert wires(again) == wires(tiny)
    for name in tiny.devices:
        old, new = facts(tiny, name), facts(again, name)
        for key in UNSAID[kind]:
            del old[key], new[key]
        assert old == new
        for link in tiny.switch_links:
            for end in (link.a, link.b):
                assert addresses(again, *end) == addresses(tiny, *end)


def test_avd_6_has_peers_in_the_metadata_of_ports(tiny: Bundle, cli: Cli, tmp_path: Path) -> None:
    """pyavd 6 moved peer, peer_interface and peer_type there (its schema of eos_cli_config_gen)."""
    files = write(as_avd(tiny), tmp_path / "files")
    for file in sorted(files.glob("*.yml")):
        tree = yaml.safe_load(file.read_text())
        for port in tree["ethernet_interfaces"]:
            port["metadata"] = {key: port.pop(key) for key in ("peer", "peer_interface", "peer_type") if key in port}
        file.write_text(yaml.safe_dump(tree))
    outcome = cli("import", "avd", files, "-o", tmp_path / "inventory")
    assert outcome.code == 0 and "metadata" not in outcome.err, outcome.err
    assert cli("render", tmp_path / "inventory", "-o", tmp_path / "again", "-q").code == 0
    assert wires(open_bundle([tmp_path / "again"])) == wires(tiny)


def test_routed_ports_without_any_link_are_an_error(tiny: Bundle, cli: Cli, tmp_path: Path) -> None:
    """A fabric without links would pass every check."""
    files = write(as_avd(tiny), tmp_path / "files")
    for file in sorted(files.glob("*.yml")):
        tree = yaml.safe_load(file.read_text())
        for port in tree["ethernet_interfaces"]:
            port.pop("peer", None)
        file.write_text(yaml.safe_dump(tree))
    outcome = cli("import", "avd", files, "-o", tmp_path / "inventory")
    assert outcome.code == 1 and "no file says what they are connected to" in outcome.out
    assert not (tmp_path / "inventory").exists()


def test_the_notes_list_what_does_not_carry_over(tiny: Bundle, cli: Cli, tmp_path: Path) -> None:
    expected = {
        "avd": ["Loopback1: VTEP (4 places)"],
        "hhfab": ["VLANNamespace", "vtepIP: the fabric has no VXLAN (4 places)", "roce: set `lossless`"],
        "minigraph": [],
    }
    for kind, express in EXPRESSED.items():
        outcome = cli("import", kind, write(express(tiny), tmp_path / kind))
        assert outcome.code == 0 and yaml.safe_load(outcome.out)["planes"]["compute"]["design"] == "explicit"
        for text in (*expected[kind], "no lossless classes", "GPUs and NIC models"):
            assert text in outcome.err, (kind, text, outcome.err)


DESIGN = """\
mgmt_gateway: 172.16.0.1
spine:
  defaults: {platform: DCS-7060X6-64PE-F, loopback_ipv4_pool: 10.255.0.0/27, bgp_as: "65000.7"}
  nodes:
    spine1: {id: 1, mgmt_ip: 172.16.0.11/24}
    spine2: {id: 2, mgmt_ip: 172.16.0.12/24}
l3leaf:
  defaults: &leaf
    platform: 7060X6-64PE
    loopback_ipv4_pool: 10.255.0.0/27
    loopback_ipv4_offset: 2
    uplink_interfaces: [Ethernet33-34/1]
    uplink_switches: [spine1, spine2]
    uplink_ipv4_pool: 10.255.255.0/26
  node_groups:
    - group: one
      bgp_as: 65101
      uplink_interfaces: ['Ethernet33/1,34/1']
      nodes: [{name: leaf1, id: 1, uplink_switch_interfaces: [Ethernet1/1, Ethernet1/1]}]
  nodes:
    - {name: leaf2, id: 3, bgp_as: 65102, uplink_interfaces: [Ethernet33/1, Ethernet34/1],
       uplink_switch_interfaces: [Ethernet1/5, Ethernet1/5]}
l2leaf: {nodes: [{name: access1, id: 1}]}
servers:
  - name: gpu-0
    adapters:
      - {endpoint_ports: [eth0, eth1], switches: [leaf1, leaf2], switch_ports: [Ethernet1/1, Ethernet1/1]}
"""


def test_group_variables_have_the_numbers_of_avd(cli: Cli, tmp_path: Path) -> None:
    """Loopbacks by id and offset; two uplink subnets for each id, the even address at the spine; inherited ASNs."""
    files = write({"DC1.yml": DESIGN}, tmp_path / "group_vars")
    outcome = cli("import", "avd", files, "-o", tmp_path / "inventory")
    assert outcome.code == 0, outcome.err + outcome.out
    assert "not imported: l2leaf" in outcome.err and "FG868" not in outcome.err
    assert cli("check", tmp_path / "inventory").code == 0
    lock = yaml.safe_load((tmp_path / "inventory" / "allocations.lock.yaml").read_text())
    assert lock["asns"] == {"compute/leaf/leaf1": 65101, "compute/leaf/leaf2": 65102, "compute/spine": 65000 << 16 | 7}
    assert [lock["loopbacks"][f"compute/{name}"] for name in ("spine/spine2", "leaf/leaf1", "leaf/leaf2")] == [
        ["10.255.0.2"], ["10.255.0.3"], ["10.255.0.5"]
    ]  # fmt: skip
    blocks = [text for key, texts in lock["blocks"].items() if "--" in key for text in texts]
    assert blocks == ["10.255.255.1/31", "10.255.255.3/31", "10.255.255.9/31", "10.255.255.11/31"]
    links = yaml.safe_load((tmp_path / "inventory" / "fabric.yaml").read_text())["planes"]["compute"]["links"]
    assert ["leaf1:Ethernet256", "spine1:Ethernet0"] in links and ["leaf2:Ethernet256", "spine1:Ethernet4"] in links
    assert ["gpu/0:eth0", "leaf1:Ethernet0"] in links


def test_a_range_of_asns_gives_each_node_the_one_of_its_id(cli: Cli, tmp_path: Path) -> None:
    """AVD counts `id` from 1."""
    text = DESIGN.replace("      bgp_as: 65101\n", "      bgp_as: 65101-65103\n").replace(
        "bgp_as: 65102", "bgp_as: 65101-65103"
    )
    outcome = cli("import", "avd", write({"DC1.yml": text}, tmp_path / "group_vars"), "-o", tmp_path / "inventory")
    assert outcome.code == 0, outcome.err
    asns = yaml.safe_load((tmp_path / "inventory" / "allocations.lock.yaml").read_text())["asns"]
    assert (asns["compute/leaf/leaf1"], asns["compute/leaf/leaf2"]) == (65101, 65103)
    files = write({"DC1.yml": text.replace("65101-65103", "65101-65102")}, tmp_path / "short")
    outcome = cli("import", "avd", files)
    assert outcome.code == 1 and "the range 65101-65102 of bgp_as has no ASN number 3 for leaf2" in outcome.out


DEFAULT_PORTS = """
default_interfaces:
  - {types: [l3leaf], platforms: ["7[05]60X6-.*"], uplink_interfaces: [Ethernet33-34/1]}
  - {types: [l3leaf, spine], platforms: [default], uplink_interfaces: [Ethernet1-2]}
  - {types: [l3leaf], platforms: ["7060X6-64PE("], uplink_interfaces: [Ethernet7-8]}
"""


@pytest.mark.parametrize("platforms", ['"7[05]60X6-.*"', "7060X6-64PE", "[other, default]"])
def test_ports_of_uplinks_have_defaults(platforms: str, cli: Cli, tmp_path: Path) -> None:
    """AVD's examples state the uplink ports once for each type and platform, not at each switch."""
    stated = "".join(line for line in DESIGN.splitlines(True) if "      uplink_int" not in line)
    stated = stated.replace("    uplink_interfaces: [Ethernet33-34/1]\n", "")
    stated = stated.replace(" uplink_interfaces: [Ethernet33/1, Ethernet34/1],", "")
    assert "uplink_interfaces" not in stated
    ports = DEFAULT_PORTS.replace('["7[05]60X6-.*"]', platforms if platforms[0] == "[" else f"[{platforms}]")
    designs = []
    for name, files in (("one", {"DC1.yml": DESIGN}), ("two", {"DC1.yml": stated, "FABRIC.yml": ports})):
        outcome = cli("import", "avd", write(files, tmp_path / name), "-o", tmp_path / name / "inventory")
        assert outcome.code == 0, outcome.err + outcome.out
        designs.append(yaml.safe_load((tmp_path / name / "inventory" / "fabric.yaml").read_text())["planes"])
    assert designs[0] == designs[1]
    assert "default_interfaces" not in outcome.err


WRONG = {
    "an ASN": ("avd", "as: '4200000001'", "as: many", "leaf2.yml:5:7  error FG866", "'many' is not an ASN"),
    "an address": ("avd", "ip_address: 10.0.0.1/32", "ip_address: 10.0.0", "error FG866", "'10.0.0' is not an address"),
    "a port": ("avd", "name: Ethernet1/1", "name: Et1", "error FG866", "'Et1' is not a port such as Ethernet1"),
    "a model": ("avd", "7060X6-64PE", "7000X", "error FG865", "the catalog has no switch '7000X'"),
    "not YAML": ("avd", "hostname: ", "hostname: [", "not YAML", ".yml:"),
    "a role": ("hhfab", "role: spine", "role: top", "error FG866", "has the role 'top', expected spine, server-leaf"),
    "an unknown switch": ("hhfab", "port: spine1/", "port: spine9/", "error FG866", "not a port of a Switch"),
    "a port of hhfab": ("hhfab", "port: leaf1/E1/1/1", "port: leaf1/1", "'1' is not a port such as E1/5"),
    "a name": ("hhfab", "name: spine1\n", "name: 'spine 1'\n", "error FG140", "'spine 1' is not allowed"),
    "an entity": ("minigraph", "<DeviceMiniGraph", "<!DOCTYPE a [<!ENTITY b 'c'>]>\n<DeviceMiniGraph", "leaf1.xml:1:1",
                  "a document type (DTD) is refused"),
    "not XML": ("minigraph", "</PngDec>", "", "leaf1.xml:", "not XML: mismatched tag"),
    "another root": ("minigraph", "DeviceMiniGraph", "Other", "leaf1.xml:1:1", "not a minigraph"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_reported_at_their_place(case: str, tiny: Bundle, cli: Cli, tmp_path: Path) -> None:
    kind, old, new, *expected = WRONG[case]
    texts = EXPRESSED[kind](tiny)
    assert any(old in text for text in texts.values()), texts
    files = write({name: text.replace(old, new) for name, text in texts.items()}, tmp_path / "files")
    outcome = cli("import", kind, files, "-o", tmp_path / "inventory")
    assert outcome.code in (1, 2) and not (tmp_path / "inventory").exists()
    for text in expected:
        assert text in outcome.out + outcome.err, outcome.out + outcome.err


def test_requests_that_are_not_possible(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "contains no file that ends with .xml" in cli("import", "minigraph", tmp_path / "empty").err
    assert "no such file or folder" in cli("import", "hhfab", tmp_path / "none").err
    files = write({"DC1.yml": DESIGN}, tmp_path / "files")
    assert "not a name of `fabricgen list platforms`" in cli("import", "avd", files, "--hardware", "a=b").err
    assert "write MODEL=PLATFORM" in cli("import", "avd", files, "--hardware", "a").err
    assert "which this run reads" in cli("import", "avd", files, "-o", files).err
    assert "is not empty" in cli("import", "avd", files, "-o", tmp_path).err
    (tmp_path / "empty" / "a.yml").write_text("{}\n")
    nothing = cli("import", "avd", tmp_path / "empty").out
    assert "a.yml:1:1  error FG866  the files do not describe a switch" in nothing


def test_yaml_that_grows_is_refused(cli: Cli, tmp_path: Path) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    files = write({"wiring.yaml": f"a0: &a0 [x]\n{levels}"}, tmp_path / "files")
    outcome = cli("import", "hhfab", files)
    assert outcome.code == 2 and "aliases expand the file" in outcome.err


def hhfab_wiring(profile: str, ports: tuple[str, str]) -> str:
    """Two leaves and a spine of one profile, as `hhfab` writes them."""
    objects: list[dict[str, Any]] = []
    for name, role, asn in (
        ("leaf-01", "server-leaf", 65101),
        ("leaf-02", "server-leaf", 65102),
        ("spine-01", "spine", 65100),
    ):
        spec = {"role": role, "profile": profile, "asn": asn, "ip": f"172.30.0.{asn % 100 + 8}/21"}
        objects.append({"kind": "Switch", "metadata": {"name": name}, "spec": spec})
    for number, leaf in enumerate(("leaf-01", "leaf-02")):
        ends = {
            "leaf": {"ip": f"172.30.128.{2 * number + 1}/31", "port": f"{leaf}/{ports[0]}"},
            "spine": {"ip": f"172.30.128.{2 * number}/31", "port": f"spine-01/{ports[number]}"},
        }
        objects.append(
            {"kind": "Connection", "metadata": {"name": f"{leaf}--fabric"}, "spec": {"fabric": {"links": [ends]}}}
        )
    return "---\n".join(yaml.safe_dump({"apiVersion": "wiring.githedgehog.com/v1beta1", **one}) for one in objects)


@pytest.mark.parametrize("profile", list(PROFILES))
def test_profiles_of_hedgehog_come_in_without_hardware(profile: str, cli: Cli, tmp_path: Path) -> None:
    """Their ports and modes are those of githedgehog/fabric; nothing public states headroom."""
    (tmp_path / "wiring.yaml").write_text(hhfab_wiring(profile, ("E1/1", "E1/2")))
    outcome = cli("import", "hhfab", tmp_path / "wiring.yaml", "-o", tmp_path / "inventory")
    assert outcome.code == 0, outcome.out + outcome.err
    assert f"FG870 the catalog does not have {profile}" in outcome.err
    judged = cli("check", tmp_path / "inventory")
    assert " 0 errors" in judged.out, judged.out
    assert cli("import", "hhfab", tmp_path / "wiring.yaml").code == 1  # standard output has no place for the entry


LAB = """\
hostname: {name}
metadata: {{platform: {model}}}
router_bgp: {{as: "{asn}"}}
ethernet_interfaces:
- {{name: Ethernet{port}, peer: {far}, peer_interface: Ethernet{far_port}, peer_type: {kind}, ip_address: {address}}}
loopback_interfaces:
- {{name: Loopback0, ip_address: 10.255.0.{asn}/32}}
"""


@pytest.mark.parametrize("model", ["cEOS-LAB", "vEOS-lab", "vEOS", "cEOSLab"])
def test_a_lab_of_virtual_switches_has_a_platform(model: str, cli: Cli, tmp_path: Path) -> None:
    leaf = {
        "name": "leaf1",
        "port": 12,
        "far": "spine1",
        "far_port": 1,
        "kind": "spine",
        "address": "10.0.0.1/31",
        "asn": 11,
    }
    spine = {
        "name": "spine1",
        "port": 1,
        "far": "leaf1",
        "far_port": 12,
        "kind": "l3leaf",
        "address": "10.0.0.0/31",
        "asn": 10,
    }
    files = write({f"{one['name']}.yml": LAB.format(model=model, **one) for one in (leaf, spine)}, tmp_path / "files")
    outcome = cli("import", "avd", files, "-o", tmp_path / "inventory")
    assert outcome.code == 0 and outcome.err.count("FG870") == 1, outcome.err
    assert " 0 errors" in cli("check", tmp_path / "inventory").out
    other = cli("import", "avd", files, "-o", tmp_path / "other", "--hardware", f"{model}=dell-s5232f")
    assert other.code == 0 and "FG870" not in other.err
