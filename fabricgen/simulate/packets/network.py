"""A scenario as the arrays that the event loop works on."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError
from fabricgen.simulate.packets import records
from fabricgen.simulate.packets.clock import exact_durations, exact_tick_s, floored_durations
from fabricgen.simulate.packets.paths import Steps
from fabricgen.simulate.packets.queues import fill_pools, fill_ports, fill_queues, fill_switches, port_buffers
from fabricgen.simulate.packets.records import NONE, aligned
from fabricgen.simulate.packets.state import Records, Run, Settings
from fabricgen.simulate.packets.wheel import EPOCHS, SLOT_BITS, SLOTS
from fabricgen.simulate.scenario import Dcqcn, Scenario

FIRST_PACKETS = 4096
MOST_PACKETS = (1 << 31) - 1  # of a flow
FIRST_FRAMES = 4096
TIMEOUT_NS = 1_000_000
HPCC_NAK_NS = 500_000  # after so long its receivers ask again
NEVER = 1 << 60
NO_DCQCN = Dcqcn(1 / 256, 1000, 4000, 300_000, 1, 0, 0, 100)


@dataclass
class Network:
    """A run that has not begun, and the names behind its numbers: `ports` are (node, name of the port or of its peer),
    `ends` (node, peer), `classes` priorities."""

    scenario: Scenario
    run: Run
    nodes: list[str]
    ports: list[tuple[str, str]]
    ends: list[tuple[str, str]]
    classes: list[int]
    ticks_per_ns: int
    steps: Steps

    @property
    def now(self) -> int:
        """Ticks."""
        return int(self.run.clock["now"][0])

    def ns(self, ticks: int) -> int:
        """Whole nanoseconds of a time."""
        return int(ticks) // self.ticks_per_ns


def build(scenario: Scenario, seed: int = 1) -> Network:
    """The network of a scenario before its first event. Raises UsageError for what cannot be simulated."""
    compat = scenario.compat == "hpcc"
    nodes = [node.name for node in scenario.nodes]
    ends = [end for link in scenario.links for end in ((link.a, link.b), (link.b, link.a))]
    speeds = list(dict.fromkeys(link.speed_gbps for link in scenario.links))
    tick_s = Fraction(1, 10**9) if compat else exact_tick_s(speeds)
    ticks_per_ns = int(Fraction(1, 10**9) / tick_s)
    classes = scenario.priorities
    largest = max(scenario.transport.packet_bytes, scenario.transport.ack_bytes, scenario.transport.pfc_frame_bytes)
    settings = _settings(scenario, len(ends), len(nodes), len(classes), ticks_per_ns)
    home = _homes(scenario, ends)
    steps = Steps(scenario.routes, {end: port for port, end in enumerate(ends)})
    node_of = {name: index for index, name in enumerate(nodes)}
    flows = _flows(scenario, home, ends, node_of, classes, steps, ticks_per_ns)
    first_flow, order = _turns(flows["node"], len(nodes))
    ports = aligned(len(ends), records.PORT)
    fill_ports(ports, scenario, ends, node_of, speeds, ticks_per_ns, len(classes))
    queues, groups, holds = (aligned(len(ends) * len(classes), kind).reshape(len(ends), -1) for kind in _PER_CLASS)
    fill_queues(queues, groups, ports, scenario, classes)
    hosts = np.zeros(len(nodes), records.NODE)
    fill_switches(hosts, groups, ports, scenario, ticks_per_ns)
    hosts["first_flow"] = first_flow
    for name, port in home.items():
        hosts["port"][node_of[name]] = port
    run = Run(
        settings=settings,
        clock=np.zeros(1, records.CLOCK),
        events=aligned(settings.first_packet + FIRST_PACKETS, records.EVENT),
        slots=_lists(SLOTS),
        epochs=_lists(EPOCHS),
        words=np.zeros(SLOTS >> 6, np.uint64),
        summary=np.zeros(SLOTS >> 12, np.uint64),
        ports=ports,
        queues=queues,
        groups=groups,
        holds=holds,
        pools=fill_pools(queues, scenario, ends, classes),
        nodes=hosts,
        flows=flows,
        order=order,
        steps=steps.array(),
        durations=floored_durations(speeds, largest) if compat else exact_durations(speeds, tick_s, largest),
        frames=np.zeros(FIRST_FRAMES, records.FRAME),
    )
    run.clock["epoch"], run.clock["slot"], run.clock["random"] = -1, SLOTS - 1, seed
    _name_events(run)
    free_packets(run, settings.first_packet)
    _schedule_beginnings(run, scenario, home, ticks_per_ns)
    return Network(scenario, run, nodes, _labels(scenario), ends, classes, ticks_per_ns, steps)


_PER_CLASS = (records.QUEUE, records.GROUP, records.HOLD)


def free_packets(run: Run, first: int) -> None:
    """Add the packets from an event on to the free ones."""
    count = len(run.events) - first
    run.events["next"][first:] = np.arange(first + 1, first + count + 1)
    run.events["next"][-1] = run.clock["free"][0] if run.clock["free_count"][0] else NONE
    run.clock["free"] = first
    run.clock["free_count"] += count


def _settings(scenario: Scenario, ports: int, nodes: int, classes: int, ticks_per_ns: int) -> Settings:
    transport, flows = scenario.transport, len(scenario.flows)
    dcqcn = transport.dcqcn or NO_DCQCN
    first_flow = ports + nodes
    first_pause = first_flow + 3 * flows
    alpha_ns = dcqcn.alpha_timer_ns
    compat = scenario.compat == "hpcc"
    return Settings(
        payload=int(transport.payload_bytes),
        header=int(transport.header_bytes),
        ack_size=int(transport.ack_bytes),
        pause_size=int(transport.pfc_frame_bytes),
        first_packet=first_pause + 3 * ports * classes,
        first_wake=ports,
        first_flow=first_flow,
        first_pause=first_pause,
        classes=classes,
        ticks_per_s=float(ticks_per_ns * 10**9),
        data_acks=bool(transport.ack_lossless),
        round_robin=compat,
        sai=not compat,
        dcqcn=transport.congestion_control == "dcqcn",
        ecn=any(one is not None and one.ecn for each in scenario.priorities for one in port_buffers(scenario, each)),
        older_acks=int(compat and alpha_ns <= 1004),
        alpha_interval=int(alpha_ns * ticks_per_ns),
        decrease_interval=int(dcqcn.rate_decrease_interval_ns * ticks_per_ns),
        increase_interval=int(dcqcn.increase_timer_ns * ticks_per_ns),
        notice_interval=int(dcqcn.cnp_interval_ns * ticks_per_ns),
        byte_counter=int(dcqcn.byte_counter_bytes),
        fast_recovery=int(dcqcn.fast_recovery_times),
        g=float(dcqcn.g),
        additive=dcqcn.rate_ai_mbps * 1e6,
        hyper=dcqcn.rate_hai_mbps * 1e6,
        least_rate=dcqcn.min_rate_mbps * 1e6,
        timeout=int(_timeout_ns(scenario) * ticks_per_ns),
        refusal_interval=HPCC_NAK_NS * ticks_per_ns if compat else NEVER,
    )


def _timeout_ns(scenario: Scenario) -> int:
    """Of retransmission; HPCC's senders know none."""
    asked = scenario.transport.retransmission_timeout_ns
    return (0 if scenario.compat == "hpcc" else TIMEOUT_NS) if asked is None else asked


def _labels(scenario: Scenario) -> list[tuple[str, str]]:
    """What people know each port as."""
    return [
        end for link in scenario.links for end in ((link.a, link.a_port or link.b), (link.b, link.b_port or link.a))
    ]


def _homes(scenario: Scenario, ends: list[tuple[str, str]]) -> dict[str, int]:
    """Each host's port. Raises UsageError for a host with more than one."""
    hosts = {node.name for node in scenario.nodes if node.kind == "host"}
    home: dict[str, int] = {}
    for port, (node, _) in enumerate(ends):
        if node in hosts and home.setdefault(node, port) != port:
            raise UsageError(f"host {node} has two links; give each NIC a node of its own")
    return home


def _flows(
    scenario: Scenario, home: dict[str, int], ends: list[tuple[str, str]], node_of: dict[str, int],
    classes: list[int], steps: Steps, ticks_per_ns: int,
) -> Records:  # fmt: skip
    transport = scenario.transport
    flows = aligned(len(scenario.flows), records.FLOW)
    line_rate = {end: link.speed_gbps * 1e9 for link in scenario.links for end in ((link.a, link.b), (link.b, link.a))}
    for index, flow in enumerate(scenario.flows):
        for name in (flow.src, flow.dst):
            if name not in home:
                raise UsageError(f"host {name} has a flow and no link")
        row, port = flows[index], home[flow.src]
        packets = -(-flow.bytes // transport.payload_bytes)
        if packets > MOST_PACKETS:
            raise UsageError(
                f"the flow from {flow.src} to {flow.dst} has {packets} packets; {MOST_PACKETS} can be counted"
            )
        row["port"], row["node"], row["packets"] = port, node_of[flow.src], packets
        row["last_size"] = flow.bytes - (packets - 1) * transport.payload_bytes + transport.header_bytes
        row["queue"] = classes.index(flow.priority)
        if flow.path:
            row["out"] = steps.along(flow.path[1:])
            row["back"] = steps.along([hop ^ 1 for hop in reversed(flow.path)][1:])
        else:
            row["out"] = steps.way(flow.src, flow.dst, ends[port][1])
            row["back"] = steps.way(flow.dst, flow.src, ends[home[flow.dst]][1])
        row["start"] = flow.start_ns * ticks_per_ns
        row["line_rate"] = line_rate[ends[port]]
    flows["completion"], flows["alpha"], flows["noticed_at"] = -1, 1.0, -(1 << 60)
    return flows


def _turns(sources: NDArray[np.int32], nodes: int) -> tuple[list[int], NDArray[np.int32]]:
    """Where each node's flows begin in `order`, and room for all of them."""
    counts = np.bincount(sources, minlength=nodes).tolist()
    return [0, *accumulate(counts)][:-1], np.full(max(1, len(sources)), NONE, np.int32)


def _lists(count: int) -> Records:
    lists = np.zeros(count, records.LIST)
    lists["head"], lists["tail"] = NONE, NONE
    return lists


def _name_events(run: Run) -> None:
    """Events that are about one port or one flow all their life."""
    ports, first = len(run.ports), run.settings.first_flow
    run.events["kind"][:ports] = records.SENT
    run.events["port"][:ports] = np.arange(ports)
    for offset, kind in enumerate((records.START, records.DECREASE, records.INCREASE)):
        run.events["kind"][first + offset : run.settings.first_pause : 3] = kind
        run.events["flow"][first + offset : run.settings.first_pause : 3] = np.arange(len(run.flows))


def _schedule_beginnings(run: Run, scenario: Scenario, home: Mapping[str, int], ticks_per_ns: int) -> None:
    """The beginning of every flow and of every storm."""
    for flow, start in enumerate(run.flows["start"].tolist()):
        schedule_at(run, run.settings.first_flow + 3 * flow, start)
    for storm in scenario.storms:
        for lane in range(run.settings.classes):
            event = pause_event(run, home[storm.host], lane, records.REFRESH)
            schedule_at(run, event, storm.at_ns * ticks_per_ns)


def pause_event(run: Run, port: int, lane: int, kind: int) -> int:
    """One of the three events of a port's class: EXPIRE, REFRESH, FLUSH."""
    offset = (records.EXPIRE, records.REFRESH, records.FLUSH).index(kind)
    event = run.settings.first_pause + 3 * (port * run.settings.classes + lane) + offset
    run.events["kind"][event], run.events["port"][event], run.events["queue"][event] = kind, port, lane
    return event


def schedule_at(run: Run, event: int, time: int) -> None:
    """Let an event happen, between two stretches of the loop; what `wheel.schedule` does within them."""
    run.events["time"][event], run.events["next"][event] = time, NONE
    slot = time % SLOTS
    if time >> SLOT_BITS == run.clock["epoch"][0]:
        if run.slots["head"][slot] == NONE:
            run.words[slot >> 6] |= np.uint64(1 << (slot & 63))
            run.summary[slot >> 12] |= np.uint64(1 << (slot >> 6 & 63))
        waiting = run.slots[slot]
    else:
        waiting = run.epochs[(time >> SLOT_BITS) % EPOCHS]
    if waiting["head"] == NONE:
        waiting["head"] = event
    else:
        run.events["next"][waiting["tail"]] = event
    waiting["tail"] = event
    run.clock["pending"] += 1
