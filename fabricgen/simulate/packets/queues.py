"""The ports, queues and buffers of a scenario in their records."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabricgen.physics import QUANTUM_BITS
from fabricgen.results import Compat
from fabricgen.simulate.packets.records import NONE, POOL
from fabricgen.simulate.packets.state import Records
from fabricgen.simulate.scenario import Ecn, Scenario, Scheduler, SwitchBuffers, TrafficClass

UNLIMITED = 1 << 40
LARGEST = (1 << 31) - 1
ALPHA_ONE = 256
UNMARKED = 1 << 30  # Kmin of a queue that does not mark


def fill_ports(
    ports: Records, pfc_times: Records, scenario: Scenario, ends: Sequence[tuple[str, str]], node_of: dict[str, int],
    speeds: Sequence[float], byte_ticks: NDArray[np.int64], ticks_per_ns: int, classes: int,
) -> None:  # fmt: skip
    """Fill in cables, and the times of pauses. `byte_ticks` are the ticks of a byte at each speed. The first class has
    the first turn."""
    number = np.arange(len(ends))
    ports["node"] = [node_of[node] for node, _ in ends]
    ports["is_switch"] = np.array([node.buffers is not None for node in scenario.nodes])[ports["node"]]
    ports["rank"] = scenario.port_ranks
    ports["free_at"], ports["arrives"] = -1, -1
    ports["peer"] = number ^ 1
    ports["delay"] = np.repeat([link.delay_ns * ticks_per_ns for link in scenario.links], 2)
    ports["speed"] = np.repeat([speeds.index(link.speed_gbps) for link in scenario.links], 2)
    ports["control_head"], ports["control_tail"] = NONE, NONE
    ports["last"] = classes - 1
    if scenario.compat is Compat.HPCC:
        return
    pfc = scenario.pfc
    pause = pfc.pause_quanta * QUANTUM_BITS // 8 * byte_ticks[ports["speed"]]
    pfc_times["pause"] = pause
    pfc_times["refresh"] = pfc.refresh_ns * ticks_per_ns or pause // 2
    responses = [pfc.response_ns if link.response_ns is None else link.response_ns for link in scenario.links]
    pfc_times["response"] = np.repeat(responses, 2) * ticks_per_ns


def fill_queues(
    queues: Records, groups: Records, profiles: Records, ports: Records, scenario: Scenario, classes: Sequence[int]
) -> None:
    """Fill in buffers, WRED and schedulers of each port's classes."""
    mtu = scenario.transport.packet_bytes
    queues["head"], queues["tail"] = NONE, NONE
    for lane, priority in enumerate(classes):
        traffic = scenario.traffic_class(priority)
        for port, buffers in enumerate(buffers_by_port(scenario, priority)):
            profile = profiles[port, lane]
            own = buffers if buffers and buffers.scheduler else traffic
            _fill_group(groups[port, lane], profile, buffers, traffic)
            ecn = (buffers.ecn if buffers else None) or Ecn(UNMARKED, UNMARKED, 0.0)
            queues["kmin"][port, lane] = ecn.kmin_bytes
            profile["kmax"], profile["pmax"] = ecn.kmax_bytes, ecn.pmax
            profile["quantum"] = own.weight * mtu
            if scenario.trimming and buffers and buffers.trims and priority != scenario.trimming.priority:
                profile["trims"] = 1
            if own.scheduler is Scheduler.STRICT:
                ports["strict"][port] |= 1 << lane


def fill_pools(
    queues: Records, groups: Records, profiles: Records, ports: Records, scenario: Scenario,
    ends: Sequence[tuple[str, str]], classes: Sequence[int],
) -> tuple[Records, list[list[int]]]:  # fmt: skip
    """The pools; fills in those of groups, and the limits of queues. The pool of a switch is its buffer without
    reserves and headroom, for the groups without an own pool. Also returns the ingress pools of each node."""
    sizes = _buffers_of_switches(groups, profiles, ports, scenario)
    groups["pool"] = ports["node"][:, None]
    queues["pool"] = NONE
    own: list[list[int]] = [[node] for node in range(len(sizes))]
    number: dict[tuple[str, str, str], int] = {}
    for lane, priority in enumerate(classes):
        for port, buffers in enumerate(buffers_by_port(scenario, priority)):
            if buffers and buffers.ingress_pool_bytes:
                name = (ends[port][0], "ingress", buffers.ingress_pool)
                groups["pool"][port, lane] = _numbered(number, sizes, name, buffers.ingress_pool_bytes)
    for node in range(len(own)):
        used = groups["pool"][ports["node"] == node]
        own[node] = np.unique(used).tolist() or own[node]
    for lane, priority in enumerate(classes):
        for port, buffers in enumerate(buffers_by_port(scenario, priority)):
            if buffers is None or not buffers.egress_pool_bytes:
                continue
            profile, name = profiles[port, lane], (ends[port][0], "egress", buffers.egress_pool)
            queues["pool"][port, lane] = _numbered(number, sizes, name, buffers.egress_pool_bytes)
            profile["floor"] = buffers.egress_reserve_bytes
            profile["alpha"] = round(buffers.egress_alpha * ALPHA_ONE)
            profile["limit"] = buffers.egress_static_bytes or LARGEST
    pools = np.zeros(len(sizes), POOL)
    pools["limit"] = sizes
    return pools, own


def _numbered(number: dict[tuple[str, str, str], int], sizes: list[int], name: tuple[str, str, str], size: int) -> int:
    """The number of a pool by its name; adds a new one of this size."""
    if name not in number:
        number[name] = len(sizes)
        sizes.append(size)
    return number[name]


def _buffers_of_switches(groups: Records, profiles: Records, ports: Records, scenario: Scenario) -> list[int]:
    """What the groups of each node share of its buffer."""
    sizes = []
    for index, node in enumerate(scenario.nodes):
        own = ports["node"] == index
        headroom = node.buffers.headroom_pool_bytes if node.buffers else 0
        headroom = headroom or int(profiles["headroom_limit"][own].sum())
        reserve = int(groups["reserve"][own].sum())
        sizes.append(int(node.buffers.buffer_bytes) - headroom - reserve if node.buffers else 0)
    return sizes


def _fill_group(group: Records, profile: Records, buffers: SwitchBuffers | None, traffic: TrafficClass) -> None:
    """Fill in a group. A host does not have one: it takes all packets that arrive."""
    if buffers is None:
        return
    group["reserve"] = buffers.pg_reserve_bytes
    profile["headroom_limit"] = buffers.pg_headroom_bytes if traffic.lossless and buffers.pfc else 0
    group["alpha"] = round(buffers.alpha * ALPHA_ONE)
    group["static"] = buffers.static_threshold_bytes
    profile["xon"], profile["xon_offset"] = buffers.xon_bytes, buffers.xon_offset_bytes
    group["lossless"] = traffic.lossless and buffers.pfc
    group["cell"] = buffers.cell_bytes


def fill_switches(nodes: Records, scenario: Scenario, ticks_per_ns: int) -> None:
    """Fill in nodes."""
    for index, node in enumerate(scenario.nodes):
        row = nodes[index]
        row["pool_limit"] = UNLIMITED
        if node.buffers is None:
            row["backlog_limit"] = node.receive_buffer_bytes
            row["drain"] = 8 / node.drain_gbps * ticks_per_ns if node.drain_gbps else 0.0
            continue
        row["is_switch"] = 1
        row["pool_limit"] = node.buffers.headroom_pool_bytes or UNLIMITED
    for storm in scenario.storms:
        index = [node.name for node in scenario.nodes].index(storm.host)
        nodes["storm_from"][index] = storm.at_ns * ticks_per_ns
        nodes["storm_until"][index] = storm.until_ns * ticks_per_ns


def buffers_by_port(scenario: Scenario, priority: int) -> list[SwitchBuffers | None]:
    """The settings of each port for a priority: those of the class, else of the port, else of its switch. A class that
    only CNPs and ACKs use, and that no setting names, has no reserve."""
    of = {node.name: node.buffers for node in scenario.nodes}
    implicit = scenario.is_implicit(priority)
    found = []
    for link in scenario.links:
        for node, classes, own in ((link.a, link.a_classes, link.a_buffers), (link.b, link.b_classes, link.b_buffers)):
            buffers = classes.get(priority) or own or of[node]
            if implicit and buffers and priority not in classes:
                buffers = replace(buffers, pg_reserve_bytes=0, egress_reserve_bytes=0, ecn=None, watchdog=None)
            found.append(buffers)
    return found
