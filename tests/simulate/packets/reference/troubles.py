"""Links that go down, storms of broken NICs, and the watchdogs of switches."""

from collections.abc import Mapping
from typing import Any

from tests.simulate.packets.reference.events import EMPTYING, Order
from tests.simulate.packets.reference.network import Network, Port


def begin_troubles(network: Network) -> None:
    """Schedule the failures, storms and watchdogs of a scenario."""
    tree, clock = network.tree, network.clock
    for failure in tree.get("failures", ()):
        later = failure.get("routes_at_ns", failure["at_ns"])
        clock.look(later * clock.per_ns, Flap(network, failure, later).reroute)
        clock.look(failure["at_ns"] * clock.per_ns, Flap(network, failure, later).fail)
    for storm in tree.get("storms", ()):
        begin, end = storm["at_ns"] * clock.per_ns, storm["until_ns"] * clock.per_ns
        network.nodes[storm["host"]].receiver.storms(begin, end)
    guarded = sorted(name for name, node in network.nodes.items() if node.is_switch and node.own.get("watchdog"))
    for place, name in enumerate(guarded):
        watchdog = Watchdog(network, network.nodes[name])
        clock.look(watchdog.period * (place + 1) // len(guarded), watchdog.look)


class Flap:
    """A link that goes down, and perhaps up again. Each method does one half the first time, the other the second."""

    def __init__(self, network: Network, failure: Mapping[str, Any], rerouted_ns: int) -> None:
        self.network, self.failure, self.rerouted_ns = network, failure, rerouted_ns
        self.up_ns = failure.get("up_at_ns")
        self.again = False

    def reroute(self) -> int:
        routes = self.network.tree["routes"] if self.again else self.failure.get("routes", ())
        for route in routes:
            self.network.routes[route["at"], route["to"]] = route["via"]
        self.network.spreading.change(routes)
        return self._until(self.failure.get("routes_back_at_ns", self.up_ns), self.rerouted_ns)

    def fail(self) -> int:
        ends = self.failure["a"], self.failure["b"]
        for port in (self.network.ports[ends], self.network.ports[ends[::-1]]):
            if self.again:
                self._come_up(port)
            else:
                self._go_down(port)
        return self._until(self.up_ns, self.failure["at_ns"])

    def _until(self, end_ns: int | None, begin_ns: int) -> int:
        first, self.again = not self.again, True
        return (end_ns - begin_ns) * self.network.clock.per_ns if first and end_ns is not None else 0

    def _go_down(self, port: Port) -> None:
        port.down = True
        port.frames.clear()
        port.paused.clear()
        for lane in range(len(self.network.classes)):
            _empty_later(self.network, port, lane)

    def _come_up(self, port: Port) -> None:
        port.down = False
        for lane in range(len(self.network.classes)):
            if port.node.pauses(port, lane):
                port.send_frame(lane, pause=True)
        port.look_soon()


def _empty_later(network: Network, port: Port, lane: int) -> None:
    place = (port.rank, lane, EMPTYING)
    network.clock.at(network.clock.now, Order.OF_CLASS, place, lambda: port.node.empty(port, lane))


class Watchdog:
    """The watchdog of a switch, which looks at all its queues once in a poll."""

    def __init__(self, network: Network, switch: Any) -> None:
        self.network, self.switch = network, switch
        self.own = switch.own["watchdog"]
        self.period = self.own["poll_ns"] * network.clock.per_ns
        self.sent: dict[Any, int | None] = {}
        self.heard: dict[Any, int] = {}
        self.stuck: dict[Any, int] = {}
        self.quiet: dict[Any, int] = {}
        self.storming: set[Any] = set()

    def look(self) -> int:
        """One poll."""
        for port, lane in self.switch.queues:
            if self.network.priorities[lane] in self.network.implicit:
                continue
            if (port, lane) in self.storming:
                self._restore(port, lane)
            else:
                self._detect(port, lane)
            self.heard[port, lane] = port.heard[lane]
        return self.period

    def _detect(self, port: Port, lane: int) -> None:
        at, queue, now = (port, lane), self.switch.queues[port, lane], self.network.clock.now
        paused = lane in port.paused and port.since[lane] <= now - self.period
        still = paused and self.sent.get(at) == queue.left
        self.stuck[at] = self.stuck.get(at, 0) + self.own["poll_ns"] if still else 0
        self.sent[at] = queue.left
        if self.stuck[at] < self.own["detection_ns"] or not queue.bytes:
            return
        self.storming.add(at)
        self.quiet[at] = 0
        action = self.own.get("action", "drop")
        if action == "drop":
            port.blocked.add(lane)
            _empty_later(self.network, port, lane)
        elif action == "forward":
            port.deaf.add(lane)
            port.paused.pop(lane, None)
            port.look_soon()

    def _restore(self, port: Port, lane: int) -> None:
        at = (port, lane)
        self.quiet[at] = self.quiet[at] + self.own["poll_ns"] if port.heard[lane] == self.heard[at] else 0
        if self.quiet[at] >= self.own["restoration_ns"]:
            port.blocked.discard(lane)
            port.deaf.discard(lane)
            self.storming.discard(at)
            self.sent[at], self.stuck[at] = None, 0
