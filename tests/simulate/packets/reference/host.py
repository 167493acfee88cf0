"""Hosts: NICs, their flows, and DCQCN."""

from collections import deque
from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import Any

from tests.simulate.packets.reference.dcqcn import Dcqcn
from tests.simulate.packets.reference.events import Order
from tests.simulate.packets.reference.network import Network, Packet, Port
from tests.simulate.packets.reference.receiver import SlowReceiver
from tests.simulate.packets.reference.selective import Selective


class Host:
    """A NIC with one port."""

    is_switch = False

    def __init__(self, network: Network, node: Mapping[str, Any]) -> None:
        self.network = network
        self.receiver = SlowReceiver(self, node)
        self.port: Port
        self.flows: list[Flow] = []  # started, in order
        self.last: Flow | None = None
        self.answers: dict[int, deque[Packet]] = {lane: deque() for lane in range(len(network.classes))}

    def add(self, port: Port) -> None:
        self.port = port

    def begin(self) -> None:
        """Nothing to prepare."""

    def obeys(self, port: Port, lane: int) -> bool:
        return True

    def pauses(self, port: Port, lane: int) -> bool:
        """Whether the receiver pauses its switch."""
        return lane in self.receiver.pausing

    def after_sending(self, packet: Packet) -> None:
        """Nothing to do."""

    def receive(self, port: Port, packet: Packet) -> None:
        flow = packet.flow
        if packet.kind in ("data", "trimmed"):
            self.receiver.take(packet)
            self._answer(flow, packet)
        elif packet.kind == "cnp":
            flow.dcqcn.notify()
        else:
            flow.acknowledged(packet)
        port.look()

    def _answer(self, flow: "Flow", packet: Packet) -> None:
        now, network = self.network.clock.now, self.network
        if packet.marked and flow.dcqcn.on and (flow.noticed is None or now >= flow.noticed + flow.cnp_interval):
            flow.noticed = now
            self._queue("cnp", flow, network.lane(network.cnp_priority))
        own = network.tree["transport"]["ack_lossless"]
        lane = flow.lane if own else network.lane(network.cnp_priority)
        if flow.selective:
            self._queue(flow.selective.answer(packet), flow, lane, packet.number)
            return
        if packet.number > flow.expected or (packet.number == flow.expected and packet.kind == "trimmed"):
            if not flow.refused or packet.number == flow.expected:
                flow.refused = True
                self._queue("nak", flow, lane)
            return
        if packet.number == flow.expected:
            flow.expected += 1
            flow.refused = False
        self._queue("ack", flow, lane)

    def _queue(self, kind: str, flow: "Flow", lane: int, of: int = 0) -> None:
        size = self.network.tree["transport"]["ack_bytes"]
        self.answers[lane].append(Packet(kind, flow, flow.expected, size, lane, flow.names[0], of=of))

    def empty(self, port: Port, lane: int) -> None:
        """Drop the answers of a class that wait."""
        while self.answers[lane]:
            self.network.lost(self.answers[lane].popleft())

    def next_packet(self, port: Port) -> Packet | None:
        for lane in sorted(self.answers, reverse=True):
            if self.answers[lane] and lane not in port.paused:
                return self.answers[lane].popleft()
        now = self.network.clock.now
        begin = self.flows.index(self.last) + 1 if self.last else 0
        for flow in self.flows[begin:] + self.flows[:begin]:
            if flow.may_send and flow.lane not in port.paused and flow.available <= now:
                self.last = flow
                return flow.packet()
        return None


class Flow:
    """A message from host to host, at both of its ends."""

    def __init__(self, network: Network, tree: Mapping[str, Any], routes: Mapping[tuple[str, str], str]) -> None:
        self.network, transport = network, network.tree["transport"]
        self.host: Host = network.nodes[tree["src"]]
        self.start = tree.get("start_ns", 0) * network.clock.per_ns
        priority = tree.get("priority", 3)
        self.name = (tree["src"], tree["dst"], priority, tree.get("start_ns", 0), tree["bytes"])
        self.rank = 0
        self.lane = network.lane(priority)
        self.payload, self.header = transport["payload_bytes"], transport["header_bytes"]
        self.packets = -(-tree["bytes"] // self.payload)
        self.last_size = tree["bytes"] - (self.packets - 1) * self.payload + self.header
        self.names = tree["src"], tree["dst"]
        there = self._path(routes, *self.names)
        self.travel = sum(port.delay for port in there)
        self.sent = self.acked = self.expected = 0
        self.refused = False
        self.noticed: int | None = None
        self.cnp_interval = (transport.get("dcqcn") or {}).get("cnp_interval_ns", 0) * network.clock.per_ns
        timeout = transport.get("retransmission_timeout_ns")
        self.timeout = (1_000_000 if timeout is None else timeout) * network.clock.per_ns
        self.timer = False
        self.available = 0
        self.completion: int | None = None
        self.line_rate = there[0].gbps * 1e9
        self.selective = self._selective(transport)
        self.dcqcn = Dcqcn(self, transport.get("dcqcn"), on=transport["congestion_control"] == "dcqcn")

    def _path(self, routes: Mapping[tuple[str, str], str], source: str, target: str) -> tuple[Port, ...]:
        path = [self.network.nodes[source].port]
        while path[-1].names[1] != target:
            at = path[-1].names[1]
            if self.network.spreading.on:
                path.append(self.network.spreading.first(at, target))
                continue
            path.append(self.network.ports[at, routes[at, target]])
        return tuple(path)

    def _selective(self, transport: Mapping[str, Any]) -> Selective | None:
        order = ("go-back-n", "selective-repeat", "in-order-placement")
        given = {node["name"]: node.get("recovery") for node in self.network.tree["nodes"]}
        usual = transport.get("recovery", "go-back-n")
        weaker = min(order.index(given[name] or usual) for name in self.names)
        window = transport.get("window_packets", 1024)
        return Selective(self, in_order=weaker == 2, window=window) if weaker else None

    @property
    def may_send(self) -> bool:
        """Whether there is a packet to send."""
        return self.selective.may_send if self.selective else self.sent < self.packets

    def begin(self) -> None:
        """Schedule the start."""
        self.network.clock.at(self.start, Order.START, (self.rank,), self._start)

    def _start(self) -> None:
        self.available = self.network.clock.now
        self.host.flows.append(self)
        self.host.port.look()

    def packet(self) -> Packet:
        """The next packet, and the time of the one after it."""
        clock, size = self.network.clock, self.payload + self.header
        if self.selective:
            number = self.selective.next_number()
        else:
            number, self.sent = self.sent, self.sent + 1
        if number + 1 == self.packets:
            size = self.last_size
        packet = Packet("data", self, number, size, self.lane, self.names[1])
        interval = clock.wire(size, self.host.port.gbps)
        if self.dcqcn.rate != self.line_rate:
            interval = floor(Fraction(size * 8.0 / self.dcqcn.rate) * clock.per_ns * 10**9)
        self.available = clock.now + interval
        clock.at(self.available, Order.WAKE, (self.host.port.rank,), self.host.port.look)
        self.dcqcn.count(size)
        return packet

    def acknowledged(self, answer: Packet) -> None:
        """An ACK, or a NAK."""
        if self.selective:
            self.selective.take(answer)
        self.acked = max(self.acked, answer.number)
        self.sent = max(self.sent, self.acked)
        if self.acked >= self.packets:
            if self.completion is None:
                self.completion = self.network.clock.now - self.start
                self.network.completed += 1
        elif answer.kind == "nak" and not self.selective:
            self.sent = self.acked
            self._start_timer()

    def report_loss(self) -> None:
        """A packet of the flow is lost."""
        clock = self.network.clock
        if self.timeout:
            clock.at(clock.now + self.travel, Order.REPORT, (self.rank,), self._start_timer)

    def _start_timer(self) -> None:
        if self.timer or not self.timeout or self.completion is not None:
            return
        self.timer = True
        clock, progress = self.network.clock, self.acked
        if self.selective:
            self.selective.horizon = self.sent
        clock.at(clock.now + self.timeout, Order.TIMEOUT, (self.rank,), lambda: self._timed_out(progress))

    def _timed_out(self, progress: int) -> None:
        self.timer = False
        if self.completion is None:
            if self.selective:
                self.selective.expire()
            elif self.acked == progress:
                self.sent = self.acked
            self._start_timer()
        self.host.port.look()
