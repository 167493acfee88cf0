"""The completion time of a pattern: of the port with the most bytes for its speed, and the way of a packet."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabricgen.results import PatternTime, Spread
from fabricgen.simulate.bandwidth.bus import bus_bytes
from fabricgen.simulate.patterns import Everyone, Job, Messages, Placement, make_job, make_traffic
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Floats, Ints, latency_ns, way_ns
from fabricgen.simulate.plane.spreading import split_loads


@dataclass(frozen=True)
class MessageDemand:
    """The messages of a pattern on a plane. `seed` is that of shuffles and permutations."""

    pattern: str
    job: Job
    messages: Messages

    @property
    def sent_bytes(self) -> float:
        """Payload bytes of all messages."""
        return float(self.messages.bytes.sum())


@dataclass(frozen=True)
class Drawn:
    """One draw: the time in ns of the bytes, the longest latency of a message with its acknowledgement and of its first
    packet alone, the messages that arrived, and the number of switches on each of their paths."""

    bytes_ns: float
    latency_ns: float
    way_ns: float
    arrived: Flags
    switches: Ints

    @property
    def time_ns(self) -> float:
        """The time until the last message has arrived."""
        return self.bytes_ns + self.latency_ns


def demand_of(plane: HostNetwork, pattern: str, size_bytes: float, placement: Placement, seed: int) -> MessageDemand:
    """The messages of a pattern between the adapters of a plane."""
    job = make_job(plane.adapters, placement, seed)
    traffic = make_traffic(pattern, job, plane.adapters, size_bytes, seed)
    return MessageDemand(pattern, job, traffic.messages() if isinstance(traffic, Everyone) else traffic)


def drawn(plane: HostNetwork, messages: Messages, seed: int) -> Drawn:
    """The time with the paths of one draw of the hashes, over the queue pairs of each connection."""
    parts = messages.split(plane.queue_pairs)
    size = parts.bytes * plane.wire_share
    found = hashed_flows(plane, parts.source, parts.target, size, parts.start_ns, seed)
    flows, arrived = found.flows, found.arrived[:: plane.queue_pairs]
    if not len(flows):
        return Drawn(0.0, 0.0, 0.0, arrived, np.zeros(0, np.int64))
    if plane.is_sprayed:  # the paths are those of single packets
        needed = EvenLoad(plane).time_ns(messages.only(arrived))
    else:
        flow, hop = (flows.path != NO_PORT).nonzero()
        load = np.bincount(flows.path[flow, hop], weights=flows.bytes[flow], minlength=len(plane.ports))
        needed = float((load / plane.ports.bytes_per_ns).max())
    latency, way = (float(of(plane.ports, flows).max()) for of in (latency_ns, way_ns))
    return Drawn(needed, latency, way, arrived, flows.hops - 1)


class EvenLoad:
    """Times where every switch spreads the bytes to each destination evenly over its next hops."""

    def __init__(self, plane: HostNetwork) -> None:
        self.plane = plane

    def has_path(self, messages: Messages) -> Flags:
        """Whether each message can leave its leaf, or stays below it."""
        return self.plane.has_path(messages.source, messages.target)

    def demand(self, messages: Messages) -> Floats:
        """The bytes on the wire that leave each leaf for each destination (switches x columns)."""
        plane = self.plane
        leaf, to = plane.leaf[messages.source], plane.leaf[messages.target]
        away = leaf != to
        cells = leaf[away] * plane.columns + plane.column[messages.target[away]]
        size = messages.bytes[away] * plane.wire_share
        table = np.bincount(cells, weights=size, minlength=plane.network.switches * plane.columns)
        return table.reshape(plane.network.switches, plane.columns).astype(np.float64)

    def needed_ns(self, messages: Messages) -> Floats:
        """The time that each port needs for messages that all have a path."""
        plane = self.plane
        size = messages.bytes * plane.wire_share
        adapters = len(plane.adapters)
        sent = np.bincount(messages.source, weights=size, minlength=adapters) / plane.line_rate
        received = np.bincount(messages.target, weights=size, minlength=adapters) / plane.line_rate
        demand = self.demand(messages).astype(np.float32)
        load = split_loads(plane.network, plane.hops, demand, plane.announces) / plane.link_rate
        return np.concatenate([load, sent, received])

    def time_ns(self, messages: Messages) -> float:
        """The time of messages that all have a path, without the latency of a packet."""
        return float(self.needed_ns(messages).max(initial=0.0))


def pattern_time(
    plane: HostNetwork, demand: MessageDemand, size_bytes: float, gpus_of_node: int, seeds: range
) -> PatternTime:
    """The time of a pattern over the draws of `seeds`."""
    messages = demand.messages
    draws = [drawn(plane, messages, seed) for seed in seeds]
    first = draws[0]
    even = EvenLoad(plane)
    kept = messages.only(even.has_path(messages))
    times = [one.time_ns for one in draws]
    bus = bus_bytes(demand.pattern, demand.job, size_bytes, gpus_of_node)
    return PatternTime(
        pattern=demand.pattern,
        messages=len(messages),
        bytes=demand.sent_bytes,
        time_ns=spread_of(times),
        even_ns=even.time_ns(kept),
        bus_gbytes=None if bus is None else spread_of([bus / time if time else 0.0 for time in times]),
        delivered_gbytes=spread_of(
            [float(messages.bytes[one.arrived].sum()) / one.time_ns if one.time_ns else 0.0 for one in draws]
        ),
        switches=_switches(first.switches),
        lost=int((~first.arrived).sum()),
    )  # fmt: skip


def _switches(found: Ints) -> tuple[int, float, int]:
    if not len(found):
        return 0, 0.0, 0
    return int(found.min()), round(float(found.mean()), 3), int(found.max())


def spread_of(values: Sequence[float]) -> Spread:
    """The mean, the least and the highest."""
    least, highest = min(values), max(values)
    return Spread(float(np.clip(np.mean(values), least, highest)), least, highest)  # rounding can leave the range
