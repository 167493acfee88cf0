"""Laws of dragonfly and dragonfly+, over random legal intents; their counts; refusals with their arithmetic."""

from collections import Counter
from itertools import combinations
from math import gcd
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given, settings

from fabricgen.design.capacity import capacity
from fabricgen.design.groups import global_links, links_per_pair
from fabricgen.design.model import Fabric, Host, Switch
from fabricgen.render.plans import design_only
from tests.design.laws import check_ports, endpoints_of, wiring
from tests.design.test_rail_optimized import laid_out
from tests.examples import examples
from tests.inventories import Tree, grid, grouped, write

_FAST = settings(max_examples=examples(40), deadline=None)
ARRANGEMENTS = ["absolute", "relative", "circulant"]


@given(st.sampled_from(ARRANGEMENTS), st.integers(2, 24), st.integers(1, 80))
def test_an_arrangement_joins_every_pair_of_groups_alike(arrangement: str, groups: int, ports: int) -> None:
    links = list(global_links(arrangement, groups, ports))
    each = links_per_pair(groups, ports)
    assert each == ports // (groups - 1)
    pairs = Counter((near, far) for near, _, far, _ in links)
    assert pairs == (dict.fromkeys(combinations(range(groups), 2), each) if each else {})
    used = Counter(end for near, port, far, far_port in links for end in ((near, port), (far, far_port)))
    assert set(used.values()) <= {1} and all(0 <= port < ports for _, port in used)


@pytest.mark.parametrize(
    ("arrangement", "leads_to"),
    [  # of group 2 of five, port by port, as Hastings et al. draw them
        ("absolute", [0, 1, 3, 4]),
        ("relative", [3, 4, 0, 1]),
        ("circulant", [3, 1, 4, 0]),
    ],
)
def test_arrangements_are_those_of_the_paper(arrangement: str, leads_to: list[int]) -> None:
    found = {}
    for near, port, far, far_port in global_links(arrangement, 5, 4):
        found |= {(near, port): far, (far, far_port): near}
    assert [found[2, port] for port in range(4)] == leads_to


@st.composite
def intents(draw: st.DrawFn) -> Tree:
    """A legal tree of one of the two designs, with some of its groups built."""
    design = draw(st.sampled_from(["dragonfly", "dragonfly-plus"]))
    leaves, far, local = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    group = {"global_links": far, "local_links": local, "arrangement": draw(st.sampled_from(ARRANGEMENTS))}
    spines = draw(st.integers(1, 5))
    group |= {"switches": leaves} if design == "dragonfly" else {"leaves": leaves, "spines": spines}
    unit = leaves // gcd(leaves, 8) * draw(st.integers(1, 2))
    assume(unit * 8 // leaves + max(leaves, spines) * local + far <= 64)
    planned = draw(st.integers(1, min(12, (leaves if design == "dragonfly" else spines) * far + 1)))
    hosts = draw(st.integers(1, unit * planned))
    return grouped(design, group, hosts, unit, planned)


def between(fabric: Fabric) -> Counter[tuple[int | None, ...]]:
    """Global links of each pair of groups."""
    return Counter(
        tuple(sorted(((link.a.identity.su or 0), (link.b.identity.su or 0))))
        for link in fabric.links
        if link.kind == "global" and isinstance(link.a, Switch)
    )


@_FAST
@given(intents())
def test_ports_endpoints_groups_and_spare(tree: Tree) -> None:
    fabric, plane = laid_out(tree), tree["planes"]["compute"]
    check_ports(fabric)
    group, unit = plane["dragonfly"], plane["scalable_unit"]
    leaves = group.get("switches") or group["leaves"]
    built = -(-tree["hosts"]["gpu"]["count"] // unit["hosts"])
    assert max(endpoints_of(fabric).values()) <= unit["hosts"] * 8 // leaves
    assert sum(endpoints_of(fabric).values()) == tree["hosts"]["gpu"]["count"] * 8
    each = links_per_pair(unit["planned"], group.get("spines", leaves) * group["global_links"])
    assert between(fabric) == (dict.fromkeys(combinations(range(built), 2), each) if each else {})
    local = Counter(link.kind for link in fabric.links if link.kind in ("peer", "leaf-spine"))
    within = leaves * group["spines"] if "spines" in group else leaves * (leaves - 1) // 2
    assert sum(local.values()) == built * within * group["local_links"]


@_FAST
@given(intents(), st.integers(1, 60))
def test_more_hosts_change_no_link_of_the_others(tree: Tree, more: int) -> None:
    unit, count = tree["planes"]["compute"]["scalable_unit"], tree["hosts"]["gpu"]["count"]
    grown = {
        **tree,
        "hosts": {"gpu": {"model": "dgx-h100", "count": min(count + more, unit["hosts"] * unit["planned"])}},
    }
    before, after = laid_out(tree), laid_out(grown)
    assert wiring(before).items() <= wiring(after).items()
    assert {switch.key for switch in before.switches} <= {switch.key for switch in after.switches}


@pytest.mark.parametrize(
    ("a", "p", "h"), [(4, 2, 2), (8, 4, 4), (2, 4, 1)], ids=["72 endpoints", "1056 endpoints", "24 endpoints"]
)
def test_a_full_dragonfly_has_the_counts_of_the_paper(a: int, p: int, h: int) -> None:
    """Kim et al.: g = a h + 1 groups of a switches with a p endpoints, a (a - 1) / 2 local and a h / 2 global links."""
    g = a * h + 1
    unit = a * p // 8
    (plane,) = capacity(laid_out(grouped("dragonfly", {"switches": a, "global_links": h}, g * unit, unit, g)))["planes"]
    assert plane["endpoints"] == a * p * g and plane["switches"]["leaf"] == plane["planned"]["leaf"] == a * g
    assert plane["links"]["peer"] == g * a * (a - 1) // 2
    assert plane["links"]["global"] == g * a * h // 2
    assert plane["oversubscription"] == {"leaf": p / h}
    cut = (g // 2) * (g - g // 2)
    assert plane["bisection_gbps"] == min(cut * 400, a * p * g * 200)


def test_a_dragonfly_plus_counts_both_tiers() -> None:
    group = {"leaves": 4, "spines": 4, "global_links": 4, "local_links": 2}
    (plane,) = capacity(laid_out(grouped("dragonfly-plus", group, 20, 4, 5)))["planes"]
    assert plane["switches"] == {"leaf": 20, "spine": 20, "core": 0}
    assert plane["links"] == {"host-leaf": 160, "leaf-spine": 5 * 16 * 2, "spine-core": 0, "global": 10 * 4}
    assert plane["oversubscription"] == {"leaf": 1.0, "spine": 2.0}
    assert plane["bisection_gbps"] == 2 * 3 * 4 * 400


@pytest.mark.parametrize(("switches", "hosts_on"), [(1, 1), (2, 1), (4, 2), (8, 4)])
def test_a_host_of_eight_nics_sits_on_as_many_switches_as_it_needs(switches: int, hosts_on: int) -> None:
    """Two hosts, sixteen endpoints: sixteen, eight, four or two on a switch."""
    fabric = laid_out(grouped("dragonfly", {"switches": switches, "global_links": 1}, 2, 2, 1))
    for number in range(2):
        found = [link.b.identity.number for link in fabric.links if link.a.key == f"gpu/{number}"]
        assert found == sorted(found) and len(set(found)) == hosts_on


def test_all_nics_of_a_switch_follow_each_other() -> None:
    fabric = laid_out(grouped("dragonfly", {"switches": 4, "global_links": 1}, 1, 1, 1))
    ends = [
        (link.nic.name, link.b.identity.number, link.b_port)
        for link in fabric.links
        if isinstance(link.a, Host) and link.nic
    ]
    ports = [port.name for port in fabric.switches[0].layout.fabric_ports]
    assert ends == [(f"rail{nic}", nic // 2, ports[nic % 2]) for nic in range(8)]


def test_ports_by_purpose() -> None:
    """Endpoints, then switches by number, and the last ports between groups."""
    fabric = laid_out(grouped("dragonfly", {"switches": 4, "global_links": 2, "local_links": 2}, 9, 1, 9))
    ports = [port.name for port in fabric.switches[0].layout.fabric_ports]
    found: dict[str, set[int]] = {}
    for link in fabric.links:
        for node, port in ((link.a, link.a_port), (link.b, link.b_port)):
            if isinstance(node, Switch):
                found.setdefault(link.kind, set()).add(ports.index(port))
    assert found == {"host-leaf": {0, 1}, "peer": set(range(2, 8)), "global": {62, 63}}


@pytest.mark.parametrize("group", [{"switches": 4}, {"leaves": 3, "spines": 2}])
def test_local_ports_go_by_the_number_of_the_far_switch(group: Tree) -> None:
    """On both ends; parallel links stand side by side, first to first."""
    design = "dragonfly" if "switches" in group else "dragonfly-plus"
    group = {**group, "global_links": 1, "local_links": 2}
    fabric = laid_out(grouped(design, group, 3 if "leaves" in group else 1, 3 if "leaves" in group else 1, 1))
    ports: dict[str, list[tuple[int, int, str]]] = {}
    lanes: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for link in fabric.links:
        if isinstance(link.a, Switch):
            near, far = (
                [port.name for port in node.layout.fabric_ports].index(name)
                for node, name in ((link.a, link.a_port), (link.b, link.b_port))
            )
            ports.setdefault(link.a.key, []).append((near, link.b.identity.number, link.b.role))
            ports.setdefault(link.b.key, []).append((far, link.a.identity.number, link.a.role))
            lanes.setdefault((link.a.key, link.b.key), []).append((near, far))
    for found in ports.values():
        numbers = [number for _, number, _ in sorted(found)]
        assert numbers == sorted(numbers)
        assert sorted(port for port, _, _ in found) == list(range(min(found)[0], min(found)[0] + len(found)))
    for pairs in lanes.values():
        (near, far), (next_near, next_far) = sorted(pairs)
        assert (next_near, next_far) == (near + 1, far + 1)


@pytest.mark.parametrize("design", ["dragonfly", "dragonfly-plus", "torus"])
def test_ports_of_another_speed_are_no_radix(design: str, tmp_path: Path) -> None:
    """Nor are links between groups plugged into them, though they are a switch's last ports."""
    if design == "torus":
        tree = grid(design, [3, 3], 9)
    else:
        group = {"switches": 2} if design == "dragonfly" else {"leaves": 2, "spines": 2}
        tree = grouped(design, {**group, "global_links": 2}, 3, 1, 3)
    plane = tree["planes"]["compute"]
    for role in ("leaf", "spine"):
        plane[role] = {"platform": "generic-12x400g+8x800g"}
    if design != "dragonfly-plus":
        del plane["spine"]
    fabric = laid_out(tree)
    check_ports(fabric)
    assert {link.speed_mbps for link in fabric.links} == {400_000}
    plane["leaf"] = {"platform": "generic-5x400g+8x800g"}
    (finding,) = design_only(write(tmp_path, tree))[1]
    assert finding.code == "FG201" and "its platform has 5" in finding.message


def test_spines_of_a_group_share_an_asn_leaves_have_their_own() -> None:
    fabric = laid_out(grouped("dragonfly-plus", {"leaves": 2, "spines": 3, "global_links": 1}, 2, 1, 2))
    owners = Counter(switch.asn_owner for switch in fabric.switches)
    assert owners == {
        **{f"compute/su{unit}/leaf{leaf}": 1 for unit in range(2) for leaf in range(2)},
        "compute/su0/spine": 3,
        "compute/su1/spine": 3,
    }


FOUR = {"switches": 4, "global_links": 2}
PLUS = {"leaves": 2, "spines": 2, "global_links": 2}


@pytest.mark.parametrize(
    ("tree", "code", "path", "arithmetic"),
    [
        (grouped("dragonfly", FOUR, 4, 1, 10), "FG201", "planes.compute.dragonfly.global_links",
         "10 groups need 9 global links from each; a group has 4 x 2 = 8"),
        (grouped("dragonfly-plus", PLUS, 4, 1, 6), "FG201", "planes.compute.dragonfly.global_links",
         "6 groups need 5 global links from each; a group has 2 x 2 = 4"),
        (grouped("dragonfly", {"switches": 40, "global_links": 3}, 4, 120, 2), "FG201", "planes.compute.leaf.platform",
         "a leaf needs 66 ports (24 endpoints + 39 switches x 1 + 3 global links), its platform has 64"),
        (grouped("dragonfly-plus", {**PLUS, "local_links": 30}, 4, 4, 2), "FG201", "planes.compute.leaf.platform",
         "a leaf needs 76 ports (16 endpoints + 2 spines x 30), its platform has 64"),
        (grouped("dragonfly-plus", {**PLUS, "global_links": 63}, 4, 4, 2), "FG201", "planes.compute.spine.platform",
         "a spine needs 65 ports (2 leaves x 1 + 63 global links), its platform has 64"),
        (grouped("dragonfly", {"switches": 6, "global_links": 2}, 4, 4, 2), "FG209",
         "planes.compute.scalable_unit.hosts", "4 hosts x 8 NICs = 32 endpoints of a unit cannot be spread over its 6"),
        (grouped("dragonfly", FOUR, 5, 2, 2), "FG207", "planes.compute.scalable_unit.planned",
         "5 hosts, 2 in a group, make 3 groups, `planned` is 2"),
        (grouped("dragonfly", FOUR, 5, 2, 9, speed="200G"), "FG202", "planes.compute.leaf.platform",
         "no layout for 200G"),
        (grouped("dragonfly", PLUS), "FG106", "planes.compute.dragonfly", "the dragonfly design needs 'switches'"),
        (grouped("dragonfly-plus", {**PLUS, "switches": 4}), "FG105", "planes.compute.dragonfly.switches",
         "a group of a dragonfly-plus has no 'switches'"),
    ],
)  # fmt: skip
def test_refusals_show_the_arithmetic(tree: Tree, code: str, path: str, arithmetic: str, tmp_path: Path) -> None:
    found: list[Any] = design_only(write(tmp_path, tree))[1]
    assert code in {finding.code for finding in found}
    finding = next(finding for finding in found if finding.code == code)
    assert (finding.path, finding.severity) == (path, "error") and arithmetic in finding.message
    assert finding.location.line > 1 and finding.hint


def test_nics_of_another_speed_are_refused(tmp_path: Path) -> None:
    tree = grouped("dragonfly", FOUR, 4, 1, 2)
    tree["hosts"]["gpu"]["model"] = "gaudi-3"
    (finding,) = design_only(write(tmp_path, tree))[1]
    assert finding.code == "FG209" and "gaudi-3 has NICs of 200G, plane compute runs at 400G" in finding.message
