"""A scenario as the arrays of the event loop."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fabricgen.physics import CREDIT_BLOCK_BYTES
from fabricgen.results import Compat
from fabricgen.simulate.packets import records
from fabricgen.simulate.packets.clock import exact_durations, exact_tick_s, floored_delay_ns, floored_durations
from fabricgen.simulate.packets.draws import first_stream
from fabricgen.simulate.packets.flows import first_places, flow_ends, flow_records, host_ports, path_sums
from fabricgen.simulate.packets.next_hops import NextHops, no_spread
from fabricgen.simulate.packets.paths import Steps
from fabricgen.simulate.packets.queues import fill_pools, fill_ports, fill_queues, fill_switches
from fabricgen.simulate.packets.records import aligned
from fabricgen.simulate.packets.room import empty_wheel, free_packets
from fabricgen.simulate.packets.settings import run_settings
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.timers import name_events, schedule_beginnings
from fabricgen.simulate.packets.windows import selected_arrays
from fabricgen.simulate.scenario import Scenario, require_one_path

FIRST_PACKETS = 4096
FIRST_FRAMES = 4096


@dataclass
class PacketNetwork:
    """A run, and the names behind its numbers: `ports` are (node, name of the port or of its peer), `ends` are
    (node, peer), `classes` are priorities."""

    scenario: Scenario
    run: Run
    nodes: list[str]
    ports: list[tuple[str, str]]
    ends: list[tuple[str, str]]
    classes: list[int]
    ticks_per_ns: int
    steps: Steps
    ingress_pools: list[list[int]]  # node -> its ingress pools that groups use
    first_steps: NDArray[np.uint32]  # [flow]: of its path, or of the one by the first next hops
    hops: NextHops | None  # where switches select among next hops

    @property
    def now(self) -> int:
        """The time in ticks."""
        return int(self.run.clock["now"][0])

    @property
    def expected_hops(self) -> int:
        """The hops of all packets and ACKs, if no packet is lost."""
        run = self.run
        one_way = 1 + path_sums(run.steps, self.first_steps.astype(np.int64), np.ones(len(run.ports), np.int64))
        return int((2 * one_way * run.flows["packets"]).sum())

    def ns(self, ticks: int) -> int:
        """A time in whole nanoseconds."""
        return int(ticks) // self.ticks_per_ns

    def free_bytes(self) -> NDArray[np.int64]:
        """[node]: what is free in the ingress pools of each node."""
        free = self.run.pools["limit"] - self.run.pools["used"]
        return np.array([free[pools].sum() for pools in self.ingress_pools], np.int64)


def build(scenario: Scenario, seed: int = 1) -> PacketNetwork:
    """The network of a scenario before its first event. Raises UsageError for a scenario that cannot be simulated."""
    require_one_path(scenario)
    compat = scenario.compat is Compat.HPCC
    if compat:
        links = tuple(replace(link, delay_ns=floored_delay_ns(link.delay_ns)) for link in scenario.links)
        scenario = replace(scenario, links=links)
    nodes = [node.name for node in scenario.nodes]
    ends = [end for link in scenario.links for end in ((link.a, link.b), (link.b, link.a))]
    speeds = list(dict.fromkeys(link.speed_gbps for link in scenario.links))
    tick_s = Fraction(1, 10**9) if compat else exact_tick_s(speeds)
    ticks_per_ns = int(Fraction(1, 10**9) / tick_s)
    classes = scenario.carried_priorities
    largest = max(scenario.transport.packet_bytes, scenario.transport.ack_bytes, scenario.transport.pfc_frame_bytes)
    durations = floored_durations(speeds, largest) if compat else exact_durations(speeds, tick_s, largest)
    packet_ticks = int(durations[:, scenario.transport.packet_bytes].min())
    settings = run_settings(scenario, len(ends), classes, ticks_per_ns, packet_ticks, seed)
    home = host_ports(scenario, ends)
    hops = NextHops(scenario, ends, scenario.port_ranks, home) if scenario.is_spread else None
    paths = [hops.path(flow.src, flow.dst) if hops else flow.path for flow in scenario.flows]
    steps = Steps(scenario.routes, {end: port for port, end in enumerate(ends)}, paths)
    node_of = {name: index for index, name in enumerate(nodes)}
    flows = flow_records(scenario, home, ends, node_of, classes, steps, paths, ticks_per_ns)
    first_steps = flows["out"].copy()
    if hops:
        flows["out"], flows["back"] = ([node_of[end] for end in each] for each in flow_ends(scenario))
    first_flow, order = first_places(flows["node"], len(nodes))
    ports = aligned(len(ends), records.PORT)
    pfc_times = np.zeros(len(ends), records.PFC)
    fill_ports(ports, pfc_times, scenario, ends, node_of, speeds, durations[:, 1], ticks_per_ns, len(classes))
    queues, groups, profiles, holds = (
        aligned(len(ends) * len(classes), kind).reshape(len(ends), -1) for kind in _PER_CLASS
    )
    fill_queues(queues, groups, profiles, ports, scenario, classes)
    hosts = aligned(len(nodes), records.NODE)
    fill_switches(hosts, scenario, ticks_per_ns)
    pools, ingress_pools = fill_pools(queues, groups, profiles, ports, scenario, ends, classes)
    hosts["first_flow"] = first_flow
    hosts["last_flow"] = 0 if compat else -1
    for name, port in home.items():
        hosts["port"][node_of[name]] = port
    run = Run(
        settings=settings,
        clock=np.zeros(1, records.CLOCK),
        events=aligned(settings.first_packet + FIRST_PACKETS, records.EVENT),
        **empty_wheel(settings.first_packet + FIRST_PACKETS),
        ports=ports,
        pfc=pfc_times,
        queues=queues,
        groups=groups,
        profiles=profiles,
        holds=holds,
        credits=np.full((len(ends), len(classes)), _blocks(scenario), np.int64),
        pools=pools,
        nodes=hosts,
        flows=flows,
        order=order,
        steps=steps.array(),
        durations=durations,
        frames=np.zeros(FIRST_FRAMES, records.FRAME),
        streams=first_stream(seed, len(nodes)),
        spread=hops.arrays() if hops else no_spread(),
        selected=selected_arrays(scenario, settings, flows["packets"], settings.first_packet + FIRST_PACKETS),
    )
    name_events(run)
    free_packets(run, settings.first_packet)
    schedule_beginnings(run, scenario, home, ticks_per_ns)
    labels = _labels(scenario)
    return PacketNetwork(
        scenario, run, nodes, labels, ends, classes, ticks_per_ns, steps, ingress_pools, first_steps, hops
    )


def _blocks(scenario: Scenario) -> int:
    """The credits of each port and class at the start."""
    return scenario.credits.buffer_bytes // CREDIT_BLOCK_BYTES if scenario.credits else 0


_PER_CLASS = (records.QUEUE, records.GROUP, records.PROFILE, records.HOLD)


def _labels(scenario: Scenario) -> list[tuple[str, str]]:
    """(node, name of the port or of its peer) of each port."""
    return [
        end for link in scenario.links for end in ((link.a, link.a_port or link.b), (link.b, link.b_port or link.a))
    ]
