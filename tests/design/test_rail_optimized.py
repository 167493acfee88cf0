"""Laws of the rail-optimized layout, over random legal intents."""

from collections import defaultdict
from functools import cache
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import assume, given, settings

from fabricgen.design.clos import ClosIntent, DoesNotFitError, plan_clos, uplinks_for
from fabricgen.design.expand import expand
from fabricgen.design.model import Fabric, Host
from fabricgen.inventory.load import build_inventory
from fabricgen.inventory.read_yaml import read_yaml
from fabricgen.platforms.catalog import switch_platform
from tests.examples import examples
from tests.inventories import ARISTA, GENERIC, Tree, rail_optimized

_FAST = settings(max_examples=examples(50), deadline=None)


def laid_out(tree: Tree) -> Fabric:
    from json import dumps

    tree = {key: value for key, value in tree.items() if key != "management"}
    findings: list = []
    inventory = build_inventory(read_yaml(dumps(tree), "fabric.yaml")[0], findings)
    fabric, found = expand(inventory, Path())
    assert [*findings, *found] == []
    return fabric


@cache
def radix(platform: str) -> int:
    model = switch_platform(platform)
    assert model
    return len(model.layouts[0].fabric_ports)


@st.composite
def intents(draw: st.DrawFn) -> tuple[Tree, int, int]:
    """A legal tree, its hosts and the hosts of a unit; three tiers where two do not do."""
    platform = draw(st.sampled_from([GENERIC, ARISTA]))
    unit = draw(st.integers(1, 8))
    planned = draw(st.integers(1, 20))
    ratio = draw(st.sampled_from([1, 1.5, 2, 4, 0.5]))
    hosts = draw(st.integers(1, unit * min(planned, 12)))
    rails, ports = 8, radix(platform)
    uplinks = uplinks_for(unit, 400_000, 400_000, ratio)
    assume(unit + uplinks <= ports)
    intent = ClosIntent(rails, planned, uplinks, ports, ports)
    try:
        plan_clos(intent)
    except DoesNotFitError:
        assume(False)
    core = {"core": {"platform": platform}} if planned * rails > ports else {}
    return rail_optimized(hosts, unit, planned, platform, oversubscription=ratio, **core), hosts, unit


@_FAST
@given(intents())
def test_nic_r_of_every_host_of_a_unit_goes_to_leaf_r(drawn: tuple[Tree, int, int]) -> None:
    tree, hosts, unit = drawn
    fabric = laid_out(tree)
    host_links = [link for link in fabric.links if isinstance(link.a, Host)]
    assert len(host_links) == hosts * 8
    for link in host_links:
        assert isinstance(link.a, Host) and link.nic
        identity = link.b.identity
        assert (identity.role, identity.su, identity.rail) == ("leaf", link.a.number // unit, link.nic.rail)
        assert link.b_port == link.b.layout.fabric_ports[link.a.number % unit].name


@_FAST
@given(intents())
def test_the_leaves_of_a_rail_reach_each_other_in_two_hops(drawn: tuple[Tree, int, int]) -> None:
    """Within a pod; all of a two-tier fabric is one."""
    fabric = laid_out(drawn[0])
    spines: dict[str, set[str]] = defaultdict(set)
    for link in fabric.links:
        if link.kind == "leaf-spine":
            spines[link.a.key].add(link.b.key)
    per_pod = max(1, radix(fabric.switches[0].platform.name) // 2)
    three_tiers = any(switch.role == "core" for switch in fabric.switches)
    for one in fabric.switches:
        for other in fabric.switches:
            if one.role == other.role == "leaf" and one.identity.rail == other.identity.rail:
                assert one.identity.su is not None and other.identity.su is not None
                if not three_tiers or one.identity.su // per_pod == other.identity.su // per_pod:
                    assert spines[one.key] & spines[other.key]


def test_groups_follow_each_other_each_from_a_unit_of_its_own() -> None:
    tree = rail_optimized(5, 4, 4)
    tree["hosts"]["new"] = {"model": "dgx-h200", "count": 2}
    tree["planes"]["compute"]["hosts"] = ["gpu", "new"]
    fabric = laid_out(tree)
    units = {(link.a.key, link.b.identity.su) for link in fabric.links if isinstance(link.a, Host)}
    assert {("gpu/3", 0), ("gpu/4", 1), ("new/0", 2), ("new/1", 2)} <= units


def test_a_leaf_has_the_same_ports_of_every_spine() -> None:
    """The place of a leaf in the planned layout decides: unit 1, rail 2 is the tenth leaf, two links to each spine."""
    fabric = laid_out(rail_optimized(8, 4, 3, GENERIC, spine={"platform": GENERIC, "count": 2}))
    found = {
        (link.b.identity.number, link.a_port, link.b_port)
        for link in fabric.links
        if link.a.key == "compute/su1/rail2/leaf0"
    }
    ports = [port.name for port in fabric.switches[0].layout.fabric_ports]
    assert found == {
        (0, ports[60], ports[20]), (0, ports[61], ports[21]), (1, ports[62], ports[20]), (1, ports[63], ports[21]),
    }  # fmt: skip
