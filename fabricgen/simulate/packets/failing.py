"""Links that go down during a run, and up again: the packets that wait for them are lost, and routes change."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.packets.records import DOWN, FLUSH
from fabricgen.simulate.packets.timers import pause_event, schedule_at
from fabricgen.simulate.scenario import LinkFailure


class Failing:
    """Takes a link down, with the packets in its queues and on its cable, and up again if the failure ends.

    A port that comes up is not paused, and its switch pauses the far end again with the next packet that does not fit.
    """

    def __init__(self, network: PacketNetwork, failure: LinkFailure) -> None:
        self._ticks = network.ticks_per_ns
        self.first = failure.at_ns * self._ticks
        self._failure = failure
        self._is_down = False

    @property
    def period(self) -> int:
        """Until the link comes up; 0 if it stays as it is."""
        up = self._failure.up_at_ns
        return (up - self._failure.at_ns) * self._ticks if self._is_down and up is not None else 0

    def look(self, network: PacketNetwork) -> None:
        """Take the link down, the second time up."""
        run, failure = network.run, self._failure
        self._is_down = not self._is_down
        first = network.ends.index((failure.a, failure.b)) if failure.port is None else failure.port
        for port in (first, first ^ 1):
            if not self._is_down:
                run.ports["state"][port] &= np.uint8(0xFF ^ DOWN)
                run.ports["paused"][port] = 0
                run.groups["pausing"][port] = 0
                continue
            run.ports["state"][port] |= DOWN
            for lane in range(run.settings.classes):
                schedule_at(run, pause_event(run, port, lane, FLUSH), network.now)

    def close(self) -> None:
        """Nothing to do."""


class Rerouting:
    """Changes routes for packets that arrive at a switch from then on, and back if the failure ends."""

    def __init__(self, network: PacketNetwork, failure: LinkFailure) -> None:
        self._ticks = network.ticks_per_ns
        self._at_ns = failure.at_ns if failure.routes_at_ns is None else failure.routes_at_ns
        self.first = self._at_ns * self._ticks
        self._failure = failure
        self._is_changed = False

    @property
    def period(self) -> int:
        """Until the routes change back; 0 if they stay as they are."""
        failure = self._failure
        back = failure.up_at_ns if failure.routes_back_at_ns is None else failure.routes_back_at_ns
        return (back - self._at_ns) * self._ticks if self._is_changed and back is not None else 0

    def look(self, network: PacketNetwork) -> None:
        """Change the routes, the second time back."""
        self._is_changed = not self._is_changed
        scenario = network.scenario
        change = self._failure
        if not self._is_changed:
            change = replace(change, routes=scenario.routes, groups=scenario.groups)
        if network.hops:
            network.run = network.run._replace(spread=network.hops.change(change, network.run.spread))
            return
        network.steps.change(change.routes)
        network.run = network.run._replace(steps=network.steps.array())

    def close(self) -> None:
        """Nothing to do."""


class Marks:
    """Reads what has been acknowledged at some times of a run, in ns, and at its end."""

    def __init__(self, network: PacketNetwork, times_ns: Sequence[int]) -> None:
        self._ticks = network.ticks_per_ns
        self._times = sorted(set(times_ns))
        self.first = self._times[0] * self._ticks
        self.read: list[tuple[int, int]] = []  # (ns, bytes)
        self._network = network

    @property
    def period(self) -> int:
        """Until the next time; 0 after the last one."""
        done = len(self.read)
        return (self._times[done] - self._times[done - 1]) * self._ticks if done < len(self._times) else 0

    def look(self, network: PacketNetwork) -> None:
        """Read."""
        self._network, run = network, network.run
        acked = run.flows["acked"].astype(np.int64).clip(0)
        self.read.append((network.ns(network.now), int(acked.sum()) * int(run.settings.payload)))

    def close(self) -> None:
        """Read at the end of the run."""
        if not self.read or self.read[-1][0] < self._network.ns(self._network.now):
            self.look(self._network)


def failing(network: PacketNetwork, failures: Sequence[LinkFailure]) -> list[Failing | Rerouting]:
    """The observers of failures: routes change before the link of the same failure goes down."""
    return [one(network, failure) for failure in failures for one in (Rerouting, Failing)]
