"""Time in ticks, and the events of a run in their order."""

import heapq
from collections.abc import Callable, Sequence
from enum import IntEnum
from fractions import Fraction
from math import gcd, lcm


class Order(IntEnum):
    """The order of events of one tick."""

    CUT, INCREASE, PAUSE, ARRIVAL, REPORT, TIMEOUT, END_OF_PAUSE, REPETITION, SENT, WAKE, START = range(11)


class Clock:
    """A heap of events."""

    def __init__(self, speeds: Sequence[float]) -> None:
        times = [Fraction(8, 1) / Fraction(str(speed)) for speed in speeds] + [Fraction(1)]  # ns
        denominator = lcm(*(time.denominator for time in times))
        self.tick_ns = Fraction(gcd(*(int(time * denominator) for time in times)), denominator)
        self.per_ns = int(1 / self.tick_ns)
        self.now = 0
        self._heap: list[tuple[int, int, tuple[int, ...], int, Callable[[], None]]] = []
        self._count = 0

    def wire(self, size: int, gbps: float) -> int:
        """The ticks of a packet on a link."""
        return int(size * Fraction(8) / Fraction(str(gbps)) / self.tick_ns)

    def at(self, time: int, order: Order, place: tuple[int, ...], action: Callable[[], None]) -> None:
        """Schedule an event."""
        assert time >= self.now
        heapq.heappush(self._heap, (time, order, place, self._count, action))
        self._count += 1

    def run(self, stop: int, done: Callable[[], bool]) -> None:
        """Run until a time, or until `done`."""
        while self._heap and not done() and self._heap[0][0] <= stop:
            self.now, _, _, _, action = heapq.heappop(self._heap)
            action()
