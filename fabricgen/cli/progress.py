"""The progress of a verb, for people at a terminal: lines with true times, and a bar for long work."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from fabricgen.api.judgement import Progress
from fabricgen.cli.live_bar import LiveBar
from fabricgen.cli.settings import Settings, interactive
from fabricgen.quantities import time_text

if TYPE_CHECKING:
    from fabricgen.simulate.packets.network import PacketNetwork
    from fabricgen.simulate.packets.simulation import Observer

T = TypeVar("T")

_STRETCH_NS = 20_000


class TerminalProgress(Progress):
    """Prints to standard error. The time of a step counts from the step before, or from the creation.

    Bars are drawn only on terminals with colors, so that all other output stays free of escape sequences.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._since = settings, time.perf_counter()
        self._draws = interactive() and settings.paints(sys.stderr) and not settings.quiet
        self._forks = settings.jobs > 1
        self._bar: LiveBar | None = None

    def step(self, name: str, text: str) -> None:
        """Print the step with its time."""
        now = time.perf_counter()
        self._settings.say(f"{name:<10}{now - self._since:7.2f} s  {text}")
        self._since = now

    def note(self, text: str) -> None:
        """Print the line."""
        self._settings.say(text)

    @contextmanager
    def stage(self, label: str, total: int = 0) -> Iterator[None]:
        """A moving bar while the work runs. Processes that are forked beside its thread may hang: with several, it
        moves as items are done."""
        if not self._draws or (self._forks and not total):
            yield
            return
        with LiveBar(label, total, has_thread=not self._forks) as self._bar:
            try:
                yield
            finally:
                self._bar = None

    def track(self, items: Iterable[T], count: int, label: str) -> Iterable[T]:
        """The items behind a bar: that of the stage, if one is under way."""
        with self.stage(label, count) if self._bar is None else self._bar.counting(label, count):
            for number, item in enumerate(items):
                if self._bar is not None:
                    self._bar.reach(number)
                yield item

    def watch(self, network: "PacketNetwork") -> "Sequence[Observer]":
        """The bar of a packet run."""
        return [PacketProgress(network)] if self._draws else []


class PacketProgress:
    """The packet hops, the time left, simulated time, finished flows, and packet hops per second."""

    def __init__(self, network: "PacketNetwork") -> None:
        self.period = self.first = _STRETCH_NS * network.ticks_per_ns
        self._begun = time.perf_counter()
        self._bar = LiveBar("simulating", max(1, network.expected_hops)).__enter__()

    def look(self, network: "PacketNetwork") -> None:
        """Move the bar."""
        clock, simulated_ns = network.run.clock[0], network.ns(network.now)
        hops = int(clock["transmissions"])
        rate = hops / (time.perf_counter() - self._begun)
        flows = f"{clock['finished']}/{len(network.run.flows)} flows"
        self._bar.reach(hops, f"{time_text(simulated_ns)}, {flows}, {rate / 1e6:.1f} M hops/s")

    def close(self) -> None:
        """Remove the bar."""
        self._bar.__exit__(None, None, None)
