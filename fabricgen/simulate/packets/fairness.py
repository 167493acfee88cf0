"""Victims: flows that take longer than ideal sharing of their own path would make them, because others are paused."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabricgen.results import PacketFlow, PacketsResult
from fabricgen.simulate.congestion.model import Flows, Ports, latency_ns
from fabricgen.simulate.max_min import max_min_times_ns
from fabricgen.simulate.packets.simulation import run
from fabricgen.simulate.scenario import Scenario

VICTIM_FACTOR = 1.2
_GAP_NS = 10_000


def with_victims(result: PacketsResult, scenario: Scenario, ports: Ports, flows: Flows) -> PacketsResult:
    """The result with each flow's ideal completion, HoL factor, and for victims the slowdown over the flow alone.
    `ports` and `flows` are the scenario's, as the max-min solver takes them."""
    ideal = np.rint(max_min_times_ns(ports, flows) + latency_ns(ports, flows)).astype(int).tolist()
    judged = [_judged(flow, times) for flow, times in zip(result.flows, ideal, strict=True)]
    victims = [index for index, flow in enumerate(judged) if flow.victim]
    alone = lone_times_ns(scenario, victims)
    for index, time in zip(victims, alone, strict=True):
        flow = judged[index]
        if time and flow.fct_ns is not None:
            judged[index] = replace(flow, slowdown=round(flow.fct_ns / time, 2))
    return replace(result, flows=tuple(judged))


def _judged(flow: PacketFlow, ideal_ns: int) -> PacketFlow:
    if flow.fct_ns is None:
        return replace(flow, ideal_fct_ns=ideal_ns)
    factor = flow.fct_ns / max(ideal_ns, 1)
    return replace(flow, ideal_fct_ns=ideal_ns, hol_factor=round(factor, 3), victim=factor > VICTIM_FACTOR)


def lone_times_ns(scenario: Scenario, chosen: Sequence[int]) -> list[int | None]:
    """How long some flows take with the network to themselves: one after another in a single run."""
    if not chosen:
        return []
    slowest = min(link.speed_gbps for link in scenario.links)
    longest = sum(link.delay_ns for link in scenario.links)
    flows, start = [], 0
    for index in chosen:
        flow = scenario.flows[index]
        flows.append(replace(flow, start_ns=start))
        wire = flow.bytes * scenario.transport.packet_bytes / scenario.transport.payload_bytes
        start += int(2 * wire * 8 / slowest) + 2 * longest + _GAP_NS
    lone = replace(scenario, flows=tuple(flows), stop_ns=start, storms=(), failures=())
    finished = run(lone)
    return [
        finished.network.ns(ticks) if ticks >= 0 else None
        for ticks in finished.network.run.flows["completion"].tolist()
    ]
