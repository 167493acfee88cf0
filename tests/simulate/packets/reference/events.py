"""Time in ticks, and the events of a run in their order."""

import heapq
from collections.abc import Callable, Sequence
from enum import IntEnum
from fractions import Fraction
from math import gcd, inf, lcm


class Order(IntEnum):
    """The order of events of one tick."""

    CUT, INCREASE, PAUSE, ARRIVAL, REPORT, TIMEOUT, OF_CLASS, SENT, WAKE, START = range(10)


END_OF_PAUSE, REPETITION, EMPTYING = range(3)  # events of a port's class, in their order


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
        self._looks: list[tuple[int, int, Callable[[], int]]] = []

    def wire(self, size: int, gbps: float) -> int:
        """The ticks of a packet on a link."""
        return int(size * Fraction(8) / Fraction(str(gbps)) / self.tick_ns)

    def at(self, time: int, order: Order, place: tuple[int, ...], action: Callable[[], None]) -> None:
        """Schedule an event."""
        assert time >= self.now
        heapq.heappush(self._heap, (time, order, place, self._count, action))
        self._count += 1

    def look(self, time: int, action: Callable[[], int]) -> None:
        """Do something after all events of a tick, and again after the ticks that it returns, if these are not 0."""
        heapq.heappush(self._looks, (time, self._count, action))
        self._count += 1

    def run(self, stop: int, done: Callable[[], bool]) -> None:
        """Run until a time, or until `done`."""
        while not done() and min(self._next_event, self._next_look) <= stop:
            if self._next_event <= self._next_look:
                self.now, _, _, _, action = heapq.heappop(self._heap)
                action()
            else:
                self._look()

    @property
    def _next_event(self) -> float:
        return self._heap[0][0] if self._heap else inf

    @property
    def _next_look(self) -> float:
        return self._looks[0][0] if self._looks else inf

    def _look(self) -> None:
        self.now = self._looks[0][0]
        due = []
        while self._next_look == self.now:
            due.append(heapq.heappop(self._looks)[2])
        for action in due:
            if period := action():
                self.look(self.now + period, action)
