"""Ports and packets, and a whole run of a scenario."""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tests.simulate.packets.reference.events import END_OF_PAUSE, Clock, Order


@dataclass
class Packet:
    """A packet on its way to the host `goal`."""

    kind: str  # data, trimmed, ack, nak, refusal, cnp
    flow: Any
    number: int
    size: int
    lane: int
    goal: str
    marked: bool = False
    came_by: Any = None
    of: int = 0  # the packet that a selective answer is about


class Node(Protocol):
    """A switch or a host."""

    def receive(self, port: "Port", packet: Packet) -> None:
        """A packet arrives."""

    def next_packet(self, port: "Port") -> Packet | None:
        """The next packet of a port."""

    def after_sending(self, packet: Packet) -> None:
        """The packet has been handed to the port."""

    def obeys(self, port: "Port", lane: int) -> bool:
        """Whether a pause of a class has an effect."""

    def pauses(self, port: "Port", lane: int) -> bool:
        """Whether the node pauses a class at a port."""


class Port:
    """One end of a cable."""

    def __init__(self, network: "Network", names: tuple[str, str], link: Mapping[str, Any]) -> None:
        self.network, self.names = network, names
        self.gbps = link["speed_gbps"]
        self.delay = link["delay_ns"] * network.clock.per_ns
        self.peer: Port
        self.node: Node
        self.rank = 0
        self.frames: deque[tuple[int, bool]] = deque()  # pause frames to send
        self.busy = False
        self.paused: dict[int, int] = {}  # class -> when the pause ends
        self.since: dict[int, int] = {}  # class -> when its present pause began
        self.heard: Counter[int] = Counter()  # pauses by class
        self.down = False
        self.blocked: set[int] = set()  # classes that the watchdog drops
        self.deaf: set[int] = set()  # classes whose pauses the watchdog ignores
        pfc, tree = network.pfc, network.tree
        quanta = pfc.get("pause_quanta", 65_535)
        self.pause_time = network.clock.wire(64, self.gbps) * quanta
        self.refresh = pfc.get("refresh_ns", 0) * network.clock.per_ns or self.pause_time // 2
        response = link.get("response_ns")
        self.response = (pfc.get("response_ns", 0) if response is None else response) * network.clock.per_ns
        self.header = tree["transport"]["pfc_frame_bytes"]

    def send_frame(self, lane: int, *, pause: bool) -> None:
        """Queue a pause frame, if the link is up."""
        if not self.down:
            self.frames.append((lane, pause))

    def look(self) -> None:
        """Send the next packet, if the port is idle."""
        if self.busy or self.down:
            return
        clock = self.network.clock
        if self.frames:
            lane, pause = self.frames.popleft()
            arrives = self._occupy(self.header) + self.peer.response
            clock.at(arrives, Order.PAUSE, (self.rank,), lambda: self.peer.obey(lane, pause=pause))
            return
        packet = self.node.next_packet(self)
        if packet is None:
            return
        arrives = self._occupy(packet.size)
        clock.at(arrives, Order.ARRIVAL, (self.rank,), lambda: self.peer._arrive(packet))
        self.node.after_sending(packet)

    def _arrive(self, packet: Packet) -> None:
        if self.down:
            self.network.lost(packet)
        else:
            self.node.receive(self, packet)

    def look_soon(self) -> None:
        """Look as at the end of a transmission of this tick."""
        if not self.busy:
            self.network.clock.at(self.network.clock.now, Order.SENT, (self.rank,), self.look)

    def _occupy(self, size: int) -> int:
        clock = self.network.clock
        ends = clock.now + clock.wire(size, self.gbps)
        self.busy = True
        self.network.transmissions += 1
        clock.at(ends, Order.SENT, (self.rank,), self._idle)
        return ends + self.delay

    def _idle(self) -> None:
        self.busy = False
        self.look()

    def obey(self, lane: int, *, pause: bool) -> None:
        """A pause frame takes effect."""
        clock = self.network.clock
        if self.down:
            return
        self.network.pauses.append(((clock.now - self.response) // clock.per_ns, self.names[0], int(pause)))
        if not pause:
            self.paused.pop(lane, None)
            self.look()
            return
        self.heard[lane] += 1
        if self.node.obeys(self, lane) and lane not in self.deaf:
            if lane not in self.paused:
                self.since[lane] = clock.now
            ends = self.paused[lane] = clock.now + self.pause_time
            if self.pause_time:
                place = (self.rank, lane, END_OF_PAUSE)
                clock.at(ends, Order.OF_CLASS, place, lambda: self._end_pause(lane, ends))

    def _end_pause(self, lane: int, ends: int) -> None:
        if self.paused.get(lane) == ends:
            del self.paused[lane]
            self.look()


class Network:
    """A scenario, and what a run of it counts."""

    def __init__(self, tree: Mapping[str, Any], seed: int = 1) -> None:
        from tests.simulate.packets.reference.host import Flow, Host
        from tests.simulate.packets.reference.spreading import Spreading
        from tests.simulate.packets.reference.switch import Switch
        from tests.simulate.packets.reference.troubles import begin_troubles

        self.tree, self.seed = tree, seed
        self.clock = Clock([link["speed_gbps"] for link in tree["links"]])
        self.pfc = tree.get("pfc", {})
        self.drops = self.transmissions = self.completed = 0
        self.pauses: list[tuple[int, str, int]] = []
        transport = tree["transport"]
        used = {flow.get("priority", 3) for flow in tree["flows"]}
        defined = {one["priority"]: one for one in tree.get("classes", ())}
        self.cnp_priority = transport.get("cnp_priority", 6)
        apart = transport["congestion_control"] == "dcqcn" or not transport["ack_lossless"]
        self.trimming = tree.get("trimming")
        own = ({self.cnp_priority} if apart else set()) | ({self.trimming["priority"]} if self.trimming else set())
        self.priorities = sorted(used | own)
        self.implicit = own - used - set(defined)
        self.classes = [
            defined.get(one, {"lossless": False, "scheduler": "strict"} if one in self.implicit else {})
            for one in self.priorities
        ]
        self.ports: dict[tuple[str, str], Port] = {}
        for link in tree["links"]:
            one, other = (Port(self, (a, b), link) for a, b in ((link["a"], link["b"]), (link["b"], link["a"])))
            one.peer, other.peer = other, one
            self.ports[one.names], self.ports[other.names] = one, other
        for rank, names in enumerate(sorted(self.ports)):
            self.ports[names].rank = rank
        self.nodes: dict[str, Any] = {
            node["name"]: Host(self, node) if node["kind"] == "host" else Switch(self, node) for node in tree["nodes"]
        }
        for (name, _), port in self.ports.items():
            port.node = self.nodes[name]
            self.nodes[name].add(port)
        for link in tree["links"]:
            for end, far in (("a", "b"), ("b", "a")):
                if self.nodes[link[end]].is_switch:
                    self.nodes[link[end]].configure(self.ports[link[end], link[far]], link.get(f"{end}_buffers", {}))
        for node in self.nodes.values():
            node.begin()
        routes = {(route["at"], route["to"]): route["via"] for route in tree["routes"]}
        self.spreading = Spreading(self)
        self.flows = [Flow(self, flow, routes) for flow in tree["flows"]]
        self.routes = routes
        begin_troubles(self)
        for rank, flow in enumerate(sorted(self.flows, key=lambda flow: flow.name)):
            flow.rank = rank
            flow.begin()

    def run(self) -> "Network":
        """Run until all flows are complete, or until the end of the scenario."""
        self.clock.run(self.tree["stop_ns"] * self.clock.per_ns, lambda: self.completed == len(self.flows))
        return self

    def lane(self, priority: int) -> int:
        """The place of a priority among the classes."""
        return self.priorities.index(priority)

    def lost(self, packet: Packet) -> None:
        """A packet is dropped."""
        self.drops += 1
        if packet.kind != "cnp":
            packet.flow.report_loss()

    @property
    def times_ns(self) -> list[int | None]:
        """The completion time of each flow."""
        return [None if flow.completion is None else flow.completion // self.clock.per_ns for flow in self.flows]
