"""Victims: flows that take longer than under ideal sharing of their path, because of pauses."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import PacketFlow, PacketsResult
from fabricgen.simulate.max_min import max_min_times_ns
from fabricgen.simulate.packets.simulation import run
from fabricgen.simulate.plane.ports import NO_PORT, Flows, Ports, latency_ns
from fabricgen.simulate.scenario import Scenario, Scheduler

VICTIM_FACTOR = 1.2
MOST_LONE = 256  # victims that are run alone, one after another
_GAP_NS = 10_000


def with_victims(result: PacketsResult, scenario: Scenario, ports: Ports, flows: Flows) -> PacketsResult:
    """The result with each flow's ideal completion and HoL factor, and the slowdown of the worst victims over the flow
    alone. `ports` and `flows` are those of the scenario for the max-min solver."""
    ideal = np.rint(_ideal_ns(scenario, ports, flows) + latency_ns(ports, flows)).astype(int).tolist()
    held = {priority for priority in scenario.priorities if scenario.traffic_class(priority).lossless}
    judged = [_judged(flow, times, flow.priority in held) for flow, times in zip(result.flows, ideal, strict=True)]
    victims = [index for index, flow in enumerate(judged) if flow.victim]
    victims = sorted(victims, key=lambda index: (-(judged[index].hol_factor or 0), index))[:MOST_LONE]
    alone = lone_times_ns(scenario, victims)
    for index, time in zip(victims, alone, strict=True):
        flow = judged[index]
        if time and flow.fct_ns is not None:
            judged[index] = replace(flow, slowdown=round(flow.fct_ns / time, 2))
    return replace(result, flows=tuple(judged))


def _ideal_ns(scenario: Scenario, ports: Ports, flows: Flows) -> NDArray[np.float64]:
    """Completion times under max-min sharing. With several priorities, the scheduler gives each a share of every link
    against the others there: all of it to a strict one, else by weight. On a NIC, which serves its flows in turn, the
    shares are the numbers of flows."""
    priorities = scenario.priorities
    if len(priorities) == 1:
        return max_min_times_ns(ports, flows)
    own = np.array([flow.priority for flow in scenario.flows])
    classes = [scenario.traffic_class(priority) for priority in priorities]
    crossing = np.zeros((len(priorities), len(ports)))
    for row, priority in enumerate(priorities):
        used = flows.path[own == priority]
        np.add.at(crossing[row], used[used != NO_PORT], 1)
    weight = np.array([0 if one.scheduler is Scheduler.STRICT else one.weight for one in classes])[:, None]
    wanted = np.where(ports.is_nic, crossing, (crossing > 0) * weight)
    share = np.where(wanted > 0, wanted / np.maximum(wanted.sum(axis=0), 1), 1.0)
    times = np.zeros(len(own))
    for row, priority in enumerate(priorities):
        chosen = np.flatnonzero(own == priority)
        less = replace(ports, bytes_per_ns=ports.bytes_per_ns * share[row])
        times[chosen] = max_min_times_ns(less, flows.only(chosen))
    return times


def _judged(flow: PacketFlow, ideal_ns: int, lossless: bool) -> PacketFlow:
    """The flow with its HoL factor. Only a flow of a lossless priority can be a victim."""
    if flow.fct_ns is None:
        return replace(flow, ideal_fct_ns=ideal_ns)
    factor = flow.fct_ns / max(ideal_ns, 1)
    return replace(flow, ideal_fct_ns=ideal_ns, hol_factor=round(factor, 3), victim=lossless and factor > VICTIM_FACTOR)


def lone_times_ns(scenario: Scenario, chosen: Sequence[int]) -> list[int | None]:
    """The completion times of some flows without other traffic: one after another in a single run."""
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
