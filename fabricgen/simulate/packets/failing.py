"""Links that go down during a run: the packets that wait for them are lost, and routes change."""

from fabricgen.simulate.packets.network import Network
from fabricgen.simulate.packets.records import DOWN, FLUSH
from fabricgen.simulate.packets.timers import pause_event, schedule_at
from fabricgen.simulate.scenario import LinkFailure


class Failing:
    """Takes a link down once, with the packets in its queues and on its cable, and changes routes at that time."""

    period = 0

    def __init__(self, network: Network, failure: LinkFailure) -> None:
        self.first = failure.at_ns * network.ticks_per_ns
        self._failure = failure

    def look(self, network: Network) -> None:
        """Take the link down."""
        run = network.run
        network.steps.change(self._failure.routes)
        network.run = run._replace(steps=network.steps.array())
        a, b = self._failure.a, self._failure.b
        for end in ((a, b), (b, a)):
            port = network.ends.index(end)
            run.ports["state"][port] |= DOWN
            for lane in range(run.settings.classes):
                schedule_at(run, pause_event(run, port, lane, FLUSH), network.now)

    def close(self) -> None:
        """Nothing to do: the link stays down."""
