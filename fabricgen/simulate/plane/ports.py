"""What congestion is computed on: ports with the priority groups they feed, and flows on fixed paths.

A port is one direction of a link, seen from the sender; packets of one priority wait there in one FIFO. At its far end
a switch counts what came in by it: that is the port's priority group (PG), whose filling pauses the port. Ports of
hosts (NICs) send into the network; ports towards hosts end it and are never paused.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NO_SWITCH = -1
NO_PORT = -1


@dataclass(frozen=True)
class Ports:
    """All ports of a network. Arrays are per port but for `pool_bytes`, what each switch shares between its groups.

    `switch` is the switch whose PG the port feeds, NO_SWITCH where that is a host. `name_of` gives a port's
    (node, port), `peer_of` the (node, port) at its far end.
    """

    bytes_per_ns: Floats
    delay_ns: Floats
    switch: Ints
    is_nic: Flags
    alpha: Floats
    reserve_bytes: Floats
    pool_bytes: Floats
    name_of: Callable[[int], tuple[str, str]] = field(repr=False)
    peer_of: Callable[[int], tuple[str, str]] = field(repr=False)
    packet_bytes: int = 4178
    ack_bytes: float = 0.0  # on the way back for every packet; 0 where adapters merge them
    xon_offset_bytes: Floats | float = 0.0  # how far below its threshold a group lets its port go on
    response_bytes: Floats | float = 0.0  # what a port still sends while it makes up its mind to obey a pause

    def __len__(self) -> int:
        return len(self.switch)

    @cached_property
    def reaction_bytes(self) -> Floats:
        """What a port still sends between the decision to pause it and its effect: a round trip, two packets, its
        response."""
        round_trip = 2 * self.delay_ns + 2 * self.packet_bytes / self.bytes_per_ns
        reaction: Floats = self.bytes_per_ns * round_trip + self.response_bytes
        return reaction


@dataclass(frozen=True)
class Flows:
    """Messages on their paths. `path` (flows x hops) holds ports, the NIC first, NO_PORT behind the last; `back` is the
    way of the acknowledgements, from the receiver's NIC on. `bytes` are what the wire carries, headers included."""

    source: Ints  # hosts' numbers
    target: Ints
    bytes: Floats
    start_ns: Floats
    path: NDArray[np.int32]
    back: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.bytes)

    @cached_property
    def hops(self) -> Ints:
        """Ports on each path."""
        hops: Ints = (self.path != NO_PORT).sum(axis=1)
        return hops

    def only(self, chosen: Ints | Flags) -> "Flows":
        """Some of the flows."""
        back = None if self.back is None else self.back[chosen]
        return Flows(
            self.source[chosen], self.target[chosen], self.bytes[chosen], self.start_ns[chosen], self.path[chosen], back
        )


def latency_ns(ports: Ports, flows: Flows) -> Floats:
    """What a flow takes beyond its bytes at its rate: propagation, storing a packet at every switch, the last
    acknowledgement's way back."""
    nic = ports.bytes_per_ns[flows.path[:, 0]]
    there = _sum(ports.delay_ns, flows.path) + (flows.hops - 1) * ports.packet_bytes / nic
    if flows.back is None:
        return there + _sum(ports.delay_ns, flows.path)
    acks: Floats = (flows.back != NO_PORT).sum(axis=1) * ports.ack_bytes / nic
    return there + _sum(ports.delay_ns, flows.back) + acks


def _sum(per_port: Floats, path: NDArray[np.int32]) -> Floats:
    total: Floats = np.where(path != NO_PORT, per_port[path], 0.0).sum(axis=1)
    return total


@dataclass(frozen=True)
class Crossings:
    """Flows by the ports they cross: entry e is flow `flow[e]` at port `ports[port[e]]`, sorted by port. `onward[e]`
    and `before[e]` are the entries of the flow's next and last port, `size` where there is none; `first` and `last` are
    each flow's entries at its NIC and at its last port. `starts` cuts the entries into ports. Only ports that some flow
    crosses are there."""

    ports: Ints
    port: Ints
    flow: Ints
    onward: Ints
    before: Ints
    starts: Ints
    first: Ints
    last: Ints
    at: Ints  # (flows x hops) entries, `size` behind the last

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.flow)

    @cached_property
    def widths(self) -> Ints:
        """Entries of each port."""
        return np.diff(np.append(self.starts, self.size))

    def spread(self, per_port: Floats) -> Floats:
        """A value of each port for each of its entries."""
        return np.repeat(per_port, self.widths)

    def gather(self, per_entry: NDArray[np.floating]) -> Floats:
        """Sums over the entries of each port, added in float64."""
        # bincount adds one after another, as compiled loops do; reduceat does not, and rounds otherwise.
        summed = np.bincount(self.port, weights=per_entry, minlength=len(self.ports))
        return summed.astype(float, copy=False)

    def least_of_flow(self, per_port: Floats) -> Floats:
        """Each flow's smallest value over the ports of its path."""
        padded = np.append(self.spread(per_port), np.inf)
        least: Floats = padded[self.at].min(axis=1)
        return least


def crossings(flows: Flows) -> Crossings:
    """The crossings of flows, at least one."""
    used = flows.path != NO_PORT
    flow, hop = used.nonzero()
    number = flows.path[flow, hop]
    order = np.argsort(number, kind="stable")
    size = len(order)
    place = np.empty(size, np.int64)
    place[order] = np.arange(size)
    at = np.full((len(flows), flows.path.shape[1] + 1), size, np.int64)
    at[flow, hop] = place
    onward, before = np.full(size, size), np.full(size, size)
    onward[place] = at[flow, hop + 1]
    later = hop > 0
    before[place[later]] = at[flow[later], hop[later] - 1]
    ports, starts = np.unique(number[order], return_index=True)
    widths = np.diff(np.append(starts, size))
    return Crossings(
        ports=ports.astype(np.int64),
        port=np.repeat(np.arange(len(ports)), widths),
        flow=flow[order],
        onward=onward,
        before=before,
        starts=starts.astype(np.int64),
        first=at[:, 0],
        last=at[np.arange(len(flows)), flows.hops - 1],
        at=at[:, :-1],
    )
