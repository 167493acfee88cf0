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
        clock.look(later * clock.per_ns, lambda failure=failure: _reroute(network, failure))
        clock.look(failure["at_ns"] * clock.per_ns, lambda failure=failure: _fail(network, failure))
    for storm in tree.get("storms", ()):
        begin, end = storm["at_ns"] * clock.per_ns, storm["until_ns"] * clock.per_ns
        network.nodes[storm["host"]].receiver.storms(begin, end)
    guarded = sorted(name for name, node in network.nodes.items() if node.is_switch and node.own.get("watchdog"))
    for place, name in enumerate(guarded):
        watchdog = Watchdog(network, network.nodes[name])
        clock.look(watchdog.period * (place + 1) // len(guarded), watchdog.look)


def _reroute(network: Network, failure: Mapping[str, Any]) -> int:
    for route in failure.get("routes", ()):
        network.routes[route["at"], route["to"]] = route["via"]
    network.spreading.change(failure.get("routes", ()))
    return 0


def _fail(network: Network, failure: Mapping[str, Any]) -> int:
    for ends in ((failure["a"], failure["b"]), (failure["b"], failure["a"])):
        port = network.ports[ends]
        port.down = True
        port.frames.clear()
        for lane in range(len(network.classes)):
            _empty_later(network, port, lane)
    return 0


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
