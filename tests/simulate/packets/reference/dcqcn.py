"""DCQCN at the sender."""

from collections.abc import Mapping
from math import floor
from typing import Any

from tests.simulate.packets.reference.events import Order


class Dcqcn:
    """The rate of a flow."""

    def __init__(self, flow: Any, given: Mapping[str, Any] | None, *, on: bool) -> None:
        self.flow, self.on = flow, on
        self.clock = flow.network.clock
        self.line = self.rate = self.target = flow.line_rate
        self.alpha, self.alpha_at = 1.0, 0
        self.slowed = self.noted = self.pending = False
        self.origin = 0
        self.by_time = self.by_bytes = self.counted = 0
        self.increase_at: int | None = None
        given = given or {}
        ticks = self.clock.per_ns
        self.g = given.get("g", 0)
        self.alpha_timer = given.get("alpha_timer_ns", 1) * ticks
        self.cut_interval = given.get("rate_decrease_interval_ns", 1) * ticks
        self.increase_interval = given.get("increase_timer_ns", 1) * ticks
        self.byte_counter = given.get("byte_counter_bytes", 0)
        self.fast = given.get("fast_recovery_times", 0)
        self.additive, self.hyper = given.get("rate_ai_mbps", 0) * 1e6, given.get("rate_hai_mbps", 0) * 1e6
        self.least = given.get("min_rate_mbps", 0) * 1e6

    def notify(self) -> None:
        """A CNP arrives."""
        now = self.clock.now
        if not self.slowed:
            self.slowed, self.alpha_at, self.origin = True, now, now + 1
            self.target = self.rate
            self._cut_at(self.origin + self.cut_interval)
            return
        self._age()
        self.noted = True
        if not self.pending:
            self._cut_at(self.origin + ((now - self.origin) // self.cut_interval + 1) * self.cut_interval)

    def _cut_at(self, time: int) -> None:
        self.pending = True
        self.clock.at(time, Order.CUT, (self.flow.rank,), self._cut)

    def _age(self) -> None:
        while self.alpha_at + self.alpha_timer <= self.clock.now:
            self.alpha_at += self.alpha_timer
            self.alpha = (1 - self.g) * self.alpha + (self.g if self.noted else 0)
            self.noted = False

    def _cut(self) -> None:
        if not self.pending or self.flow.completion is not None:
            return
        now = self.clock.now
        if self.increase_at == now and self.increase_interval > self.cut_interval:
            self._increase_by_time()
        self._age()
        if self.by_time or self.by_bytes:
            self.target = self.rate
        self.rate = max(self.least, float(floor(self.rate * (1 - self.alpha / 2))))
        self.by_time = self.by_bytes = self.counted = 0
        self.pending = False
        self._increase_at(now + self.increase_interval)

    def _increase_at(self, time: int) -> None:
        self.increase_at = time
        self.clock.at(time, Order.INCREASE, (self.flow.rank,), lambda: self._increase_due(time))

    def _increase_due(self, time: int) -> None:
        if time == self.increase_at and self.flow.completion is None:
            self._increase_by_time()
            self._increase_at(time + self.increase_interval)

    def _increase_by_time(self) -> None:
        self._increase()
        self.by_time += 1

    def count(self, size: int) -> None:
        """Data is sent."""
        if self.slowed and self.byte_counter:
            self.counted += size
            if self.counted >= self.byte_counter:
                self.counted = 0
                self._increase()
                self.by_bytes += 1

    def _increase(self) -> None:
        stages = (self.by_time, self.by_bytes) if self.byte_counter else (self.by_time,)
        if min(stages) > self.fast:
            self.target = min(self.line, self.target + self.hyper)
        elif max(stages) >= self.fast:
            self.target = min(self.line, self.target + self.additive)
        self.rate = float(floor(self.rate / 2) + floor(self.target / 2))
