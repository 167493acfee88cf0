"""Ways to spread traffic over equal next hops, and what they cost adapters that drop packets out of order."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.errors import UsageError
from fabricgen.results import PacketsResult
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.scenario import check_scenario, parse_scenario
from tests.simulate.packets.running import changed, finished, result, ring, star
from tests.simulate.packets.test_scenario_file import written

SPINES = 4


def fabric(hosts: int = 4, size: int = 1_000_000, **more: Any) -> dict[str, Any]:
    """Hosts a0.. on leaf a send to hosts b0.. on leaf b over spines, one link of the speed of a host to each."""
    spines = [f"s{number}" for number in range(SPINES)]
    sides = {leaf: [f"{leaf}{number}" for number in range(hosts)] for leaf in "ab"}
    every = [*sides["a"], *sides["b"]]
    links = [(host, leaf) for leaf, own in sides.items() for host in own]
    links += [(leaf, spine) for leaf in "ab" for spine in spines]
    routes = [(leaf, host, host) for leaf, own in sides.items() for host in own]
    routes += [("ab"[leaf == "a"], host, spine) for leaf, own in sides.items() for host in own for spine in spines]
    routes += [(spine, host, host[0]) for spine in spines for host in every]
    tree: dict[str, Any] = star(1)
    tree |= {
        "nodes": [{"name": name, "kind": "host"} for name in every]
        + [{"name": name, "kind": "switch"} for name in ("a", "b", *spines)],
        "links": [{"a": a, "b": b, "speed_gbps": 100, "delay_ns": 500} for a, b in links],
        "routes": [{"at": at, "to": to, "via": via} for at, to, via in routes],
        "flows": [{"src": a, "dst": b, "bytes": size, "start_ns": 0} for a, b in zip(*sides.values(), strict=True)],
    }
    return changed(tree, more)


def spread(mode: str, recovery: str = "go-back-n", seed: int = 1, **more: Any) -> PacketsResult:
    """The fabric with a way to spread and a recovery."""
    return result(fabric(transport={"recovery": recovery}, balance={"mode": mode, **more}), seed)


def mean_gbps(found: PacketsResult) -> float:
    """The mean rate of the flows' data."""
    times = [flow.fct_ns for flow in found.flows]
    assert all(times)
    return sum(flow.bytes * 8 / time for flow, time in zip(found.flows, times, strict=True) if time) / len(times)


def used_spines(mode: str, **more: Any) -> int:
    """The spines that a single flow crosses."""
    tree = fabric(hosts=1, balance={"mode": mode, **more}, transport={"recovery": "in-order-placement"})
    network = finished(tree).network
    data = {port for port, end in enumerate(network.ends) if end[0] == "a" and end[1][0] == "s"}
    return sum(int(network.run.queues["sent"][port].sum()) > 0 for port in data)


@pytest.mark.parametrize(("mode", "spines"), [("ecmp", 1), ("flowlet", 1), ("adaptive", SPINES), ("spray", SPINES)])
def test_packets_of_a_flow_keep_their_path_or_not(mode: str, spines: int) -> None:
    assert used_spines(mode) == spines


def test_a_gap_begins_a_flowlet() -> None:
    """At line rate there is no gap; a gap of 0 begins a flowlet with each packet."""
    assert used_spines("flowlet", flowlet_gap_ns=0) == SPINES
    assert used_spines("adaptive", per="flowlet") == 1
    assert used_spines("adaptive", per="flowlet", flowlet_gap_ns=0) == SPINES


def test_hashed_flows_collide_and_sprayed_ones_do_not() -> None:
    """Four flows over four spines: ECMP puts some on one spine in most draws; packets spread evenly."""
    hashed = [mean_gbps(spread("ecmp", seed=seed)) for seed in range(1, 9)]
    assert min(hashed) < 60
    for mode, more in (("spray", {"order": "round-robin"}), ("spray", {}), ("adaptive", {})):
        assert mean_gbps(spread(mode, "in-order-placement", **more)) > 85, mode


def test_per_packet_spreading_collapses_with_go_back_n() -> None:
    """No packet is lost, but each one that overtakes another looks like a loss: the sender repeats most packets."""
    kept, back = (spread("spray", recovery) for recovery in ("in-order-placement", "go-back-n"))
    assert kept.drops == back.drops == 0
    assert kept.retransmissions == 0
    packets = sum(flow.bytes for flow in back.flows) / 1000
    assert back.retransmissions > packets
    assert mean_gbps(back) < 0.4 * mean_gbps(kept)


def test_a_packet_that_overtakes_again_is_repeated_by_the_timer() -> None:
    """The receiver sends one NAK for a missing packet. If a packet overtakes it again, none is in flight."""
    for seed in range(1, 9):
        back = result(fabric(size=7_000, balance={"mode": "spray"}), seed)
        assert all(flow.fct_ns for flow in back.flows)


def test_selective_repeat_sends_packets_again_that_are_not_lost() -> None:
    """A packet that is overtaken is repeated once: far less than with go-back-N, but not nothing."""
    selective, back = spread("spray", "selective-repeat"), spread("spray")
    assert selective.drops == 0
    assert 0 < selective.retransmissions < 0.5 * back.retransmissions
    assert mean_gbps(back) < mean_gbps(selective) < mean_gbps(spread("spray", "in-order-placement"))


def test_a_flow_has_the_weaker_recovery_of_its_hosts() -> None:
    tree = fabric(balance={"mode": "spray"}, transport={"recovery": "in-order-placement"})
    tree["nodes"][4]["recovery"] = "go-back-n"
    assert tree["nodes"][4]["name"] == tree["flows"][0]["dst"]
    slow, *others = (flow.fct_ns or 0 for flow in result(tree).flows)
    assert slow > 1.8 * max(others)


@pytest.mark.parametrize("recovery", ["selective-repeat", "in-order-placement"])
def test_only_lost_packets_are_repeated(recovery: str) -> None:
    """A lossy incast: the repeated packets are those that were dropped; go-back-N repeats many more."""
    lossy = {
        "classes": [{"priority": 3, "lossless": False}], "switch_defaults": {"buffer_bytes": 200_000, "alpha": 1},
    }  # fmt: skip
    given: dict[str, Any] = {"transport": {"ack_lossless": True, "recovery": recovery}}
    kept = result(star(4, 400_000, **lossy, **given))
    back = result(star(4, 400_000, **lossy, transport={"ack_lossless": True}))
    assert all(flow.fct_ns for flow in (*kept.flows, *back.flows))
    assert kept.drops and kept.retransmissions <= 1.2 * kept.drops
    assert back.retransmissions > 1.4 * back.drops > 2 * kept.drops


def test_a_window_limits_what_is_in_flight() -> None:
    """64 packets of 1,048 B for each round trip of 20 us are 27 Gb/s."""
    tree = star(1, 4_000_000, transport={"recovery": "selective-repeat", "window_packets": 64})
    for link in tree["links"]:
        link["delay_ns"] = 5000
    (flow,) = result(tree).flows
    assert flow.fct_ns
    assert 22 < flow.bytes * 8 / flow.fct_ns < 27


@pytest.mark.parametrize("order", ["random", "round-robin"])
def test_weights_divide_packets(order: str) -> None:
    tree = fabric(hosts=1, balance={"mode": "spray", "order": order}, transport={"recovery": "in-order-placement"})
    for route in tree["routes"]:
        if route["at"] == "a" and route["via"][0] == "s":
            route["weight"] = 1 + int(route["via"][1])
    network = finished(tree).network
    sent = [int(network.run.queues["sent"][network.ends.index(("a", f"s{spine}"))].sum()) for spine in range(SPINES)]
    tolerance = 3 if order == "round-robin" else 120
    assert sent == pytest.approx([100, 200, 300, 400], abs=tolerance)


def test_adaptive_routing_avoids_a_dead_link_and_spraying_does_not() -> None:
    """Before routes change, a switch that looks at its ports loses nothing of what it has not queued yet."""
    fails = {"failures": [{"a": "a", "b": "s1", "at_ns": 20_000}]}
    found = {
        mode: result(fabric(balance={"mode": mode}, transport={"recovery": "in-order-placement"}, **fails))
        for mode in ("adaptive", "spray")
    }
    assert all(flow.fct_ns for one in found.values() for flow in one.flows)
    lost = {
        mode: sum(one.drops for one in its.lost if one.port == ("a", "s1") and one.priority == 3)
        for mode, its in found.items()
    }
    assert lost["adaptive"] < 30 < 100 < lost["spray"]


def test_routes_change_after_a_while() -> None:
    """Packets to the dead link are lost until then."""
    around = [
        {"at": at, "to": f"{far}{host}", "via": f"s{spine}"}
        for at, far in ("ab", "ba")
        for host in range(4)
        for spine in (0, 2, 3)
    ]
    drops = []
    for later in (20_000, 40_000, 60_000):
        failure = {"a": "a", "b": "s1", "at_ns": 20_000, "routes": around, "routes_at_ns": later}
        tree = fabric(balance={"mode": "spray"}, transport={"recovery": "in-order-placement"}, failures=[failure])
        found = result(tree)
        assert all(flow.fct_ns for flow in found.flows)
        drops.append(found.drops)
    assert drops[0] < drops[1] / 3 < drops[2] / 3


def test_flows_of_both_simulators_take_the_same_path() -> None:
    """The fluid model of a scenario hashes as the packets do."""
    scenario = parse_scenario(fabric(hosts=4))
    _, flows = from_scenario(scenario, seed=5)
    network = finished(fabric(hosts=4), 5).network
    used = {port for port in flows.path.ravel().tolist() if port >= 0}
    crossed = network.run.queues["sent"].sum(axis=1)
    uplinks = [port for port, end in enumerate(network.ends) if end[0] == "a" and end[1][0] == "s"]
    assert [port for port in uplinks if crossed[port] > 50] == [port for port in uplinks if port in used]
    sprayed = parse_scenario(fabric(balance={"mode": "spray"}))
    with pytest.raises(UsageError, match="several paths with the load balancing spray"):
        from_scenario(sprayed)


def test_mistakes(tmp_path: Path) -> None:
    """Routes that return, and what compat hpcc and credits do not have."""
    tree = fabric(balance={"mode": "sometimes"})
    assert [one.path for one in check_scenario(written(tmp_path, tree))] == ["balance.mode"]
    tree = fabric(compat="hpcc", balance={"mode": "spray"}, transport={"recovery": "selective-repeat"})
    tree["nodes"][-1]["recovery"] = "go-back-n"
    paths = {one.path for one in check_scenario(written(tmp_path, tree))}
    assert {"balance.mode", "transport.recovery", "nodes[13].recovery", "routes[8]"} <= paths
    assert "routes[0]" not in paths
    tree = ring()
    tree["routes"].append({"at": "s2", "to": "h1", "via": "s1"})
    with pytest.raises(UsageError, match="a route to h1 returns to s1"):
        result(tree)
