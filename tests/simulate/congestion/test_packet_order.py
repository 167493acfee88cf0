"""Flows of a few packets: their times are those of packets, one by one, and a pause leaves them to the fluid."""

import random
from typing import Any

import numpy as np
import pytest

from benchmarks.packets import permutation
from fabricgen.simulate.congestion.packet_order import FEW, MOST_HOPS, ordered_times
from fabricgen.simulate.congestion.stage import is_victim
from fabricgen.simulate.congestion.verdict import judge
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.scenario import parse_scenario
from tests.simulate.packets.reference.network import Network

Tree = dict[str, Any]


def short_flows(seed: int, flows: int, most_packets: int = FEW, buffer_bytes: int = 64 << 20) -> Tree:
    """Messages of up to some packets between random hosts of two tiers; some start later."""
    draw = random.Random(seed)
    tree = permutation(4, 4, draw.choice([2, 4]), 1, 0)
    del tree["compat"]
    hosts = [node["name"] for node in tree["nodes"] if node["kind"] == "host"]
    pairs = [draw.sample(hosts, 2) for _ in range(flows)]
    tree["flows"] = [
        {"src": src, "dst": dst, "bytes": 1000 * draw.randint(1, most_packets),
         "start_ns": draw.choice([0, 0, draw.randint(0, 2000)])}
        for src, dst in pairs
    ]  # fmt: skip
    tree["transport"]["ack_lossless"] = draw.random() < 0.5
    tree["switch_defaults"]["buffer_bytes"] = buffer_bytes
    return tree


@pytest.mark.parametrize(("seed", "flows"), [(2, 16), (4, 40), (7, 16), (8, 40), (11, 80)])
def test_times_are_those_of_packets(seed: int, flows: int) -> None:
    tree = short_flows(seed, flows)
    run = Network(tree).run()
    assert not run.pauses
    of_packets = np.array(run.times_ns, float)
    ports, made = from_scenario(parse_scenario(tree))
    found = ordered_times(ports, made)
    assert found is not None
    assert np.array_equal(np.floor(found.time_ns + 1e-6), of_packets)
    assert (found.delivered_ns <= found.time_ns + 1e-6).all()
    verdict = judge(ports, made, finite=True)
    assert np.array_equal(verdict.victims, is_victim(found.time_ns / verdict.ideal_ns))
    assert not verdict.undecided
    assert not verdict.unexplained


def test_pauses_leave_the_times_to_the_fluid() -> None:
    tree = short_flows(4, 400, buffer_bytes=500_000)
    assert Network(tree).run().pauses
    assert ordered_times(*from_scenario(parse_scenario(tree))) is None


def test_longer_flows_are_a_fluid() -> None:
    assert ordered_times(*from_scenario(parse_scenario(short_flows(4, 2, 1 << 10)))) is None
    hops_of_a_flow = 2 * 4 * 16
    many = short_flows(4, 1)
    many["flows"] = [{"src": "h0", "dst": "h15", "bytes": 16_000, "start_ns": 0}] * (MOST_HOPS // hops_of_a_flow + 1)
    assert ordered_times(*from_scenario(parse_scenario(many))) is None
