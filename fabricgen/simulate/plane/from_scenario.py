"""A scenario as ports and flows."""

from collections.abc import Mapping, Sequence

import numpy as np

from fabricgen.errors import UsageError
from fabricgen.physics import held_bytes
from fabricgen.results import Compat
from fabricgen.simulate.plane.credit_ports import with_credits
from fabricgen.simulate.plane.ports import NO_POOL, NO_PORT, Floats, Flows, Ports
from fabricgen.simulate.scenario import NodeKind, Scenario, SwitchBuffers
from fabricgen.simulate.scenario.balance import in_rounds
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


# ECMP of scenarios: the next hop that the hash of a switch selects, as the packet simulator does.

_GOLDEN, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
_OF_FLOW = 1 << 33


class HashedHops:
    """The choices of the switches of a scenario among several routes. `port` numbers (node, next node)."""

    def __init__(self, scenario: Scenario, port: Mapping[tuple[str, str], int], seed: int) -> None:
        self._scenario, self._port = scenario, port
        names = sorted(node.name for node in scenario.nodes if node.kind is NodeKind.SWITCH)
        self._hash = {name: _mixed(seed + (_OF_FLOW + place) * _GOLDEN) for place, name in enumerate(names)}

    def port(self, at: str, to: str, way: int) -> int:
        """The port for a flow. `way` is twice its rank, and 1 more for its answers."""
        weights = {self._port[at, str(via)]: weight for via, weight in self._scenario.groups[at, to]}
        entries = in_rounds(weights, self._scenario.port_ranks)
        return entries[_mixed(self._hash[at] + way * _GOLDEN) % len(entries)]


def _mixed(bits: int) -> int:
    """The finalizer of SplitMix64, modulo 2^64."""
    bits &= _MASK
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & _MASK
    return bits ^ (bits >> 31)


# The ingress pools of a scenario, and the groups that its ports feed.


def fed_groups(scenario: Scenario, priority: int) -> list[SwitchBuffers | None]:
    """The settings of the group that each port feeds; None at hosts."""
    of = {node.name: node.buffers for node in scenario.nodes}
    found = []
    for link in scenario.links:
        found.append(link.b_classes.get(priority) or link.b_buffers or of[link.b])
        found.append(link.a_classes.get(priority) or link.a_buffers or of[link.a])
    return found


class ScenarioPools:
    """The ingress pools of a scenario: the buffer of each node, then those that ports name. `bytes` are what groups
    share, in packets on the wire."""

    def __init__(self, scenario: Scenario, into: Sequence[int], feeding: Sequence[SwitchBuffers | None]) -> None:
        self._into, self._feeding = into, feeding
        self._wire = scenario.transport.packet_bytes
        headroom = [node.buffers.headroom_pool_bytes if node.buffers else 0 for node in scenario.nodes]
        self.bytes: list[float] = [
            node.buffers.buffer_bytes - shared if node.buffers else 0.0
            for node, shared in zip(scenario.nodes, headroom, strict=True)
        ]
        for node, one in zip(into, feeding, strict=True):
            if one:
                own_headroom = 0 if headroom[node] else one.pg_headroom_bytes
                self.bytes[node] -= one.pg_reserve_bytes + own_headroom
        for index, owner in enumerate(scenario.nodes):
            self.bytes[index] *= self._share(owner.buffers)
        self._named: dict[tuple[int, str], int] = {}

    def of(self, port: int) -> int:
        """The pool of the group that a port feeds."""
        own, node = self._feeding[port], self._into[port]
        if own is None or not own.ingress_pool_bytes:
            return node
        name = (node, own.ingress_pool)
        if name not in self._named:
            self._named[name] = len(self.bytes)
            self.bytes.append(own.ingress_pool_bytes * self._share(own))
        return self._named[name]

    def _share(self, buffers: SwitchBuffers | None) -> float:
        return self._wire / held_bytes(self._wire, buffers.cell_bytes) if buffers else 1.0
