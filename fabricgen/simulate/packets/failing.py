"""Links that go down in the middle of a run: what waits for them is lost, and other routes hold from then on."""

from fabricgen.simulate.packets.network import Network, pause_event, schedule_at
from fabricgen.simulate.packets.records import DOWN, FLUSH
from fabricgen.simulate.scenario import LinkFailure


def take_down(network: Network, failure: LinkFailure) -> None:
    """Let a link fail now, with what is queued for it and the data on its cable; routes change at once."""
    run = network.run
    network.steps.change(failure.routes)
    network.run = run._replace(steps=network.steps.array())
    for end in ((failure.a, failure.b), (failure.b, failure.a)):
        port = network.ports.index(end)
        run.ports["state"][port] |= DOWN
        run.ports["discard"][port] = 0xFFFF
        for lane in range(run.settings.classes):
            schedule_at(run, pause_event(run, port, lane, FLUSH), network.now)
