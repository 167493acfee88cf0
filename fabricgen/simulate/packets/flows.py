"""The flows of a scenario in their records."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError
from fabricgen.simulate.packets import records
from fabricgen.simulate.packets.paths import Steps
from fabricgen.simulate.packets.records import NONE, aligned
from fabricgen.simulate.packets.state import Records
from fabricgen.simulate.scenario import NodeKind, Scenario

MOST_PACKETS = (1 << 31) - 1  # of a flow
_NEVER_NOTIFIED = -(1 << 60)


def flow_records(
    scenario: Scenario, home: Mapping[str, int], ends: Sequence[tuple[str, str]], node_of: Mapping[str, int],
    classes: Sequence[int], steps: Steps, ticks_per_ns: int,
) -> Records:  # fmt: skip
    """The records of all flows; `home` is each host's port. Raises UsageError for a flow that cannot be simulated."""
    transport = scenario.transport
    flows = aligned(len(scenario.flows), records.FLOW)
    line_rate = {end: link.speed_gbps * 1e9 for link in scenario.links for end in ((link.a, link.b), (link.b, link.a))}
    for index, flow in enumerate(scenario.flows):
        for name in (flow.src, flow.dst):
            if name not in home:
                raise UsageError(f"host {name} has a flow but no link")
        row, port = flows[index], home[flow.src]
        packets = -(-flow.bytes // transport.payload_bytes)
        if packets > MOST_PACKETS:
            raise UsageError(
                f"the flow from {flow.src} to {flow.dst} has {packets} packets; the limit is {MOST_PACKETS}"
            )
        row["port"], row["node"], row["packets"] = port, node_of[flow.src], packets
        row["last_size"] = flow.bytes - (packets - 1) * transport.payload_bytes + transport.header_bytes
        row["queue"] = classes.index(flow.priority)
        if flow.path:
            row["out"] = steps.along(flow.path[1:])
            row["back"] = steps.along([hop ^ 1 for hop in reversed(flow.path)][1:])
        else:
            row["out"] = steps.path(flow.src, flow.dst, ends[port][1])
            row["back"] = steps.path(flow.dst, flow.src, ends[home[flow.dst]][1])
        row["start"] = flow.start_ns * ticks_per_ns
        row["line_rate"] = line_rate[ends[port]]
    flows["completion"], flows["alpha"], flows["noticed_at"] = -1, 1.0, _NEVER_NOTIFIED
    return flows


def first_places(sources: NDArray[np.int32], nodes: int) -> tuple[list[int], NDArray[np.int32]]:
    """The first place of each node's flows in `order`, and the empty `order`."""
    counts = np.bincount(sources, minlength=nodes).tolist()
    return [0, *accumulate(counts)][:-1], np.full(max(1, len(sources)), NONE, np.int32)


def host_ports(scenario: Scenario, ends: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The port of each host. Raises UsageError for a host with several ports."""
    hosts = {node.name for node in scenario.nodes if node.kind is NodeKind.HOST}
    home: dict[str, int] = {}
    for port, (node, _) in enumerate(ends):
        if node in hosts and home.setdefault(node, port) != port:
            raise UsageError(f"host {node} has two links; give each NIC a separate node")
    return home
