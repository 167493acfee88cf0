"""Explicit designs: exactly what a person lists."""

from pathlib import Path

from fabricgen.findings import Finding
from fabricgen.render.plans import design_only, make_plans
from tests.inventories import ARISTA, NVIDIA, Tree, explicit, write


def messages(tree: Tree, folder: Path) -> list[str]:
    return [f"{finding.code} {finding.message}" for finding in design_only(write(folder, tree))[1]]


def with_links(*links: object) -> Tree:
    tree = explicit()
    tree["planes"]["compute"]["links"] = [*tree["planes"]["compute"]["links"], *links]
    return tree


def test_links_are_the_ones_listed_lower_end_first(tmp_path: Path) -> None:
    tree = with_links(["spine2:Ethernet16", "leaf1:Ethernet272"], ["leaf1:Ethernet320", "leaf2:Ethernet320"])
    fabric, findings = design_only(write(tmp_path, tree))
    assert findings == []
    assert [(link.kind, link.a.key, link.a_port, link.b.key, link.b_port) for link in fabric.links[-3:]] == [
        ("leaf-spine", "compute/leaf/leaf2", "Ethernet264", "compute/spine/spine2", "Ethernet8"),
        ("leaf-spine", "compute/leaf/leaf1", "Ethernet272", "compute/spine/spine2", "Ethernet16"),
        ("peer", "compute/leaf/leaf1", "Ethernet320", "compute/leaf/leaf2", "Ethernet320"),
    ]
    assert [host.key for host in fabric.hosts] == ["gpu/0"]


def test_a_link_may_have_a_cable_of_its_own(tmp_path: Path) -> None:
    tree = with_links(
        {"ends": ["leaf1:Ethernet272", "spine1:Ethernet16"], "cable": {"length": "150m", "medium": "smf"}}
    )
    link = design_only(write(tmp_path, tree))[0].links[-1]
    assert (link.cable.length_m, link.cable.medium) == (150.0, "smf")


def test_switches_may_differ_in_platform(tmp_path: Path) -> None:
    tree = explicit()
    tree["planes"]["compute"]["spines"][1]["platform"] = NVIDIA
    fabric, findings = design_only(write(tmp_path, tree))
    assert findings == []
    assert [switch.platform.name for switch in fabric.switches] == [ARISTA, ARISTA, ARISTA, NVIDIA]


def test_every_wrong_end_is_found_at_once(tmp_path: Path) -> None:
    tree = with_links(
        ["leaf3:Ethernet0", "spine1:Ethernet16"],
        ["leaf1:Ethernet9999", "spine1:Ethernet24"],
        ["leaf1:Ethernet0", "spine1:Ethernet32"],
        ["leaf1", "spine1:Ethernet40"],
    )
    assert messages(tree, tmp_path) == [
        "FG204 no device of plane compute is called 'leaf3'",
        "FG204 leaf1 has no port 'Ethernet9999'",
        "FG205 leaf1:Ethernet0 has two links",
        "FG204 'leaf1' has no port",
    ]


def test_a_link_from_a_port_to_itself(tmp_path: Path) -> None:
    assert messages(with_links(["leaf1:Ethernet272", "leaf1:Ethernet272"]), tmp_path) == [
        "FG205 leaf1:Ethernet272 has two links"
    ]


def test_a_nic_is_on_one_plane_only(tmp_path: Path) -> None:
    tree = explicit()
    second = {
        **tree["planes"]["compute"],
        "leaves": [{"name": "other1"}],
        "spines": [],
        "links": [["gpu/0:rail1", "other1:Ethernet0"]],
        "addressing": {"loopbacks": "10.1.0.0/16", "links": "10.2.0.0/16", "hosts": "10.3.0.0/16"},
    }
    tree["planes"]["second"] = second
    assert messages(tree, tmp_path) == ["FG205 NIC rail1 of hosts gpu is on plane compute and on plane second"]


def test_one_name_on_two_planes(tmp_path: Path) -> None:
    tree = explicit()
    tree["planes"]["second"] = {
        **tree["planes"]["compute"],
        "leaves": [{"name": "leaf1"}],
        "spines": [],
        "links": [["gpu/0:rail2", "leaf1:Ethernet0"]],
        "addressing": {"loopbacks": "10.1.0.0/16", "links": "10.2.0.0/16", "hosts": "10.3.0.0/16"},
    }
    found: list[Finding] = make_plans(write(tmp_path, tree)).findings
    assert [finding.code for finding in found] == ["FG208"]


def test_leaf_asns_are_their_own_and_spines_share_one(tmp_path: Path) -> None:
    plans = make_plans(write(tmp_path, explicit()))
    asns = {plans.allocation.names[key]: asn for key, asn in plans.control.asns.items()}
    assert len({asns["leaf1"], asns["leaf2"], asns["spine1"]}) == 3
    assert asns["spine1"] == asns["spine2"]
