"""The flows of a scenario in their records."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError
from fabricgen.simulate.packets import records
from fabricgen.simulate.packets.paths import Steps
from fabricgen.simulate.packets.records import INDEX, NONE, aligned
from fabricgen.simulate.packets.state import Records
from fabricgen.simulate.scenario import Flow, NodeKind, Scenario

MOST_PACKETS = (1 << 31) - 1  # of a flow
_NEVER_NOTIFIED = -(1 << 60)


def flow_records(
    scenario: Scenario, home: Mapping[str, int], ends: Sequence[tuple[str, str]], node_of: Mapping[str, int],
    classes: Sequence[int], steps: Steps, paths: Sequence[tuple[int, ...]], ticks_per_ns: int,
) -> Records:  # fmt: skip
    """The records of all flows; `home` is each host's port, `paths` are the given ones. Raises UsageError for a flow
    that cannot be simulated."""
    transport, given = scenario.transport, scenario.flows
    flows = aligned(len(given), records.FLOW)
    for name in dict.fromkeys(name for flow in given for name in (flow.src, flow.dst)):
        if name not in home:
            raise UsageError(f"host {name} has a flow but no link")
    sizes = np.array([flow.bytes for flow in given], np.int64)
    packets = -(-sizes // transport.payload_bytes)
    if packets.max(initial=0) > MOST_PACKETS:
        worst = given[int(packets.argmax())]
        raise UsageError(
            f"the flow from {worst.src} to {worst.dst} has {packets.max()} packets; the limit is {MOST_PACKETS}"
        )
    flows["port"] = [home[flow.src] for flow in given]
    flows["node"] = [node_of[flow.src] for flow in given]
    flows["packets"] = packets
    flows["last_size"] = sizes - (packets - 1) * transport.payload_bytes + transport.header_bytes
    lane = {priority: number for number, priority in enumerate(classes)}
    flows["queue"] = [lane[flow.priority] for flow in given]
    flows["start"] = [flow.start_ns * ticks_per_ns for flow in given]
    flows["line_rate"] = np.repeat([link.speed_gbps * 1e9 for link in scenario.links], 2)[flows["port"]]
    flows["rank"] = scenario.flow_ranks
    flows["out"], flows["back"] = _first_steps(given, paths, home, ends, steps)
    delays = np.repeat([link.delay_ns * ticks_per_ns for link in scenario.links], 2)
    flows["travel"] = delays[flows["port"]] + path_sums(steps.array(), flows["out"], delays)
    flows["completion"], flows["alpha"], flows["noticed_at"] = -1, 1.0, _NEVER_NOTIFIED
    return flows


def _first_steps(
    flows: Sequence[Flow], paths: Sequence[tuple[int, ...]], home: Mapping[str, int], ends: Sequence[tuple[str, str]],
    steps: Steps,
) -> NDArray[np.int64]:  # fmt: skip
    """[there or back, flow]: the first step of each flow's path."""
    first = steps.given.copy()
    for index, (flow, path) in enumerate(zip(flows, paths, strict=True)):
        if not path:
            first[0, index] = steps.path(flow.src, flow.dst, ends[home[flow.src]][1])
            first[1, index] = steps.path(flow.dst, flow.src, ends[home[flow.dst]][1])
    return first


def flow_ends(scenario: Scenario) -> tuple[list[str], list[str]]:
    """The hosts that data goes to, and those that answers go to."""
    return [flow.dst for flow in scenario.flows], [flow.src for flow in scenario.flows]


def path_sums(steps: Records, first: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum over each path of a value of its ports."""
    sums, at = np.zeros(len(first), np.int64), first.astype(INDEX)
    while (on := at != NONE).any():
        sums[on] += values[steps["port"][at[on]]]
        at[on] = steps["next"][at[on]]
    return sums


def first_places(sources: NDArray[np.uint32], nodes: int) -> tuple[list[int], NDArray[np.uint32]]:
    """The first place of each node's flows in `order`, and the empty `order`."""
    counts = np.bincount(sources, minlength=nodes).tolist()
    return [0, *accumulate(counts)][:-1], np.full(max(1, len(sources)), NONE, INDEX)


def host_ports(scenario: Scenario, ends: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The port of each host. Raises UsageError for a host with several ports."""
    hosts = {node.name for node in scenario.nodes if node.kind is NodeKind.HOST}
    home: dict[str, int] = {}
    for port, (node, _) in enumerate(ends):
        if node in hosts and home.setdefault(node, port) != port:
            raise UsageError(f"host {node} has two links; give each NIC a separate node")
    return home
