"""A whole run: stretches of the event loop, with observers between them that read or change the network."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np

from fabricgen.results import PfcStorm
from fabricgen.simulate.packets.failing import failing
from fabricgen.simulate.packets.freeze import FreezeWatch, Queue
from fabricgen.simulate.packets.loop import FINISHED, FRAMES_SHORT, PACKETS_SHORT, advance
from fabricgen.simulate.packets.network import PacketNetwork, build
from fabricgen.simulate.packets.queues import buffers_by_port
from fabricgen.simulate.packets.room import with_packets
from fabricgen.simulate.packets.watchdog import SwitchWatchdog
from fabricgen.simulate.scenario import Scenario, WatchdogTimers


class Observer(Protocol):
    """Is called `first` ticks after the start, and every `period` ticks after that."""

    @property
    def period(self) -> int:
        """In ticks; 0: it is called only once."""

    @property
    def first(self) -> int:
        """In ticks."""

    def look(self, network: PacketNetwork) -> None:
        """Read or change the network."""

    def close(self) -> None:
        """The run is over."""


@dataclass
class Finished:
    """A run that has ended."""

    network: PacketNetwork
    freeze: FreezeWatch
    storms: list[PfcStorm]


class _Agenda:
    """The observers, in the order of time."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Observer]] = []
        self._number = count()

    def add(self, observer: Observer, time: int | None = None) -> None:
        """Add an observer, for its first time or for a given one."""
        heapq.heappush(self._heap, (observer.first if time is None else time, next(self._number), observer))

    @property
    def next(self) -> int:
        """The time of the next observer."""
        return self._heap[0][0]

    def call(self, network: PacketNetwork) -> None:
        """Call all observers that are due."""
        while self._heap and self._heap[0][0] <= network.now:
            time, _, observer = heapq.heappop(self._heap)
            observer.look(network)
            if observer.period:
                self.add(observer, time + observer.period)


def run(
    scenario: Scenario,
    seed: int = 1,
    observers: Callable[[PacketNetwork], Sequence[Observer]] = lambda _: (),
    enough: Callable[[FreezeWatch], bool] = lambda _: False,
    *,
    until_storm: bool = False,
) -> Finished:
    """Simulate a scenario until its flows complete, until its `stop_ns`, until nothing can happen any more, until
    the state of the freeze watch is `enough`, or `until_storm`: until a watchdog detects one."""
    network = build(scenario, seed)
    agenda, freeze = _Agenda(), FreezeWatch(network)
    watchdogs, others = _watchdogs(network), observers(network)
    failures = failing(network, scenario.failures)
    observing: list[Observer] = [*failures, *watchdogs, *others, freeze]
    for each in observing:
        agenda.add(each)
    stop = scenario.stop_ns * network.ticks_per_ns
    done = idle = False
    while not (done or idle or enough(freeze)) and network.now < stop:
        moved = _moved(network)
        done = advance_to(network, min(stop, agenda.next))
        if not done:
            agenda.call(network)
        if until_storm and any(each.storms for each in watchdogs):
            break
        idle = not (watchdogs or failures) and _over(network, moved, freeze)
    if idle and not done:
        freeze.look(network)
        freeze.look(network)
    for each in others:
        each.close()
    return Finished(network, freeze, [storm for each in watchdogs for storm in each.storms])


def _watchdogs(network: PacketNetwork) -> list[SwitchWatchdog]:
    guarded: dict[tuple[str, WatchdogTimers], list[Queue]] = {}
    for lane, priority in enumerate(network.classes):
        for port, buffers in enumerate(buffers_by_port(network.scenario, priority)):
            if buffers and buffers.watchdog:
                guarded.setdefault((network.ends[port][0], buffers.watchdog), []).append((port, lane))
    switches = sorted({node for node, _ in guarded})
    return [
        SwitchWatchdog(network, queues, settings, switches.index(node), len(switches))
        for (node, settings), queues in guarded.items()
    ]


def _moved(network: PacketNetwork) -> tuple[int, int]:
    """The number of packets sent, without pause frames, and of flows started."""
    run = network.run
    frames = int(run.clock["frames"][0])
    return int(run.clock["transmissions"][0]) - frames, int(run.flows["started"].sum())


def _over(network: PacketNetwork, moved: tuple[int, int], freeze: FreezeWatch) -> bool:
    """Whether nothing can happen any more: no event is left, or only the repeated pauses of a freeze."""
    run = network.run
    if run.clock["pending"][0] == 0:
        return True
    return freeze.found is not None and bool(run.flows["started"].all()) and _moved(network) == moved


# Runs a network, with more room for packets and frames when the loop needs it.


def advance_to(network: PacketNetwork, until: int) -> bool:
    """Run up to a time in ticks; whether all flows are complete."""
    while True:
        reason = advance(network.run, until)
        if reason == PACKETS_SHORT:
            network.run = with_packets(network.run)
        elif reason == FRAMES_SHORT:
            frames = network.run.frames
            network.run = network.run._replace(frames=np.concatenate([frames, np.zeros_like(frames)]))
        else:
            return bool(reason == FINISHED)
