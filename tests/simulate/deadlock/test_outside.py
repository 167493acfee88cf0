"""A default route from outside: where it makes a leaf transit, and that discard routes prevent it."""

from pathlib import Path

import pytest

from fabricgen.bundle.read import Bundle
from fabricgen.routing import bits
from fabricgen.routing.bgp import solve
from fabricgen.routing.fabric import read_fabric
from fabricgen.routing.fallback import forwarding
from fabricgen.simulate.deadlock import PlaneDeadlock, analyse_deadlock, deadlock_findings
from fabricgen.simulate.deadlock.core.dependencies import carried
from fabricgen.simulate.plane.hosts import host_traffic
from tests.bgp_fabric import ConfigDbs, Fabric, add_discards, add_ways_out, open_configs

LEAVES, BORDERS, SPINES = ["l0", "l1", "l2", "l3"], ["b0", "b1", "b2"], ["s0", "s1"]
DOWN = [("l0", "s0"), ("l2", "s1")]  # l0 and l2 have no common live spine
DISCARD = "10.0.0.0/8"


def configs(down: list[tuple[str, str]]) -> ConfigDbs:
    """RFC 7938 ASNs, seven leaves on two spines, three of them with a way out."""
    low = [*LEAVES, *BORDERS]
    asn = {**{name: 65100 + n for n, name in enumerate(low)}, **dict.fromkeys(SPINES, 65000)}
    links = [(leaf, spine) for leaf in low for spine in SPINES if (leaf, spine) not in down]
    found = Fabric(asn, links, {f"10.0.{n}.0/24": name for n, name in enumerate(low)}).configs()
    add_ways_out(found, BORDERS)
    return found


def transit(bundle: Bundle) -> dict[str, set[str]]:
    """Border leaf -> the host prefixes that it sends up although none of its hosts announced them."""
    fabric = read_fabric(bundle, list(bundle.devices))
    traffic = host_traffic(bundle, fabric)
    routes = solve(fabric.network, fabric.policy, tuple(fabric.destinations[column] for column in traffic.columns))
    hops = forwarding(fabric.network, routes, fabric.discards)
    flow = carried(fabric.network, hops, traffic.sources)
    found: dict[str, set[str]] = {}
    for place, link in enumerate(fabric.network.incoming):
        border = fabric.names[fabric.network.target[link]]
        if border in BORDERS:
            out = hops[fabric.network.source == fabric.network.target[link]]
            for column in bits.columns_of(flow[place]):
                if (out[:, column >> 6] >> (column & 63) & 1).any():
                    found.setdefault(border, set()).add(traffic.witness[column])
    return found


def analyse(bundle: Bundle) -> PlaneDeadlock:
    (result,) = analyse_deadlock(bundle)
    return result


def test_without_failures_nothing_follows_the_default_route_and_returns(tmp_path: Path) -> None:
    bundle = open_configs(configs([]), tmp_path)
    assert transit(bundle) == {}
    result = analyse(bundle)
    assert (result.verdict, deadlock_findings(bundle, [result])) == ("free", [])
    fabric = result.evidence.fabric
    assert fabric.next_hops()["l1"]["0.0.0.0/0"] == SPINES
    assert fabric.next_hops()["s0"]["0.0.0.0/0"] == BORDERS
    assert "0.0.0.0/0" not in fabric.next_hops()["b1"], "a border leaf leaves by its own port"
    assert fabric.announced["b1", "0.0.0.0/0"] == ("BGP_NEIGHBOR", "192.0.2.3")


def test_two_failed_links_make_border_leaves_transit_and_close_a_cycle(tmp_path: Path) -> None:
    bundle = open_configs(configs(DOWN), tmp_path)
    lost = {"10.0.0.0/24", "10.0.2.0/24"}
    assert transit(bundle) == dict.fromkeys(BORDERS, lost)
    result = analyse(bundle)
    assert result.verdict == "cyclic"
    assert {switch[0] for switch, _ in result.cycles[0].hops} == {"b", "s"}


def test_discard_routes_keep_it_free(tmp_path: Path) -> None:
    with_discards = configs(DOWN)
    add_discards(with_discards, DISCARD)
    bundle = open_configs(with_discards, tmp_path)
    assert transit(bundle) == {}
    assert analyse(bundle).verdict == "free"


def test_a_discard_route_as_short_as_the_default_route_keeps_nothing(tmp_path: Path) -> None:
    with_discards = configs(DOWN)
    add_discards(with_discards, "0.0.0.0/0")
    assert set(transit(open_configs(with_discards, tmp_path))) == set(BORDERS)


def test_every_switch_on_the_way_must_have_it(tmp_path: Path) -> None:
    partly = configs(DOWN)
    add_discards(partly, DISCARD)
    del partly["l0"]["STATIC_ROUTE"], partly["s1"]["STATIC_ROUTE"]
    assert transit(open_configs(partly, tmp_path)) == {name: {"10.0.2.0/24"} for name in BORDERS}


@pytest.mark.parametrize(("neighbor", "verdict"), [("up", "cyclic"), ("down", "free")])
def test_only_a_session_that_comes_up_brings_a_default_route(neighbor: str, verdict: str, tmp_path: Path) -> None:
    with_status = configs(DOWN)
    for name in BORDERS:
        for row in with_status[name]["BGP_NEIGHBOR"].values():
            if row["name"] == "wan":
                row["admin_status"] = neighbor
    assert analyse(open_configs(with_status, tmp_path)).verdict == verdict


def test_a_static_default_route_counts_as_well(tmp_path: Path) -> None:
    found = configs(DOWN)
    for number, name in enumerate(BORDERS):
        found[name]["BGP_NEIGHBOR"].pop(f"192.0.2.{2 * number + 1}")
        hop = {"nexthop": f"192.0.2.{2 * number + 1}", "ifname": "Ethernet400", "advertise": "true"}
        found[name]["STATIC_ROUTE"] = {"default|0.0.0.0/0": hop}
    assert analyse(open_configs(found, tmp_path)).verdict == "cyclic"
