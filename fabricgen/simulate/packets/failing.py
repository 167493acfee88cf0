"""Links that go down during a run, and up again: the packets that wait for them are lost, and routes change.

Sources: a Broadcom switch removes a port without link from the ports that take packets (OpenMDK,
bcm56850_a0_port_enable_set.c, EPC_LINK_BMAP), resets its MAC, and empties its queues with pauses off (soc_mac_x, drain
of cells before a port is disabled). A paused queue that kept its packets would hold the groups of other ports, and
their pauses, for as long as the link is down: the reason for which Linux flushes such queues, too (net/dsa/ocelot,
felix_phylink_mac_link_down).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.packets.records import DOWN, FLUSH
from fabricgen.simulate.packets.room import with_packets
from fabricgen.simulate.packets.timers import pause_again, pause_event, schedule_at
from fabricgen.simulate.scenario import LinkFailure


class Failing:
    """Takes a link down, with the packets in its queues and on its cable, and up again if the failure ends.

    The failure ends the pauses of both ports. Their groups keep what arrived before, and may fill or empty meanwhile; a
    group that still pauses when the link comes up sends its pause then.
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
        failure = self._failure
        self._is_down = not self._is_down
        first = network.ends.index((failure.a, failure.b)) if failure.port is None else failure.port
        for port in (first, first ^ 1):
            if self._is_down:
                _take_down(network, port)
            else:
                _take_up(network, port)

    def close(self) -> None:
        """Nothing to do."""


def _take_down(network: PacketNetwork, port: int) -> None:
    run, now = network.run, network.now
    for lane in range(run.settings.classes):
        if int(run.ports["paused"][port]) >> lane & 1:
            run.holds["total"][port, lane] += now - run.holds["since"][port, lane]
        schedule_at(run, pause_event(run, port, lane, FLUSH), now)
    run.ports["paused"][port] = 0
    run.ports["state"][port] |= DOWN


def _take_up(network: PacketNetwork, port: int) -> None:
    if network.run.clock["free_count"][0] < network.run.settings.classes:
        network.run = with_packets(network.run)
    run = network.run
    run.ports["state"][port] &= np.uint8(0xFF ^ DOWN)
    run.nodes["quiet_until"][run.ports["node"][port]] = 0
    pause_again(run, port)


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


@dataclass(frozen=True, slots=True)
class Reading:
    """What a run has counted up to a time: the acknowledged payload, packets, and `frames`, the rows of its log."""

    at_ns: int
    acked_bytes: int
    lost: int
    repeated: int
    frames: int


class Marks:
    """Reads the counters of a run at some times, in ns, and at its end."""

    def __init__(self, network: PacketNetwork, times_ns: Sequence[int]) -> None:
        self._ticks = network.ticks_per_ns
        self._times = sorted(set(times_ns))
        self.first = self._times[0] * self._ticks
        self.read: list[Reading] = []
        self._network = network

    @property
    def period(self) -> int:
        """Until the next time; 0 after the last one."""
        done = len(self.read)
        return (self._times[done] - self._times[done - 1]) * self._ticks if done < len(self._times) else 0

    def look(self, network: PacketNetwork) -> None:
        """Read."""
        self._network, run = network, network.run
        clock, acked = run.clock[0], run.flows["acked"].astype(np.int64).clip(0)
        acked_bytes = int(acked.sum()) * int(run.settings.payload)
        lost, repeated, frames = (int(clock[name]) for name in ("drops", "repeats", "frames"))
        self.read.append(Reading(network.ns(network.now), acked_bytes, lost, repeated, frames))

    def close(self) -> None:
        """Read at the end of the run."""
        if not self.read or self.read[-1].at_ns < self._network.ns(self._network.now):
            self.look(self._network)


def failing(network: PacketNetwork, failures: Sequence[LinkFailure]) -> list[Failing | Rerouting]:
    """The observers of failures: routes change before the link of the same failure goes down."""
    return [one(network, failure) for failure in failures for one in (Rerouting, Failing)]
