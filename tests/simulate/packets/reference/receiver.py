"""Hosts that pause their switch: slow receivers, and broken NICs."""

from collections.abc import Mapping
from math import floor
from typing import Any

from tests.simulate.packets.reference.events import REPETITION, Order


class SlowReceiver:
    """What a host has received and not yet taken, and its pauses by class. A storm pauses all lossless classes."""

    def __init__(self, host: Any, node: Mapping[str, Any]) -> None:
        self.host, self.clock = host, host.network.clock
        speed = node.get("drain_gbps", 0)
        self.byte_ticks = 8 / speed * self.clock.per_ns if speed else 0.0
        self.most = node.get("receive_buffer_bytes", 65_536)
        self.backlog = self.taken_at = 0
        self.pausing: set[int] = set()
        self.timed: set[int] = set()
        self.storm = (0, 0)

    def storms(self, begin: int, end: int) -> None:
        """Pause all lossless classes from one time to another."""
        self.storm = (begin, end)
        network = self.host.network
        for lane, traffic in enumerate(network.classes):
            if traffic.get("lossless", True):
                self._look_at(begin, lane)

    def take(self, packet: Any) -> None:
        """A packet of data arrives."""
        if not self.byte_ticks:
            return
        self._drain()
        self.backlog += packet.size
        if self.backlog > self.most and packet.lane not in self.pausing:
            self._pause(packet.lane)

    def _drain(self) -> None:
        if not self.byte_ticks:
            return
        taken = floor((self.clock.now - self.taken_at) / self.byte_ticks)
        if taken >= self.backlog:
            self.backlog, self.taken_at = 0, self.clock.now
        else:
            self.backlog -= taken
            self.taken_at += floor(taken * self.byte_ticks)

    def _pause(self, lane: int) -> None:
        self.pausing.add(lane)
        self.host.port.send_frame(lane, pause=True)
        if lane in self.timed:
            return
        now, (begin, end) = self.clock.now, self.storm
        wait = end - now if begin <= now else 0
        if self.byte_ticks:
            wait = max(wait, floor((self.backlog - self.most // 2) * self.byte_ticks) + 1)
        refresh = self.host.port.refresh
        wait = min(refresh, wait) if refresh else wait
        if wait > 0:
            self.timed.add(lane)
            self._look_at(now + wait, lane)

    def _look_at(self, time: int, lane: int) -> None:
        place = (self.host.port.rank, lane, REPETITION)
        self.clock.at(time, Order.OF_CLASS, place, lambda: self._look(lane))

    def _look(self, lane: int) -> None:
        self.timed.discard(lane)
        self._drain()
        begin, end = self.storm
        if begin <= self.clock.now < end or self.backlog > self.most // 2:
            self._pause(lane)
        elif lane in self.pausing:
            self.pausing.discard(lane)
            self.host.port.send_frame(lane, pause=False)
        self.host.port.look()
