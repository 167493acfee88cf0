"""A scenario as ports and flows."""

import numpy as np

from fabricgen.errors import UsageError
from fabricgen.results import Compat
from fabricgen.simulate.plane.ports import NO_POOL, NO_PORT, Flows, Ports
from fabricgen.simulate.scenario import Scenario

_BITS_PER_BYTE = 8
_MOST_HOPS = 64


def from_scenario(scenario: Scenario) -> tuple[Ports, Flows]:
    """The ports in the order of the links, a to b before b to a, and the flows. Raises UsageError for a flow without a
    route."""
    number = {node.name: index for index, node in enumerate(scenario.nodes)}
    ends = [end for link in scenario.links for end in ((link.a, link.b), (link.b, link.a))]
    port = {end: index for index, end in enumerate(ends)}
    buffers = [node.buffers for node in scenario.nodes]
    into = [number[b] for _, b in ends]
    degree = np.bincount(into, minlength=len(buffers))
    pool = [
        one.buffer_bytes - degree[index] * (one.pg_headroom_bytes + one.pg_reserve_bytes) if one else 0
        for index, one in enumerate(buffers)
    ]
    fed = [buffers[node] for node in into]
    transport = scenario.transport
    ports = Ports(
        bytes_per_ns=np.repeat([_rate(scenario, link.speed_gbps) for link in scenario.links], 2),
        delay_ns=np.repeat([float(link.delay_ns) for link in scenario.links], 2),
        pool=np.array([node if one else NO_POOL for node, one in zip(into, fed, strict=True)], np.int64),
        is_nic=np.array([buffers[number[a]] is None for a, _ in ends], bool),
        alpha=np.array([one.alpha if one else 1.0 for one in fed]),
        reserve_bytes=np.array([one.pg_reserve_bytes if one else 0.0 for one in fed], float),
        pool_bytes=np.array(pool, float),
        name_of=lambda index: ends[index],
        peer_of=lambda index: ends[index ^ 1],
        packet_bytes=transport.packet_bytes,
        ack_bytes=transport.ack_bytes,
        xon_offset_bytes=np.array([one.xon_offset_bytes if one else 0.0 for one in fed], float),
    )
    nic = {a: index for (a, _), index in port.items() if ports.is_nic[index]}

    def path(src: str, dst: str) -> list[int]:
        found, at = [nic[src]], ends[nic[src]][1]
        while at != dst:
            onward = scenario.routes.get((at, dst), dst)
            if (at, onward) not in port or len(found) > _MOST_HOPS:
                raise UsageError(f"the route from {src} to {dst} ends at {at}")
            found.append(port[at, onward])
            at = onward
        return found

    there = [path(flow.src, flow.dst) for flow in scenario.flows]
    back = [path(flow.dst, flow.src) for flow in scenario.flows]
    on_wire = transport.packet_bytes / transport.payload_bytes
    flows = Flows(
        source=np.array([number[flow.src] for flow in scenario.flows], np.int64),
        target=np.array([number[flow.dst] for flow in scenario.flows], np.int64),
        bytes=np.array([flow.bytes * on_wire for flow in scenario.flows], float),
        start_ns=np.array([flow.start_ns for flow in scenario.flows], float),
        path=_padded(there),
        back=_padded(back),
    )
    return ports, flows


def _rate(scenario: Scenario, speed_gbps: float) -> float:
    """Bytes per ns. HPCC's simulator truncates the time of a packet to whole ns, so its links are faster."""
    rate = speed_gbps / _BITS_PER_BYTE
    packet_ns = scenario.transport.packet_bytes / rate
    return rate * packet_ns / int(packet_ns) if scenario.compat is Compat.HPCC and packet_ns >= 1 else rate


def _padded(paths: list[list[int]]) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    table = np.full((len(paths), max((len(path) for path in paths), default=1)), NO_PORT, np.int32)
    for row, path in zip(table, paths, strict=True):
        row[: len(path)] = path
    return table
