"""Switches: groups, queues, schedulers and marking."""

from collections import deque
from collections.abc import Mapping
from typing import Any

from tests.simulate.packets.reference.events import REPETITION, Order
from tests.simulate.packets.reference.network import Network, Packet, Port
from tests.simulate.packets.reference.spreading import GOLDEN, MASK, mixed


class Group:
    """A priority group."""

    def __init__(self, own: Mapping[str, Any], *, lossless: bool) -> None:
        self.reserve = own["pg_reserve_bytes"]
        self.headroom_limit = own["pg_headroom_bytes"] if lossless else 0
        self.alpha = round(own["alpha"] * 256)
        self.static = own.get("static_threshold_bytes", 0)
        self.xon, self.offset = own.get("xon_bytes", 0), own["xon_offset_bytes"]
        self.lossless = lossless
        self.used = self.headroom = 0
        self.pausing = self.repeating = False

    @property
    def shared(self) -> int:
        return max(0, self.used - self.reserve)


class Queue:
    """The packets of a class at a port, with its settings."""

    def __init__(self, own: Mapping[str, Any], traffic: Mapping[str, Any], full_packet: int) -> None:
        self.packets: deque[Packet] = deque()
        self.bytes = self.left = self.deficit = 0
        self.ecn = own.get("ecn")
        self.strict = traffic.get("scheduler") == "strict"
        self.quantum = traffic.get("weight", 1) * full_packet
        self.pool = own.get("egress_pool_bytes", 0)
        self.floor = own.get("egress_reserve_bytes", 0)
        self.alpha = round(own.get("egress_alpha", 0) * 256)
        self.fixed = own.get("egress_static_bytes", 0)
        self.trims = False

    @property
    def over(self) -> int:
        return max(0, self.bytes - self.floor)


class Switch:
    """A switch with a shared buffer."""

    is_switch = True

    def __init__(self, network: Network, node: Mapping[str, Any]) -> None:
        self.network, self.name = network, node["name"]
        self.own = {**network.tree["switch_defaults"], **node}
        self.ports: list[Port] = []
        self.groups: dict[tuple[Port, int], Group] = {}
        self.queues: dict[tuple[Port, int], Queue] = {}
        self.turn: dict[Port, int] = {}
        self.free = self.headroom_free = 0

    def add(self, port: Port) -> None:
        self.ports.append(port)

    def configure(self, port: Port, changes: Mapping[str, Any]) -> None:
        transport = self.network.tree["transport"]
        for lane, traffic in enumerate(self.network.classes):
            own = {**self.own, **changes}
            if self.network.priorities[lane] in self.network.implicit:
                own = {**own, "pg_reserve_bytes": 0, "egress_reserve_bytes": 0, "ecn": None}
            lossless = traffic.get("lossless", True) and own.get("pfc", True)
            self.groups[port, lane] = Group(own, lossless=lossless)
            full = transport["payload_bytes"] + transport["header_bytes"]
            self.queues[port, lane] = Queue(own, traffic, full)
            trimming = self.network.trimming
            moved = trimming and self.network.lane(trimming["priority"])
            self.queues[port, lane].trims = bool(trimming and own.get("trims") and lane != moved)
        self.turn[port] = len(self.network.classes) - 1

    def begin(self) -> None:
        groups = self.groups.values()
        pool = self.own.get("headroom_pool_bytes", 0)
        headroom = pool or sum(group.headroom_limit for group in groups)
        self.free = int(self.own["buffer_bytes"]) - headroom - sum(group.reserve for group in groups)
        self.headroom_free = pool or 1 << 62

    def obeys(self, port: Port, lane: int) -> bool:
        return self.groups[port, lane].lossless

    def limit(self, group: Group) -> int:
        return group.static or max(0, self.free * group.alpha // 256)

    def receive(self, port: Port, packet: Packet) -> None:
        spreading = self.network.spreading
        if spreading.on:
            out = spreading.next(self.name, packet)
        else:
            out = self.network.ports[self.name, self.network.routes[self.name, packet.goal]]
        if out.down:
            self.network.lost(packet)
            return
        taken = self._take_in(port, out, packet)
        if taken == "full" and self.queues[out, packet.lane].trims:
            self._trim(packet)
            taken = self._take_in(port, out, packet)
        if taken != "yes":
            self.network.lost(packet)
            return
        lane, size = packet.lane, packet.size
        queue, group = self.queues[out, lane], self.groups[port, lane]
        queue.bytes += size
        if group.lossless and not group.pausing and (group.headroom or group.shared >= self.limit(group)):
            group.pausing = True
            self._send_pause(port, lane)
            if not group.repeating and port.refresh:
                group.repeating = True
                self._repeat_later(port, lane)
        packet.came_by = port
        queue.packets.append(packet)
        port.look()
        out.look()

    def _take_in(self, port: Port, out: Port, packet: Packet) -> str:
        lane = packet.lane
        if not self._fits(self.queues[out, lane], lane, packet.size):
            return "full"
        if lane in out.blocked or lane in port.blocked:
            return "blocked"
        return "yes" if self._admit(self.groups[port, lane], packet.size) else "full"

    def _trim(self, packet: Packet) -> None:
        trimming = self.network.trimming
        packet.lane = self.network.lane(trimming["priority"])
        if packet.size > trimming["bytes"]:
            packet.size = trimming["bytes"]
            packet.kind = "trimmed" if packet.kind == "data" else packet.kind
            packet.marked = False

    def _fits(self, queue: Queue, lane: int, size: int) -> bool:
        if not queue.pool:
            return True
        limit = queue.fixed or (1 << 31) - 1
        if queue.alpha:
            pool = queue.pool - sum(one.over for one in self.queues.values())
            limit = max(0, pool) * queue.alpha // 256
        return queue.bytes + size <= queue.floor + limit

    def _admit(self, group: Group, size: int) -> bool:
        limit = self.limit(group)
        no_headroom = group.headroom + size > group.headroom_limit or size > self.headroom_free
        if no_headroom and group.shared + size > limit:
            return False
        if group.used + size - group.reserve > limit:
            group.headroom += size
            self.headroom_free -= size
        else:
            group.used += size
            self.free -= min(size, group.shared)
        return True

    def _release(self, group: Group, size: int) -> None:
        freed = min(group.headroom, size)
        group.headroom -= freed
        self.headroom_free += freed
        self.free += min(size - freed, group.shared)
        group.used -= size - freed

    def _send_pause(self, port: Port, lane: int) -> None:
        port.send_frame(lane, pause=True)

    def _repeat_later(self, port: Port, lane: int) -> None:
        clock = self.network.clock
        place = (port.rank, lane, REPETITION)
        clock.at(clock.now + port.refresh, Order.OF_CLASS, place, lambda: self._repeat(port, lane))

    def _repeat(self, port: Port, lane: int) -> None:
        group = self.groups[port, lane]
        group.repeating = group.pausing
        if group.pausing:
            self._send_pause(port, lane)
            self._repeat_later(port, lane)
            port.look()

    def next_packet(self, port: Port) -> Packet | None:
        lanes = range(len(self.network.classes))
        ready = [lane for lane in lanes if self.queues[port, lane].packets and lane not in port.paused]
        if not ready:
            return None
        lane = self._choose(port, ready)
        queue = self.queues[port, lane]
        packet = self._take(queue, lane)
        if not queue.packets:
            queue.deficit = 0
        queue.left += 1
        if packet.kind == "data" and queue.ecn and not packet.marked:
            packet.marked = self._marks(port, lane, queue)
        return packet

    def _take(self, queue: Queue, lane: int) -> Packet:
        packet = queue.packets.popleft()
        queue.bytes -= packet.size
        self._release(self.groups[packet.came_by, lane], packet.size)
        return packet

    def pauses(self, port: Port, lane: int) -> bool:
        """Whether a group pauses its sender."""
        return bool(self.groups[port, lane].pausing)

    def empty(self, port: Port, lane: int) -> None:
        """Drop the packets of a queue."""
        queue = self.queues[port, lane]
        while queue.packets:
            packet = self._take(queue, lane)
            self._resume(packet.came_by, lane)
            packet.came_by.look_soon()
            self.network.lost(packet)

    def _choose(self, port: Port, ready: list[int]) -> int:
        if len(ready) == 1:
            return ready[0]
        strict = [lane for lane in ready if self.queues[port, lane].strict]
        if strict:
            return max(strict)
        while True:
            lane = self.turn[port]
            queue = self.queues[port, lane]
            if lane in ready and queue.deficit >= queue.packets[0].size:
                queue.deficit -= queue.packets[0].size
                return lane
            self.turn[port] = min((one for one in ready if one > lane), default=min(ready))
            queue = self.queues[port, self.turn[port]]
            queue.deficit += queue.quantum

    def _marks(self, port: Port, lane: int, queue: Queue) -> bool:
        ecn = queue.ecn
        if queue.bytes <= ecn["kmin_bytes"]:
            return False
        if queue.bytes > ecn["kmax_bytes"]:
            return True
        share = ecn["pmax"] * (queue.bytes - ecn["kmin_bytes"]) / (ecn["kmax_bytes"] - ecn["kmin_bytes"])
        of_queue = mixed((self.network.seed + GOLDEN * (16 * port.rank + lane + 1)) & MASK)
        return (mixed((of_queue + GOLDEN * queue.left) & MASK) >> 11) * 2.0**-53 < share

    def after_sending(self, packet: Packet) -> None:
        if self._resume(packet.came_by, packet.lane):
            packet.came_by.look()

    def _resume(self, port: Port, lane: int) -> bool:
        group = self.groups[port, lane]
        bound = max(group.xon, group.reserve + self.limit(group) - group.offset)
        if not group.pausing or group.used + group.headroom > bound:
            return False
        group.pausing = False
        port.send_frame(lane, pause=False)
        return True
