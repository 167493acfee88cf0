"""Links that go down in the middle of a run: what waits for them is lost, and other routes hold from then on."""

from fabricgen.simulate.packets.network import Network, pause_event, schedule_at
from fabricgen.simulate.packets.records import DOWN, FLUSH
from fabricgen.simulate.scenario import LinkFailure


class Failing:
    """Takes a link down once, with what is queued for it and the data on its cable; routes change at that moment."""

    period = 0

    def __init__(self, network: Network, failure: LinkFailure) -> None:
        self.first = failure.at_ns * network.ticks_per_ns
        self._failure = failure

    def look(self, network: Network) -> None:
        """It is time."""
        run = network.run
        network.steps.change(self._failure.routes)
        network.run = run._replace(steps=network.steps.array())
        a, b = self._failure.a, self._failure.b
        for end in ((a, b), (b, a)):
            port = network.ends.index(end)
            run.ports["state"][port] |= DOWN
            run.ports["discard"][port] = 0xFFFF
            for lane in range(run.settings.classes):
                schedule_at(run, pause_event(run, port, lane, FLUSH), network.now)

    def close(self) -> None:
        """It stays down."""
