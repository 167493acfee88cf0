"""Max-min rates, ECMP loads, dense demand and collisions compared with slower computations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.congestion_scale import synthetic_plane
from fabricgen.simulate.congestion import steady
from fabricgen.simulate.congestion.collisions import (
    drawn_fullest,
    expected_fullest,
    expected_used,
    fullest_link,
)
from fabricgen.simulate.congestion.dense import dense_flows, dense_rates, leaf_demand
from fabricgen.simulate.congestion.stage import affected_flows
from fabricgen.simulate.congestion.steady import compiled_window, window_loops
from fabricgen.simulate.congestion.verdict import judge
from fabricgen.simulate.max_min import max_min_rates, max_min_times_ns
from fabricgen.simulate.patterns import Everyone
from fabricgen.simulate.plane.crossings import crossings
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.ports import NO_PORT, Flows, Ports
from fabricgen.simulate.plane.spreading import split_loads
from tests.examples import examples


def ports_of(rates: list[float]) -> Ports:
    size = len(rates)
    return Ports(
        np.array(rates), np.zeros(size), np.full(size, -1), np.zeros(size, bool), np.ones(size), np.zeros(size),
        np.zeros(1), lambda port: ("p", str(port)), lambda port: ("q", str(port)),
    )  # fmt: skip


def flows_of(paths: list[list[int]], sizes: list[float] | None = None) -> Flows:
    width = max(map(len, paths))
    table = np.array([path + [NO_PORT] * (width - len(path)) for path in paths], np.int32)
    count = len(paths)
    return Flows(
        table[:, 0].astype(np.int64), np.arange(count), np.array(sizes or [1e6] * count), np.zeros(count), table
    )


def filled_one_by_one(rates: list[float], paths: list[list[int]]) -> list[float]:
    left, found = dict(enumerate(rates)), [0.0] * len(paths)
    waiting = set(range(len(paths)))
    while waiting:
        share = {p: left[p] / n for p in left if (n := sum(p in paths[f] for f in waiting))}
        bottleneck = min(share, key=lambda p: share[p])
        for flow in [f for f in waiting if bottleneck in paths[f]]:
            found[flow] = share[bottleneck]
            waiting.remove(flow)
            for port in paths[flow]:
                left[port] -= share[bottleneck]
    return found


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_filling_many_bottlenecks_at_a_time_is_progressive_filling(data: st.DataObject) -> None:
    rates = data.draw(st.lists(st.sampled_from([1.0, 2.0, 5.0, 7.5]), min_size=3, max_size=8))
    path = st.lists(st.integers(0, len(rates) - 1), min_size=1, max_size=4, unique=True)
    paths = data.draw(st.lists(path, min_size=1, max_size=12))
    found = max_min_rates(ports_of(rates), flows_of(paths))
    assert found == pytest.approx(filled_one_by_one(rates, paths))


def test_finite_flows_speed_up_when_others_end() -> None:
    """Two flows share a port; the shorter one ends at 2 s/C, then the longer has all of it."""
    times = max_min_times_ns(ports_of([10.0, 10.0, 10.0]), flows_of([[0, 2], [1, 2]], [100.0, 300.0]))
    assert times == pytest.approx([20.0, 40.0])


def test_loads_are_those_of_all_paths() -> None:
    plane = synthetic_plane(2, 2, 3, 2, 2)
    demand = np.zeros((plane.network.switches, plane.columns), np.float32)
    demand[0, 1], demand[0, 3], demand[2, 0] = 6.0, 12.0, 3.0
    expected = np.zeros(plane.network.links)

    def send(at: int, goal: int, amount: float) -> None:
        links = range(*plane.network.offsets[at : at + 2])
        onward = [link for link in links if int(plane.hops[link, 0]) >> goal & 1]
        for link in onward:
            expected[link] += amount / len(onward)
            send(int(plane.network.target[link]), goal, amount / len(onward))

    for switch, column in product(range(plane.network.switches), range(plane.columns)):
        if demand[switch, column]:
            send(switch, column, float(demand[switch, column]))
    assert split_loads(plane.network, plane.hops, demand) == pytest.approx(expected)


def test_all_to_all_of_a_tree_moves_at_one_rate() -> None:
    """2:1 above the leaves and again above the spines: under PFC flows below a leaf are as slow as those through
    the core; under ideal sharing they are faster."""
    plane = synthetic_plane(4, 4, 2, 2, 4)
    everyone = Everyone((np.arange(len(plane.adapters)),), 1e5)
    demand = leaf_demand(plane, everyone)
    rates = dense_rates(plane, demand)
    assert rates.load.max() == pytest.approx(4 * 48 / 63, rel=1e-4)
    assert rates.paused[demand.rate > 0] == pytest.approx(63 / 48 / 4, rel=1e-3)
    flows = dense_flows(plane, demand, rates, everyone.bytes_each)
    assert sum(flow.count for flow in flows) == 64 * 63
    assert {flow.count: flow.victim for flow in flows} == {192: True, 768: True, 3072: False}
    assert flows[0].label == "off-path"


def test_a_non_blocking_tree_has_room_for_all_to_all() -> None:
    plane = synthetic_plane(2, 4, 4, 4, 4)
    demand = leaf_demand(plane, Everyone((np.arange(len(plane.adapters)),), 1e5))
    rates = dense_rates(plane, demand)
    assert rates.load.max() <= 1
    assert rates.paused.max() == pytest.approx(1.0)


@pytest.mark.parametrize(("flows", "links"), [(1, 1), (4, 4), (32, 32), (64, 32), (40, 64)])
def test_collisions_are_exact(flows: int, links: int) -> None:
    chance = fullest_link(flows, links)
    assert chance.sum() == pytest.approx(1.0)
    drawn = drawn_fullest(flows, links, 10_000, 7)
    assert expected_fullest(flows, links) == pytest.approx(float(drawn.mean()), rel=0.01)
    more = drawn_fullest(flows, links, 4_000, 8).reshape(1000, 4).max(axis=1)
    assert expected_fullest(flows, links, groups=4) == pytest.approx(float(more.mean()), rel=0.02)


def test_collisions_by_hand() -> None:
    assert expected_fullest(2, 2) == pytest.approx(1.5)
    assert fullest_link(3, 2).tolist() == pytest.approx([0, 0, 3 / 4, 1 / 4])
    assert expected_used(2, 2) == pytest.approx(1.5)


@pytest.mark.parametrize("machine_code", [False, True])
def test_loops_for_numba_equal_arrays(machine_code: bool) -> None:
    plane = synthetic_plane(2, 4, 8, 8, 8)
    count = len(plane.adapters)
    order = np.random.default_rng(3).permutation(count)
    flows = hashed_flows(plane, order, np.roll(order, -1), np.full(count, 1e6), np.zeros(count), 1).flows
    loops = compiled_window() if machine_code else window_loops
    assert loops
    relaxed = steady._Relaxation(plane.ports, crossings(flows))
    size = relaxed.crossed.size + 1
    ours, theirs = (np.zeros((2, size), np.float32) for _ in range(2))
    for _ in range(3):
        one = relaxed._sums(ours[0], ours[1])
        other = relaxed._loop(loops, theirs[0], theirs[1])
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)


def test_a_ring_along_the_leaves_affects_no_flow_and_a_shuffled_one_does() -> None:
    plane = synthetic_plane(2, 4, 4, 4, 4)
    count = len(plane.adapters)
    ring = np.arange(count)
    one, zero = np.full(count, 1e6), np.zeros(count)
    calm = hashed_flows(plane, ring, np.roll(ring, -1), one, zero, 0)
    assert calm.arrived.all()
    assert not affected_flows(plane.ports, calm.flows).any()
    assert judge(plane.ports, calm.flows, finite=True).model == "idle"
    order = np.random.default_rng(1).permutation(count)
    shuffled = hashed_flows(plane, order, np.roll(order, -1), one, zero, 0).flows
    verdict = judge(plane.ports, shuffled, finite=False)
    assert verdict.victims.any()
    assert verdict.roots > 0
    assert (verdict.ideal_ns >= 1e6 / 50 - 1).all()
