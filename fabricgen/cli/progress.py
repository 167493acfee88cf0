"""The progress of a verb, for people at a terminal: lines with times, a bar, and the state of a packet run."""

import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from fabricgen.api.judgement import Progress
from fabricgen.cli.settings import Settings, interactive

if TYPE_CHECKING:
    from fabricgen.simulate.packets.network import Network
    from fabricgen.simulate.packets.simulation import Observer

T = TypeVar("T")

_STRETCH_NS = 20_000
_LEAST_S = 0.2
_BAR = 20  # characters


class TerminalProgress(Progress):
    """Prints to standard error. The time of a step counts from the step before, or from the creation."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._since = settings, time.perf_counter()

    def step(self, name: str, text: str) -> None:
        """Print the step with its time."""
        now = time.perf_counter()
        self._settings.say(f"{name:<10}{text:<80}{now - self._since:7.2f} s")
        self._since = now

    def note(self, text: str) -> None:
        """Print the line."""
        self._settings.say(text)

    def track(self, items: Iterable[T], count: int) -> Iterable[T]:
        """The items behind a progress bar, if standard error is a terminal."""
        if not interactive() or self._settings.quiet:
            yield from items
            return
        with click.progressbar(items, length=count, label="rendering", file=sys.stderr) as bar:
            yield from bar

    def watch(self, network: "Network") -> "Sequence[Observer]":
        """The line of a packet run, if standard error is a terminal."""
        return [PacketProgress(network)] if interactive() and not self._settings.quiet else []


class PacketProgress:
    """One line: a bar of the packet hops, the time left, simulated time, finished flows, and packet hops per second."""

    def __init__(self, network: "Network") -> None:
        self.period = self.first = _STRETCH_NS * network.ticks_per_ns
        self._begun = self._written = time.perf_counter()
        self._expected = max(1, network.expected_hops)

    def look(self, network: "Network") -> None:
        """Write the line, a few times a second at most."""
        now = time.perf_counter()
        if now - self._written < _LEAST_S:
            return
        self._written = now
        clock, simulated_ns = network.run.clock[0], network.ns(network.now)
        rate = max(1, clock["transmissions"]) / (now - self._begun)
        share = min(1.0, clock["transmissions"] / self._expected)
        left = max(0, self._expected - int(clock["transmissions"])) / rate
        bar = "#" * round(_BAR * share)
        flows = f"{clock['finished']}/{len(network.run.flows)} flows"
        text = f"[{bar:-<{_BAR}}] {share:.0%}, {left:.0f} s left, {simulated_ns / 1000:.0f} us, {flows}"
        text += f", {rate / 1e6:.1f} M hops/s"
        sys.stderr.write(f"\r{text:<100}")

    def close(self) -> None:
        """Clear the line."""
        if self._written != self._begun:
            sys.stderr.write(f"\r{'':<100}\r")
