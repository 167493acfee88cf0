"""SONiC's PFC watchdog (sonic-swss, orchagent/pfcwdorch and its Lua scripts): detection, action, restoration.

It checks each queue once per poll. A queue is in a storm when it was paused, had packets and sent none for the
detection time. It is restored when no pause frame arrived for the restoration time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fabricgen.results import PfcStorm
from fabricgen.simulate.packets.freeze import Queue
from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.packets.records import FLUSH
from fabricgen.simulate.packets.timers import pause_event, schedule_at, wake
from fabricgen.simulate.scenario import WatchdogTimers
from fabricgen.vocabulary import WatchdogAction


@dataclass
class _Seen:
    """A queue at the last poll."""

    sent: int = -1
    pauses: int = 0
    stuck_for: int = 0
    quiet_for: int = 0
    storm: int = -1  # number of its present storm


class SwitchWatchdog:
    """The watchdog of queues with the same settings on one switch. Switches poll at different times, by the `place` of
    their names among `switches`."""

    def __init__(
        self, network: PacketNetwork, queues: Sequence[Queue], settings: WatchdogTimers, place: int, switches: int
    ) -> None:
        self.settings = settings
        self.storms: list[PfcStorm] = []
        self._seen = {queue: _Seen() for queue in queues}
        self.period = settings.poll_ns * network.ticks_per_ns
        self.first = self.period * (place + 1) // switches

    def look(self, network: PacketNetwork) -> None:
        """One poll."""
        for (port, lane), seen in self._seen.items():
            if seen.storm >= 0:
                self._restore(network, port, lane, seen)
            else:
                self._detect(network, port, lane, seen)
            seen.pauses = int(network.run.holds["frames"][port, lane])

    def close(self) -> None:
        """Nothing to do."""

    def _detect(self, network: PacketNetwork, port: int, lane: int, seen: _Seen) -> None:
        run, queue = network.run, network.run.queues[port, lane]
        paused = (
            int(run.ports["paused"][port]) >> lane & 1 and run.holds["since"][port, lane] <= network.now - self.period
        )
        sent = int(queue["sent"])
        seen.stuck_for = seen.stuck_for + self.settings.poll_ns if paused and sent == seen.sent else 0
        seen.sent = sent
        if seen.stuck_for < self.settings.detection_ns or queue["bytes"] == 0:
            return
        seen.storm, seen.quiet_for = len(self.storms), 0
        self.storms.append(PfcStorm(network.ports[port], network.classes[lane], network.ns(network.now), None))
        if self.settings.action is WatchdogAction.DROP:
            run.ports["discard"][port] |= 1 << lane
            schedule_at(run, pause_event(run, port, lane, FLUSH), network.now)
        elif self.settings.action is WatchdogAction.FORWARD:
            run.ports["deaf"][port] |= 1 << lane
            release(network, port, lane)

    def _restore(self, network: PacketNetwork, port: int, lane: int, seen: _Seen) -> None:
        run = network.run
        quiet = int(run.holds["frames"][port, lane]) == seen.pauses
        seen.quiet_for = seen.quiet_for + self.settings.poll_ns if quiet else 0
        if seen.quiet_for < self.settings.restoration_ns:
            return
        mask = 0xFFFF & ~(1 << lane)
        run.ports["discard"][port] &= mask
        run.ports["deaf"][port] &= mask
        before = self.storms[seen.storm]
        self.storms[seen.storm] = PfcStorm(before.port, before.priority, before.detected_ns, network.ns(network.now))
        seen.storm, seen.sent, seen.stuck_for = -1, -1, 0


def release(network: PacketNetwork, port: int, lane: int) -> None:
    """Resume a paused class of a port."""
    run = network.run
    run.ports["paused"][port] &= 0xFFFF & ~(1 << lane)
    run.holds["total"][port, lane] += network.now - run.holds["since"][port, lane]
    wake(run, port)
