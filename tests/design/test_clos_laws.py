"""Laws of every design of the Clos family, over random intents. What cannot be is refused with its arithmetic."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import assume, given, settings

from fabricgen.design.expand import expand
from fabricgen.design.model import Fabric, Host, Link, Switch
from fabricgen.findings import Finding
from fabricgen.inventory.load import build_inventory
from fabricgen.inventory.read_yaml import read_yaml
from tests.examples import examples
from tests.inventories import ARISTA, GENERIC, Tree, rail_optimized

_FAST = settings(max_examples=examples(60), deadline=None)
REFUSALS = {"FG201", "FG213", "FG214"}
DESIGNS = ["rail-optimized", "rail-only", "fat-tree", "dual-tor"]


@dataclass(frozen=True)
class Intent:
    """A tree, and what it takes to grow it."""

    tree: Tree
    hosts: int
    room: int

    def grown(self, more: int) -> Tree:
        model = self.tree["hosts"]["gpu"]["model"]
        return {**self.tree, "hosts": {"gpu": {"model": model, "count": min(self.hosts + more, self.room)}}}


@st.composite
def intents(draw: st.DrawFn) -> Intent:
    """Any design with any of its keys; two ports to a NIC for some."""
    design = draw(st.sampled_from(DESIGNS))
    platform = draw(st.sampled_from([GENERIC, ARISTA]))
    model = draw(st.sampled_from(["dgx-h100", "dgx-b300"])) if design != "dual-tor" else "dgx-b300"
    unit, planned = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    plane: dict[str, Any] = {"design": design}
    plane["oversubscription"] = {"leaf": draw(st.sampled_from([1, 1.5, 2, 4, 0.5]))}
    if design != "rail-only":
        plane["core"] = {"platform": platform}
        plane["oversubscription"]["spine"] = draw(st.sampled_from([1, 1, 2, 7]))
    if draw(st.booleans()):
        plane["subplanes"] = draw(st.integers(1, 2))
    if design == "fat-tree":
        plane["leaves_per_unit"] = draw(st.sampled_from([1, 2, 4, 3]))
    else:
        plane["rails_per_leaf"] = draw(st.sampled_from([1, 1, 2, 4, 8, 3]))
    if design != "rail-only" and draw(st.booleans()):
        plane["pod"] = {"units": draw(st.integers(1, 6))}
    if draw(st.booleans()):
        plane["leaf"] = {"platform": platform, "spare_ports": draw(st.integers(0, 4))}
    hosts = draw(st.integers(1, unit * planned))
    return Intent(rail_optimized(hosts, unit, planned, platform, model, **plane), hosts, unit * planned)


def expanded(tree: Tree) -> tuple[Fabric, list[Finding]]:
    findings: list[Finding] = []
    text = dumps({key: part for key, part in tree.items() if key != "management"})
    inventory = build_inventory(read_yaml(text, "fabric.yaml")[0], findings)
    fabric, found = expand(inventory, Path())
    return fabric, [*findings, *found]


def laid_out(intent: Intent) -> Fabric:
    fabric, findings = expanded(intent.tree)
    for finding in findings:
        assert finding.code in REFUSALS and re.search("[0-9]", finding.message), finding
    assume(not findings)
    return fabric


def ends(link: Link) -> list[tuple[Switch | Host, str]]:
    return [(link.a, link.a_port), (link.b, link.b_port)]


@_FAST
@given(intents())
def test_every_port_is_used_once_and_runs_at_the_speed_of_its_link(intent: Intent) -> None:
    fabric = laid_out(intent)
    used = Counter((node.key, port) for link in fabric.links for node, port in ends(link))
    assert set(used.values()) <= {1}
    for link in fabric.links:
        for node, port in ends(link):
            if isinstance(node, Switch):
                assert node.layout.port_by_name[port].kind == "fabric"
                assert node.layout.port_by_name[port].speed_mbps == link.speed_mbps
            else:
                (nic,) = [nic for nic in node.model.nics if nic.name == port]
                assert nic.speed_mbps == link.speed_mbps
    assert len({link.key for link in fabric.links}) == len(fabric.links)
    slots = Counter((link.block.key, link.slot) for link in fabric.links)
    assert set(slots.values()) == {1} and all(0 <= link.slot < link.block.slots for link in fabric.links)


@_FAST
@given(intents())
def test_every_compute_nic_is_plugged_in(intent: Intent) -> None:
    fabric = laid_out(intent)
    plugged = Counter(link.a.key for link in fabric.links if isinstance(link.a, Host))
    (nics,) = {sum(nic.plane == "compute" for nic in host.model.nics) for host in fabric.hosts}
    subplanes = intent.tree["planes"]["compute"].get("subplanes")
    assert subplanes is None or subplanes <= 2
    assert set(plugged.values()) == {nics} and len(plugged) == intent.hosts


@_FAST
@given(intents())
def test_uplinks_spread_evenly(intent: Intent) -> None:
    above: dict[str, Counter[str]] = defaultdict(Counter)
    fabric = laid_out(intent)
    for link in fabric.links:
        if isinstance(link.a, Switch):
            above[link.a.key][link.b.key] += 1
    for role in ("leaf", "spine"):
        spreads = {tuple(sorted(above[switch.key].values())) for switch in fabric.switches if switch.role == role}
        assert len(spreads) <= 1, "switches of a role differ"
        assert all(len(set(spread)) <= 1 for spread in spreads), "a switch prefers one of those above it"


@_FAST
@given(intents())
def test_oversubscription_is_never_more_than_asked(intent: Intent) -> None:
    fabric = laid_out(intent)
    (design,) = fabric.planes
    down: Counter[str] = Counter()
    up: Counter[str] = Counter()
    for link in design.links:
        down[link.b.key] += link.speed_mbps
        if isinstance(link.a, Switch):
            up[link.a.key] += link.speed_mbps
    for switch in design.switches:
        if up[switch.key]:
            assert down[switch.key] <= design.plane.oversubscription[switch.role] * up[switch.key] + 1e-6


@_FAST
@given(intents())
def test_leaves_that_share_spines_reach_each_other_in_two_hops(intent: Intent) -> None:
    """All leaves of a pod connect to the same spines: leaves of one rail or of all rails, by design."""
    fabric = laid_out(intent)
    spines: dict[str, frozenset[str]] = defaultdict(frozenset)
    for link in fabric.links:
        if link.kind == "leaf-spine":
            spines[link.a.key] |= {link.b.key}
    leaves = [switch for switch in fabric.switches if switch.role == "leaf"]
    for one in leaves:
        for other in leaves:
            assert not spines[one.key] & spines[other.key] or spines[one.key] == spines[other.key]
            same_rail = one.identity.rail == other.identity.rail and one.identity.subplane == other.identity.subplane
            two_tiers = not any(switch.role == "core" for switch in fabric.switches)
            if same_rail and two_tiers:
                assert spines[one.key] == spines[other.key]
            if intent.tree["planes"]["compute"]["design"] == "rail-only" and not same_rail:
                assert not spines[one.key] & spines[other.key]


@_FAST
@given(intents())
def test_subplanes_share_no_switch(intent: Intent) -> None:
    fabric = laid_out(intent)
    joined: dict[str, set[str]] = defaultdict(set)
    for link in fabric.links:
        if isinstance(link.a, Switch):
            joined[link.a.key].add(link.b.key)
            joined[link.b.key].add(link.a.key)
    several = {switch.identity.subplane for switch in fabric.switches if switch.role != "leaf"}
    for switch in fabric.switches:
        for far in fabric.switches if len(several) > 1 else ():
            if far.key in joined[switch.key]:
                assert far.identity.subplane == switch.identity.subplane


@_FAST
@given(intents(), st.integers(1, 40))
def test_more_hosts_change_no_link_of_the_others(intent: Intent, more: int) -> None:
    def wiring(fabric: Fabric) -> dict[str, tuple[object, ...]]:
        return {
            link.key: (link.a.key, link.a_port, link.b.key, link.b_port, link.block, link.slot, link.rail)
            for link in fabric.links
        }

    before = laid_out(intent)
    after, findings = expanded(intent.grown(more))
    assert findings == []
    assert wiring(before).items() <= wiring(after).items()
    assert {switch.key for switch in before.switches} <= {switch.key for switch in after.switches}


@_FAST
@given(intents())
def test_port_p_of_every_nic_leads_to_side_p(intent: Intent) -> None:
    """Where leaves have a subplane or side, it is the port of the NIC that is plugged into them."""
    for link in laid_out(intent).links:
        if link.nic is not None and link.b.identity.subplane is not None:
            assert link.b.identity.subplane == link.nic.port
        if link.nic is not None and link.b.identity.rail is not None:
            group = intent.tree["planes"]["compute"].get("rails_per_leaf", 1)
            assert link.nic.rail is not None and link.b.identity.rail == link.nic.rail // group * group


@_FAST
@given(intents())
def test_a_host_takes_ports_of_a_leaf_side_by_side(intent: Intent) -> None:
    """In the order of rails and NIC ports, beginning at its place in the unit."""
    taken: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
    unit = intent.tree["planes"]["compute"]["scalable_unit"]["hosts"]
    for link in laid_out(intent).links:
        if isinstance(link.a, Host) and link.nic is not None and link.nic.rail is not None:
            slot = [port.name for port in link.b.layout.fabric_ports].index(link.b_port)
            taken[link.a.key, link.b.key].append((link.nic.rail, link.nic.port, slot))
    for (host, _), plugs in taken.items():
        first = int(host.rpartition("/")[2]) % unit * len(plugs)
        assert [slot for _, _, slot in sorted(plugs)] == list(range(first, first + len(plugs)))


@_FAST
@given(intents())
def test_spine_i_of_every_pod_meets_in_core_group_i(intent: Intent) -> None:
    """Any two pods share all cores of a group, and groups share no core; the numbers of the cores give the group."""
    fabric = laid_out(intent)
    groups: dict[tuple[int | None, int], set[frozenset[int]]] = defaultdict(set)
    cores: dict[str, set[int]] = defaultdict(set)
    spines = {switch.key: switch.identity for switch in fabric.switches if switch.role == "spine"}
    for link in fabric.links:
        if link.kind == "spine-core":
            assert link.a.key in spines and spines[link.a.key].subplane == link.b.identity.subplane
            cores[link.a.key].add(link.b.identity.number)
    for key, met in cores.items():
        groups[spines[key].subplane, spines[key].number].add(frozenset(met))
    for (_, number), found in groups.items():
        (group,) = found
        assert group == set(range(number * len(group), (number + 1) * len(group)))


@_FAST
@given(intents())
def test_a_pod_is_the_leaves_of_adjacent_units(intent: Intent) -> None:
    """Unit u is in pod u / units of a pod; a pod of one rail has only leaves of that rail."""
    fabric = laid_out(intent)
    units: dict[int, set[int]] = defaultdict(set)
    for link in fabric.links:
        if link.kind == "leaf-spine" and isinstance(link.a, Switch) and link.b.identity.pod is not None:
            units[link.b.identity.pod].add(link.a.identity.su or 0)
            assert link.b.identity.rail in (None, link.a.identity.rail)
    in_order = [unit for pod in sorted(units) for unit in sorted(units[pod])]
    assert in_order == sorted(set(in_order))
    sizes = [len(units[pod]) for pod in sorted(units)]
    assert len(set(sizes[:-1])) <= 1 and all(size <= sizes[0] for size in sizes)
    asked = intent.tree["planes"]["compute"].get("pod", {}).get("units")
    assert asked is None or not sizes or sizes[0] <= asked
