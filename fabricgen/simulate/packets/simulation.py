"""A whole run: stretches of the event loop, and between them what looks at the network or changes it."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Protocol

from fabricgen.results import PfcStorm
from fabricgen.simulate.packets.failing import take_down
from fabricgen.simulate.packets.freeze import FreezeWatch
from fabricgen.simulate.packets.network import Network, build
from fabricgen.simulate.packets.run import advance_to
from fabricgen.simulate.packets.watchdog import SwitchWatchdog
from fabricgen.simulate.scenario import Scenario

Look = Callable[[Network], None]


class Observer(Protocol):
    """Looks at the network once in `period` ticks, `first` for the first time."""

    period: int
    first: int

    def look(self, network: Network) -> None:
        """Now."""


@dataclass
class Finished:
    """A run that is over. `idle` tells that nothing was left to happen."""

    network: Network
    freeze: FreezeWatch
    storms: list[PfcStorm]
    idle: bool


class _Agenda:
    """What is to be done between stretches, in the order of time."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Look, int]] = []
        self._number = count()

    def add(self, time: int, look: Look, period: int = 0) -> None:
        heapq.heappush(self._heap, (time, next(self._number), look, period))

    @property
    def next(self) -> int:
        return self._heap[0][0]

    def do(self, network: Network) -> None:
        """All that is due."""
        while self._heap and self._heap[0][0] <= network.now:
            time, _, look, period = heapq.heappop(self._heap)
            look(network)
            if period:
                self.add(time + period, look, period)


def run(
    scenario: Scenario, seed: int = 1, observers: Callable[[Network], Sequence[Observer]] = lambda _: ()
) -> Finished:
    """Simulate a scenario up to the end of its flows, to its `stop_ns`, or until nothing can happen any more."""
    network = build(scenario, seed)
    agenda = _Agenda()
    freeze = FreezeWatch(network)
    watchdogs = _watchdogs(network)
    for failure in scenario.failures:
        agenda.add(failure.at_ns * network.ticks_per_ns, partial(take_down, failure=failure))
    for observer in (*watchdogs, *observers(network)):
        agenda.add(observer.first, observer.look, observer.period)
    agenda.add(freeze.period, freeze.look, freeze.period)
    stop = scenario.stop_ns * network.ticks_per_ns
    waiting_for_more = len(watchdogs) > 0 or scenario.failures
    done = idle = False
    while not (done or idle) and network.now < stop:
        moved = _moved(network)
        done = advance_to(network, min(stop, agenda.next))
        if not done:
            agenda.do(network)
        idle = not waiting_for_more and _over(network, moved, freeze)
    if not done and idle:
        freeze.look(network)
        freeze.look(network)
    return Finished(network, freeze, [storm for each in watchdogs for storm in each.storms], idle)


def _watchdogs(network: Network) -> list[SwitchWatchdog]:
    guarded = [
        (node.name, node.buffers.watchdog)
        for node in network.scenario.nodes
        if node.buffers and node.buffers.watchdog
    ]
    return [
        SwitchWatchdog(network, name, settings, place, len(guarded)) for place, (name, settings) in enumerate(guarded)
    ]


def _moved(network: Network) -> tuple[int, int]:
    """Packets that anyone has sent besides pause frames, and flows that have begun."""
    run = network.run
    frames = int(run.clock["frames"][0])
    return int(run.clock["transmissions"][0]) - frames, int(run.flows["started"].sum())


def _over(network: Network, moved: tuple[int, int], freeze: FreezeWatch) -> bool:
    """Whether nothing will happen any more: no event is left, or nothing but pauses that a freeze repeats."""
    run = network.run
    if run.clock["pending"][0] == 0:
        return True
    return freeze.found is not None and bool(run.flows["started"].all()) and _moved(network) == moved
