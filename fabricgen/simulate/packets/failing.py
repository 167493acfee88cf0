"""Links that go down during a run: the packets that wait for them are lost, and routes change."""

from collections.abc import Sequence

from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.packets.records import DOWN, FLUSH
from fabricgen.simulate.packets.timers import pause_event, schedule_at
from fabricgen.simulate.scenario import LinkFailure


class Failing:
    """Takes a link down once, with the packets in its queues and on its cable."""

    period = 0

    def __init__(self, network: PacketNetwork, failure: LinkFailure) -> None:
        self.first = failure.at_ns * network.ticks_per_ns
        self._failure = failure

    def look(self, network: PacketNetwork) -> None:
        """Take the link down."""
        run = network.run
        failure = self._failure
        first = network.ends.index((failure.a, failure.b)) if failure.port is None else failure.port
        for port in (first, first ^ 1):
            run.ports["state"][port] |= DOWN
            for lane in range(run.settings.classes):
                schedule_at(run, pause_event(run, port, lane, FLUSH), network.now)

    def close(self) -> None:
        """Nothing to do: the link stays down."""


class Rerouting:
    """Changes routes once, for packets that arrive at a switch from then on."""

    period = 0

    def __init__(self, network: PacketNetwork, failure: LinkFailure) -> None:
        at_ns = failure.at_ns if failure.routes_at_ns is None else failure.routes_at_ns
        self.first = at_ns * network.ticks_per_ns
        self._failure = failure

    def look(self, network: PacketNetwork) -> None:
        """Change the routes."""
        if network.hops:
            network.run = network.run._replace(spread=network.hops.change(self._failure, network.run.spread))
            return
        network.steps.change(self._failure.routes)
        network.run = network.run._replace(steps=network.steps.array())

    def close(self) -> None:
        """Nothing to do."""


def failing(network: PacketNetwork, failures: Sequence[LinkFailure]) -> list[Failing | Rerouting]:
    """The observers of failures: routes change before the link of the same failure goes down."""
    return [one(network, failure) for failure in failures for one in (Rerouting, Failing)]
