"""Completion times packet by packet, where flows are a few packets and nothing pauses.

The order of packets decides when a flow of a few packets ends, and a fluid has none. Without pauses a network is FIFOs
of whole packets, which are followed here one by one: NICs send acknowledgements first, then their flows in turn;
switches store each packet, then forward it. Events of the same time are in the order of docs/packet-model.md. A group
that would pause ends this: then pauses matter as well as the order, and `simulate packets` has both.
"""

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from fabricgen.simulate.plane.ports import NO_POOL, NO_PORT, Floats, Flows, Ints, Ports

FEW = 16  # packets; with more, the order changes times by less than 3 %, as much as the rest of the model
MOST_HOPS = 100_000  # of packets and acknowledgements: some tenths of a second
_FS = 1_000_000  # femtoseconds of a nanosecond: the time of a byte is whole on links of 25 to 800 Gb/s
_ARRIVES, _IS_FREE, _STARTS = range(3)  # the order of events of the same time


@dataclass(frozen=True)
class OrderedTimes:
    """Each flow's completion, and the arrival of its data with an acknowledgement that does not wait."""

    time_ns: Floats
    delivered_ns: Floats


def packets_of(ports: Ports, flows: Flows) -> Floats:
    """The number of packets of each flow."""
    packets: Floats = np.ceil(flows.bytes / ports.packet_bytes - 1e-9)
    return packets


def ordered_times(ports: Ports, flows: Flows) -> OrderedTimes | None:
    """The times of all flows; None if no flow is as short as FEW packets, if there are too many hops of packets, or if
    a group would pause its port."""
    packets = packets_of(ports, flows).astype(np.int64)
    back = 0 if flows.back is None or not ports.ack_bytes else (flows.back != NO_PORT).sum(axis=1)
    if packets.min(initial=FEW + 1) > FEW or int((packets * (flows.hops + back)).sum()) > MOST_HOPS:
        return None
    return _Replay(ports, flows, packets).run()


class _Packet:
    """A packet of a flow, or the acknowledgement of one, on its way over `path`; `came_by` is the port that sent it."""

    __slots__ = ("came_by", "flow", "hop", "is_ack", "is_last", "path", "size")

    def __init__(self, flow: int, path: list[int], size: int, *, is_ack: bool, is_last: bool) -> None:
        self.flow, self.path, self.size, self.is_ack, self.is_last = flow, path, size, is_ack, is_last
        self.hop, self.came_by = 0, NO_PORT


class _Replay:
    def __init__(self, ports: Ports, flows: Flows, packets: Ints) -> None:
        self.ports, self.flows = ports, flows
        self.left = packets.tolist()
        self.there = _paths(flows.path)
        self.back = _paths(flows.back) if flows.back is not None and ports.ack_bytes else None
        self.ack_first = not ports.acks_wait
        self.byte_fs = np.rint(_FS / ports.bytes_per_ns).astype(np.int64).tolist()
        self.delay_fs = np.rint(ports.delay_ns * _FS).astype(np.int64).tolist()
        self.is_nic = ports.is_nic.tolist()
        self.rank = self._ranks()
        size = len(ports)
        self.busy = [False] * size
        self.data: list[deque[_Packet]] = [deque() for _ in range(size)]
        self.acks: list[deque[_Packet]] = [deque() for _ in range(size)]
        self.started: list[list[int]] = [[] for _ in range(size)]  # flows of each NIC
        self.last = [-1] * size  # place of the flow that sent last
        self.pool, self.alpha = ports.pool.tolist(), ports.alpha.tolist()
        self.static, self.reserve = ports.of_groups(ports.static_bytes).tolist(), ports.reserve_bytes.tolist()
        self.free, self.held = ports.pool_bytes.tolist(), [0.0] * size
        self.events: list[tuple[int, int, int, int, int | _Packet]] = []
        self.count = 0
        self.pauses = False
        self.time_fs, self.delivered_fs = [0] * len(flows), [0] * len(flows)

    def run(self) -> OrderedTimes | None:
        starts = np.rint(self.flows.start_ns * _FS).astype(np.int64).tolist()
        for place, flow in enumerate(self._by_name()):
            self._schedule(starts[flow], _STARTS, place, flow)
        while self.events and not self.pauses:
            now, kind, _, _, what = heappop(self.events)
            if isinstance(what, _Packet):
                self._arrive(now, what)
            elif kind == _IS_FREE:
                self.busy[what] = False
                self._send(now, what)
            else:
                nic = self.there[what][0]
                self.started[nic].append(what)
                self._send(now, nic)
        if self.pauses:
            return None
        time, delivered = (np.array(each) - starts for each in (self.time_fs, self.delivered_fs))
        return OrderedTimes(time / _FS, delivered / _FS)

    def _ranks(self) -> list[int]:
        """The place of each used port by the names of its ends."""
        named = self.ports.name_of, self.ports.peer_of
        used = sorted({port for path in (*self.there, *(self.back or ())) for port in path})
        rank = [0] * len(self.ports)
        for place, port in enumerate(sorted(used, key=lambda port: [of(port) for of in named])):
            rank[port] = place
        return rank

    def _by_name(self) -> list[int]:
        """The flows in the order of their ends, start and size."""
        keys = [
            (self.ports.name_of(path[0]), self.ports.peer_of(path[-1]), start, size)
            for path, start, size in zip(
                self.there, self.flows.start_ns.tolist(), self.flows.bytes.tolist(), strict=True
            )
        ]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def _schedule(self, time: int, kind: int, place: int, what: int | _Packet) -> None:
        self.count += 1
        heappush(self.events, (time, kind, place, self.count, what))

    def _arrive(self, now: int, packet: _Packet) -> None:
        came_by = packet.path[packet.hop]
        if packet.hop + 1 < len(packet.path):
            packet.hop += 1
            packet.came_by = came_by
            if not (packet.is_ack and self.ack_first):
                self._hold(came_by, packet.size)
            self._queue(now, packet.path[packet.hop], packet)
        elif packet.is_ack:
            self.time_fs[packet.flow] = max(self.time_fs[packet.flow], now)
            self._send(now, self.there[packet.flow][0])
        else:
            self._deliver(now, packet)

    def _deliver(self, now: int, packet: _Packet) -> None:
        flow = packet.flow
        back = self.back[flow] if self.back else []
        if packet.is_last:
            alone = sum(self.delay_fs[port] + int(self.ports.ack_bytes * self.byte_fs[port]) for port in back)
            self.delivered_fs[flow] = now + (alone or sum(self.delay_fs[port] for port in self.there[flow]))
            if not back:
                self.time_fs[flow] = self.delivered_fs[flow]
        if back:
            size = int(self.ports.ack_bytes)
            self._queue(now, back[0], _Packet(flow, back, size, is_ack=True, is_last=packet.is_last))

    def _queue(self, now: int, port: int, packet: _Packet) -> None:
        apart = packet.is_ack and (self.ack_first or self.is_nic[port])
        (self.acks if apart else self.data)[port].append(packet)
        self._send(now, port)

    def _send(self, now: int, port: int) -> None:
        """Send the next packet of a port, if it is idle."""
        if self.busy[port]:
            return
        packet = self._next(port)
        if packet is None:
            return
        if packet.came_by != NO_PORT and not (packet.is_ack and self.ack_first):
            self._hold(packet.came_by, -packet.size)
        self.busy[port] = True
        end = now + packet.size * self.byte_fs[port]
        self._schedule(end, _IS_FREE, self.rank[port], port)
        self._schedule(end + self.delay_fs[port], _ARRIVES, self.rank[port], packet)

    def _next(self, port: int) -> _Packet | None:
        for waiting in (self.acks[port], self.data[port]):
            if waiting:
                return waiting.popleft()
        started = self.started[port]
        for step in range(1, len(started) + 1):
            place = (self.last[port] + step) % len(started)
            flow = started[place]
            if self.left[flow]:
                self.last[port] = place
                return self._packet(flow)
        return None

    def _packet(self, flow: int) -> _Packet:
        self.left[flow] -= 1
        size, is_last = self.ports.packet_bytes, self.left[flow] == 0
        if is_last:
            size = int(np.ceil(self.flows.bytes[flow] - 1e-6)) % size or size
        return _Packet(flow, self.there[flow], size, is_ack=False, is_last=is_last)

    def _hold(self, port: int, size: int) -> None:
        """Add bytes to the group that a port feeds, and find whether the group would pause the port."""
        pool = self.pool[port]
        if pool == NO_POOL:
            return
        before = max(0.0, self.held[port] - self.reserve[port])
        self.held[port] += size
        shared = max(0.0, self.held[port] - self.reserve[port])
        self.free[pool] -= shared - before
        if size > 0 and shared >= self.static[port] + self.alpha[port] * max(0.0, self.free[pool]):
            self.pauses = True


def _paths(table: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> list[list[int]]:
    return [[port for port in row if port != NO_PORT] for row in table.tolist()]
