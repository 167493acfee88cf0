"""A scenario as ports and flows."""

import numpy as np

from fabricgen.errors import UsageError
from fabricgen.physics import held_bytes
from fabricgen.results import Compat
from fabricgen.simulate.plane.credit_ports import with_credits
from fabricgen.simulate.plane.hashed_hops import HashedHops
from fabricgen.simulate.plane.ports import NO_POOL, NO_PORT, Floats, Flows, Ports
from fabricgen.simulate.plane.scenario_pools import ScenarioPools, fed_groups
from fabricgen.simulate.scenario import Scenario
from fabricgen.vocabulary import BalanceMode

_BITS_PER_BYTE = 8
_MOST_HOPS = 64


def from_scenario(scenario: Scenario, seed: int = 1) -> tuple[Ports, Flows]:
    """The ports in the order of the links, a to b before b to a, and the flows, with the buffers of the first priority
    that has flows. `seed` is that of the hash that selects among several routes. Raises UsageError for a flow without a
    route, or whose packets take several paths."""
    if scenario.balance.mode is not BalanceMode.ECMP:
        raise UsageError(f"packets of a flow take several paths with the load balancing {scenario.balance.mode}")
    number = {node.name: index for index, node in enumerate(scenario.nodes)}
    ends = [end for link in scenario.links for end in ((link.a, link.b), (link.b, link.a))]
    port = {end: index for index, end in enumerate(ends)}
    is_host = [node.buffers is None for node in scenario.nodes]
    transport, wire = scenario.transport, scenario.transport.packet_bytes
    into = [number[b] for _, b in ends]
    priority = scenario.priorities[0]
    feeding = fed_groups(scenario, priority)
    lossless = scenario.traffic_class(priority).lossless
    fed = [one if one and one.pfc and lossless else None for one in feeding]
    pools = ScenarioPools(scenario, into, feeding)
    pool = np.array([pools.of(index) if one else NO_POOL for index, one in enumerate(fed)], np.int64)
    cells = np.array([wire / held_bytes(wire, one.cell_bytes) if one else 1.0 for one in fed])
    rate = np.repeat([_rate(scenario, link.speed_gbps) for link in scenario.links], 2)
    drain = np.array([scenario.nodes[node].drain_gbps / _BITS_PER_BYTE or np.inf for node in into])
    ports = Ports(
        bytes_per_ns=np.minimum(rate, drain),
        delay_ns=np.repeat([float(link.delay_ns) for link in scenario.links], 2),
        pool=pool,
        is_nic=np.array([is_host[number[a]] for a, _ in ends], bool),
        alpha=np.array([0.0 if one and one.static_threshold_bytes else one.alpha if one else 1.0 for one in fed]),
        static_bytes=cells * [one.static_threshold_bytes if one else 0 for one in fed],
        reserve_bytes=cells * [one.pg_reserve_bytes if one else 0 for one in fed],
        pool_bytes=np.array(pools.bytes, float),
        name_of=lambda index: ends[index],
        peer_of=lambda index: ends[index ^ 1],
        packet_bytes=wire,
        ack_bytes=transport.ack_bytes,
        acks_wait=transport.ack_lossless,
        xon_offset_bytes=cells * [one.xon_offset_bytes if one else 0 for one in fed],
        response_bytes=rate * _response_ns(scenario),
    )
    if scenario.credits:
        to_switch = np.array([not is_host[node] for node in into])
        ports = with_credits(ports, to_switch, scenario.credits.buffer_bytes, scenario.credits.return_ns)
    nic = {a: index for (a, _), index in port.items() if ports.is_nic[index]}

    hashed = HashedHops(scenario, port, seed)

    def path(src: str, dst: str, way: int) -> list[int]:
        found, at = [nic[src]], ends[nic[src]][1]
        while at != dst:
            onward = scenario.routes.get((at, dst), dst)
            if (at, onward) not in port or len(found) > _MOST_HOPS:
                raise UsageError(f"the route from {src} to {dst} ends at {at}")
            found.append(hashed.port(at, dst, way) if (at, dst) in scenario.groups else port[at, onward])
            at = ends[found[-1]][1]
        return found

    there = [path(flow.src, flow.dst, 2 * rank) for flow, rank in zip(scenario.flows, scenario.flow_ranks, strict=True)]
    back = [
        path(flow.dst, flow.src, 2 * rank + 1) for flow, rank in zip(scenario.flows, scenario.flow_ranks, strict=True)
    ]
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


def _response_ns(scenario: Scenario) -> Floats:
    """How long each port sends after a pause frame arrived. HPCC's simulator obeys at once."""
    usual = 0 if scenario.compat is Compat.HPCC else scenario.pfc.response_ns
    own = [usual if link.response_ns is None else link.response_ns for link in scenario.links]
    return np.repeat(np.array(own, float), 2)


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
