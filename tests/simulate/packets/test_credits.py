"""Runs with credits, the flow control of InfiniBand: equal to arithmetic, no packet lost, frozen on cycles only."""

import json
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from fabricgen.simulate.packets.flows import path_sums
from fabricgen.simulate.packets.records import NONE
from fabricgen.simulate.scenario import parse_scenario
from tests.conftest import Cli
from tests.simulate.packets.running import Finished, run, simulate_scenario

FULL = 4096 + 26  # bytes of a full packet
BLOCKS = 65 * 64  # bytes of its credits
T = Fraction(FULL, 50)  # ns of a full packet at 400G
A = Fraction(30, 50)  # ns of an ACK
D = 100  # ns of a cable
ROOMY = 1 << 20

Tree = dict[str, Any]


def cable(a: str, b: str, gbps: int = 400, delay_ns: int = D) -> Tree:
    return {"a": a, "b": b, "speed_gbps": gbps, "delay_ns": delay_ns}


def flow(src: str, dst: str, packets: int, **own: Any) -> Tree:
    return {"src": src, "dst": dst, "bytes": 4096 * packets, **own}


def scenario(
    links: Sequence[Tree], flows: Sequence[Tree], buffer_bytes: int = ROOMY, return_ns: int = 0, **own: Any
) -> Tree:
    """Nodes with a name that begins with h are hosts. Routes are shortest paths, the first of several by the name."""
    names = sorted({link[end] for link in links for end in "ab"})
    near: dict[str, list[str]] = {name: [] for name in names}
    for link in links:
        near[link["a"]].append(link["b"])
        near[link["b"]].append(link["a"])
    routes = []
    for host in (name for name in names if name[0] == "h"):
        next_of, todo = {host: ""}, [host]
        while todo:
            at = todo.pop(0)
            for other in sorted(near[at]):
                if other not in next_of and (other[0] != "h"):
                    next_of[other] = at
                    todo.append(other)
        routes += [{"at": at, "to": host, "via": via} for at, via in next_of.items() if via]
    return {
        "format": "fabricgen-scenario/1", "name": "credits",
        "nodes": [{"name": name, "kind": "host" if name[0] == "h" else "switch"} for name in names],
        "transport": {
            "payload_bytes": 4096, "header_bytes": 26, "ack_bytes": 30, "pfc_frame_bytes": 30, "ack_lossless": True,
            "congestion_control": "none",
        },
        "credits": {"buffer_bytes": buffer_bytes, "return_ns": return_ns},
        "links": list(links), "flows": list(flows), "routes": routes, "stop_ns": 1_000_000_000, **own,
    }  # fmt: skip


def times_ns(tree: Tree) -> list[int | None]:
    result = simulate_scenario(parse_scenario(tree))
    assert not result.drops
    return [one.fct_ns for one in result.flows]


ONE = [cable("h0", "s0"), cable("h1", "s0")]
TWO = [cable("h0", "s0"), cable("s0", "s1"), cable("h1", "s1")]
INCAST = [*ONE, cable("h2", "s0")]
ACK_BACK = 2 * A + 2 * D  # over one switch
ROUND = 2 * T + 2 * D  # of a packet through a buffer, and of its credits
SLOW = [
    {"name": "h0", "kind": "host"},
    {"name": "h1", "kind": "host", "drain_gbps": 200},
    {"name": "s0", "kind": "switch"},
]
STRICT = [{"priority": 1, "scheduler": "strict"}, {"priority": 2}]

CASES: dict[str, tuple[Tree, list[Fraction | int]]] = {
    "a packet crosses a switch": (scenario(ONE, [flow("h0", "h1", 1)]), [2 * T + 2 * D + ACK_BACK]),
    "packets follow at line rate": (scenario(ONE, [flow("h0", "h1", 10)]), [11 * T + 2 * D + ACK_BACK]),
    "two switches": (scenario(TWO, [flow("h0", "h1", 10)]), [12 * T + 3 * D + 3 * A + 3 * D]),
    "a buffer of one packet": (
        scenario(ONE, [flow("h0", "h1", 7)], BLOCKS),
        [6 * ROUND + 2 * T + 2 * D + ACK_BACK],
    ),
    "63 bytes more are not a credit": (
        scenario(ONE, [flow("h0", "h1", 7)], 2 * BLOCKS - 1),
        [6 * ROUND + 2 * T + 2 * D + ACK_BACK],
    ),
    "a buffer of two packets": (
        scenario(ONE, [flow("h0", "h1", 8)], 2 * BLOCKS),
        [3 * ROUND + T + 2 * T + 2 * D + ACK_BACK],
    ),
    "credits are sent later": (
        scenario(ONE, [flow("h0", "h1", 7)], BLOCKS, 50),
        [6 * (ROUND + 50) + 2 * T + 2 * D + ACK_BACK],
    ),
    "a slow receiver": (
        scenario(ONE, [flow("h0", "h1", 6)], BLOCKS, nodes=SLOW),
        [2 * T + 2 * D + 5 * (T + D + 2 * T + D) + ACK_BACK],
    ),
    "a slower link": (
        scenario([cable("h0", "s0"), cable("h1", "s0", 200)], [flow("h0", "h1", 10)]),
        [T + D + 10 * 2 * T + D + 2 * A + D + A + D],
    ),
    "two senders share a port in turn": (
        scenario(INCAST, [flow("h0", "h1", 5), flow("h2", "h1", 5)]),
        [T + D + 9 * T + D + ACK_BACK, T + D + 10 * T + D + ACK_BACK],
    ),
    "a strict lane overtakes": (
        scenario(
            INCAST, [flow("h0", "h1", 5, priority=1), flow("h2", "h1", 5, priority=2)], classes=STRICT
        ),
        [T + D + 5 * T + D + ACK_BACK, T + D + 10 * T + D + ACK_BACK],
    ),
    "a long cable needs a larger buffer": (
        scenario([cable("h0", "s0", 400, 1000), cable("h1", "s0")], [flow("h0", "h1", 9)], 3 * BLOCKS),
        [2 * (2 * T + 2000) + 2 * T + T + 1000 + T + D + 2 * A + 1000 + D],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_equals_arithmetic(case: str) -> None:
    tree, expected = CASES[case]
    assert times_ns(tree) == [floor(one) for one in expected]


def test_a_blocked_lane_does_not_stop_another() -> None:
    ring = [cable(f"h{n}", f"s{n}") for n in range(4)] + [cable(f"s{n}", f"s{(n + 1) % 4}") for n in range(4)]
    flows = [flow(f"h{n}", f"h{(n + 2) % 4}", 50, priority=1) for n in range(4)]
    tree = around(scenario(ring, [*flows, flow("h0", "h1", 20, priority=2)], 2 * BLOCKS), 4)
    *stuck, free = times_ns(tree)
    assert stuck == [None] * 4 and free


def around(tree: Tree, switches: int) -> Tree:
    """The scenario with all routes between switches upwards, so that flows go around the ring."""
    routes = [
        route | {"via": f"s{(int(route['at'][1:]) + 1) % switches}"} if route["via"][0] == "s" else route
        for route in tree["routes"]
    ]
    return tree | {"routes": routes}


@pytest.mark.parametrize("switches", [3, 4, 5, 6])
def test_a_cycle_freezes(switches: int) -> None:
    links = [cable(f"h{n}", f"s{n}") for n in range(switches)]
    links += [cable(f"s{n}", f"s{(n + 1) % switches}") for n in range(switches)]
    flows = [flow(f"h{n}", f"h{(n + 2) % switches}", 100) for n in range(switches)]
    result = simulate_scenario(parse_scenario(around(scenario(links, flows, 4 * BLOCKS), switches)))
    assert result.freeze and len(result.freeze.cycle) == switches and not result.drops
    line = [link for link in links if (link["a"], link["b"]) != (f"s{switches - 1}", "s0")]
    assert None not in times_ns(scenario(line, flows, 4 * BLOCKS))


def random_tree(seed: int) -> Tree:
    draw = Random(seed)
    switches = draw.randint(1, 4)
    links = [
        cable(f"s{n}", f"s{draw.randrange(n)}", draw.choice([200, 400]), draw.randint(1, 500))
        for n in range(1, switches)
    ]
    hosts = draw.randint(2, 5)
    links += [
        cable(f"h{n}", f"s{draw.randrange(switches)}", draw.choice([200, 400]), draw.randint(1, 300))
        for n in range(hosts)
    ]
    flows = []
    for _ in range(draw.randint(1, 6)):
        src, dst = draw.sample(range(hosts), 2)
        own = {"start_ns": draw.randint(0, 2000), "priority": draw.choice([1, 1, 2])}
        flows.append({"src": f"h{src}", "dst": f"h{dst}", "bytes": draw.randint(1, 40_000), **own})
    return scenario(links, flows, draw.randint(BLOCKS, 6 * BLOCKS), draw.choice([0, 0, 90]))


def random_ring(seed: int) -> Tree:
    draw = Random(seed)
    switches = draw.randint(3, 5)
    links = [cable(f"h{n}", f"s{n}") for n in range(switches)]
    links += [cable(f"s{n}", f"s{(n + 1) % switches}") for n in range(switches)]
    flows = [
        flow(f"h{n}", f"h{(n + draw.randint(1, switches - 1)) % switches}", draw.randint(1, 30))
        for n in range(switches)
    ]
    return around(scenario(links, flows, draw.randint(1, 3) * BLOCKS), switches)


def waiting(done: Finished, flow_number: int) -> int:
    """The data packets of a flow in the queues of switches."""
    run_of, found = done.network.run, 0
    for port, lane in np.argwhere(run_of.queues["head"] != NONE).tolist():
        packet = int(run_of.queues["head"][port, lane])
        while packet != NONE:
            event = run_of.events[packet]
            found += int(event["flow"] == flow_number and event["kind"] == 0 and bool(run_of.ports["is_switch"][port]))
            packet = int(event["next"])
    return found


def hops(done: Finished) -> int:
    """The packet hops of all flows there, and of their ACKs back."""
    state, one = done.network.run, np.ones(len(done.network.run.ports), np.int64)
    each = sum(1 + path_sums(state.steps, state.flows[way], one) for way in ("out", "back"))
    return int((each * state.flows["packets"]).sum())


def test_conserves_packets() -> None:
    frozen = 0
    for seed in range(1000):
        is_ring = seed % 5 == 0
        done = run(parse_scenario(random_ring(seed) if is_ring else random_tree(seed)))
        state, flows = done.network.run, done.network.run.flows
        assert state.clock["drops"][0] == 0 and not state.holds["drops"].any()
        assert (state.credits >= 0).all() and not state.frames["time"].any()
        if (flows["completion"] >= 0).all():
            assert (flows["received"] == flows["packets"]).all()
            assert state.clock["transmissions"][0] == hops(done)
            continue
        assert is_ring and done.freeze.found
        frozen += 1
        for number in range(len(flows)):
            assert flows["sent"][number] - flows["received"][number] == waiting(done, number)
    assert 10 < frozen < 190


@pytest.mark.parametrize(
    ("change", "where", "words"),
    [
        ({"pfc": {"pause_quanta": 1}}, "pfc", "credits replace pause frames"),
        ({"compat": "hpcc"}, "compat", "does not have credits"),
        ({"credits": {"buffer_bytes": 4000}}, "credits.buffer_bytes", "do not hold a packet of 4122 bytes"),
        ({"classes": [{"priority": 3, "lossless": False}]}, "classes[0].lossless", "expected true"),
        ({"storms": [{"host": "h0", "at_ns": 1, "until_ns": 2}]}, "storms", "only pause frames"),
    ],
)
def test_refuses(change: Tree, where: str, words: str, tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(scenario(ONE, [flow("h0", "h1", 1)]) | change))
    outcome = cli("simulate", "packets", "--scenario", file, "--format", "json")
    [one] = json.loads(outcome.out)["findings"]
    assert (outcome.code, one["code"], one["path"]) == (1, "FG790", where) and words in one["message"]


def test_command_reports_waits(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(scenario(INCAST, [flow("h0", "h1", 99), flow("h2", "h1", 99)], 8 * BLOCKS)))
    assert "waits for credits, 0 drops" in cli("simulate", "packets", "--scenario", file).out
    found = json.loads(cli("simulate", "packets", "--scenario", file, "--format", "json").out)["packets"]
    assert found["credit_waits"] > 0 and found["pause_frames"] == 0
    congestion = json.loads(cli("simulate", "congestion", "--scenario", file, "--format", "json").out)["congestion"]
    assert congestion["flows"][0]["fct_ns"] == pytest.approx(found["flows"][0]["fct_ns"], rel=0.05)
