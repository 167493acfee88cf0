"""Ports with the priority groups that they feed, and flows on fixed paths.

A port is one direction of a link, seen from the sender; packets of one priority wait there in one FIFO. At its far end
the switch counts the packets that arrive over the link: this is the priority group (PG) that the port feeds, and a full
group pauses the port. Ports of hosts (NICs) send into the network; ports towards hosts are never paused.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabricgen.physics import DEFAULT_ROCE_MTU_BYTES, ROCE_V2_WIRE_BYTES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NO_POOL = -1
NO_PORT = -1


@dataclass(frozen=True)
class Ports:
    """All ports of a network. Arrays are per port, except `pool_bytes`, which is per pool: what its groups share.

    `pool` is the pool of the PG that the port feeds, NO_POOL if nothing pauses the port. `name_of` gives the
    (node, port) of a port, `peer_of` the (node, port) at its far end.
    """

    bytes_per_ns: Floats
    delay_ns: Floats
    pool: Ints
    is_nic: Flags
    alpha: Floats
    reserve_bytes: Floats
    pool_bytes: Floats
    name_of: Callable[[int], tuple[str, str]] = field(repr=False)
    peer_of: Callable[[int], tuple[str, str]] = field(repr=False)
    packet_bytes: int = DEFAULT_ROCE_MTU_BYTES + ROCE_V2_WIRE_BYTES
    ack_bytes: float = 0.0  # for every packet, on the way back; 0 if adapters merge them
    acks_wait: bool = False  # in the class of their flow, behind its data
    static_bytes: Floats | float = 0.0  # of a group's threshold, where alpha is 0
    xon_offset_bytes: Floats | float = 0.0  # how far below its threshold a group resumes its port
    unlimited_bytes_per_ns: Floats | None = None  # of the cables, where small buffers limit `bytes_per_ns`
    response_bytes: Floats | float = 0.0  # what a port sends between a pause frame and its effect

    def __len__(self) -> int:
        return len(self.pool)

    def of_groups(self, per_port: Floats | float) -> Floats:
        """A setting of the groups as an array."""
        return np.broadcast_to(np.asarray(per_port, float), len(self))

    @property
    def wire_bytes_per_ns(self) -> Floats:
        """The speed of each cable."""
        return self.bytes_per_ns if self.unlimited_bytes_per_ns is None else self.unlimited_bytes_per_ns

    @cached_property
    def reaction_bytes(self) -> Floats:
        """What a port sends between the decision to pause it and the effect: a round trip, two packets, its
        response."""
        round_trip = 2 * self.delay_ns + 2 * self.packet_bytes / self.bytes_per_ns
        reaction: Floats = self.bytes_per_ns * round_trip + self.response_bytes
        return reaction


@dataclass(frozen=True)
class Flows:
    """Messages on their paths. `path` (flows x hops) has the ports of each flow, its NIC first, NO_PORT after the last;
    `back` is the path of the acknowledgements, from the receiver's NIC. `bytes` count headers as well."""

    source: Ints  # numbers of hosts
    target: Ints
    bytes: Floats
    start_ns: Floats
    path: NDArray[np.int32]
    back: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.bytes)

    @cached_property
    def hops(self) -> Ints:
        """The number of ports on each path."""
        hops: Ints = (self.path != NO_PORT).sum(axis=1)
        return hops

    def only(self, chosen: Ints | Flags) -> "Flows":
        """Some of the flows."""
        back = None if self.back is None else self.back[chosen]
        return Flows(
            self.source[chosen], self.target[chosen], self.bytes[chosen], self.start_ns[chosen], self.path[chosen], back
        )


def latency_ns(ports: Ports, flows: Flows) -> Floats:
    """The time of a flow apart from its bytes at its rate: propagation, storing a packet at every switch, and the way
    back of the last acknowledgement."""
    nic = ports.bytes_per_ns[flows.path[:, 0]]
    there = way_ns(ports, flows)
    if flows.back is None:
        return there + _sum(ports.delay_ns, flows.path)
    acks: Floats = (flows.back != NO_PORT).sum(axis=1) * ports.ack_bytes / nic
    return there + _sum(ports.delay_ns, flows.back) + acks


def way_ns(ports: Ports, flows: Flows) -> Floats:
    """The time of the first packet of a flow to its target: propagation, and storing it at every switch."""
    nic = ports.bytes_per_ns[flows.path[:, 0]]
    found: Floats = _sum(ports.delay_ns, flows.path) + (flows.hops - 1) * ports.packet_bytes / nic
    return found


def _sum(per_port: Floats, path: NDArray[np.int32]) -> Floats:
    total: Floats = np.where(path != NO_PORT, per_port[path], 0.0).sum(axis=1)
    return total
