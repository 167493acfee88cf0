"""A whole run: stretches of the event loop, and between them what looks at the network or changes it."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from fabricgen.results import PfcStorm
from fabricgen.simulate.packets.failing import Failing
from fabricgen.simulate.packets.freeze import FreezeWatch, Queue
from fabricgen.simulate.packets.network import Network, build
from fabricgen.simulate.packets.queues import port_buffers
from fabricgen.simulate.packets.advance import advance_to
from fabricgen.simulate.packets.watchdog import SwitchWatchdog
from fabricgen.simulate.scenario import Scenario, Watchdog


class Observer(Protocol):
    """Looks at the network, `first` ticks after the beginning for the first time, and every `period` from then on."""

    @property
    def period(self) -> int:
        """Ticks; 0: only once."""

    @property
    def first(self) -> int:
        """Ticks."""

    def look(self, network: Network) -> None:
        """Now."""

    def close(self) -> None:
        """The run is over."""


@dataclass
class Finished:
    """A run that is over."""

    network: Network
    freeze: FreezeWatch
    storms: list[PfcStorm]


class _Agenda:
    """What is to be done between stretches, in the order of time."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Observer]] = []
        self._number = count()

    def add(self, observer: Observer, time: int | None = None) -> None:
        """At its first time, or at one that is given."""
        heapq.heappush(self._heap, (observer.first if time is None else time, next(self._number), observer))

    @property
    def next(self) -> int:
        """When the next is due."""
        return self._heap[0][0]

    def do(self, network: Network) -> None:
        """All that is due."""
        while self._heap and self._heap[0][0] <= network.now:
            time, _, observer = heapq.heappop(self._heap)
            observer.look(network)
            if observer.period:
                self.add(observer, time + observer.period)


def run(
    scenario: Scenario,
    seed: int = 1,
    observers: Callable[[Network], Sequence[Observer]] = lambda _: (),
    enough: Callable[[FreezeWatch], bool] = lambda _: False,
) -> Finished:
    """Simulate a scenario up to the end of its flows, to its `stop_ns`, until nothing can happen any more, or until
    what was seen of freezes is `enough`."""
    network = build(scenario, seed)
    agenda, freeze = _Agenda(), FreezeWatch(network)
    watchdogs, others = _watchdogs(network), observers(network)
    failures = [Failing(network, failure) for failure in scenario.failures]
    everyone: list[Observer] = [*failures, *watchdogs, *others, freeze]
    for each in everyone:
        agenda.add(each)
    stop = scenario.stop_ns * network.ticks_per_ns
    done = idle = False
    while not (done or idle or enough(freeze)) and network.now < stop:
        moved = _moved(network)
        done = advance_to(network, min(stop, agenda.next))
        if not done:
            agenda.do(network)
        idle = not (watchdogs or failures) and _over(network, moved, freeze)
    if idle and not done:
        freeze.look(network)
        freeze.look(network)
    for each in others:
        each.close()
    return Finished(network, freeze, [storm for each in watchdogs for storm in each.storms])


def _watchdogs(network: Network) -> list[SwitchWatchdog]:
    guarded: dict[tuple[str, Watchdog], list[Queue]] = {}
    for lane, priority in enumerate(network.classes):
        for port, buffers in enumerate(port_buffers(network.scenario, priority)):
            if buffers and buffers.watchdog:
                guarded.setdefault((network.ends[port][0], buffers.watchdog), []).append((port, lane))
    switches = list(dict.fromkeys(node for node, _ in guarded))
    return [
        SwitchWatchdog(network, queues, settings, switches.index(node), len(switches))
        for (node, settings), queues in guarded.items()
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
