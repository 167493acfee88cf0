"""Events that are about one port or one flow: timers, and their scheduling between two stretches of the loop."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fabricgen.simulate.compilation import compiled, inlined
from fabricgen.simulate.packets import records
from fabricgen.simulate.packets.packet import push_pause
from fabricgen.simulate.packets.records import PAUSE, SCHEDULED
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import schedule, schedule_all

if TYPE_CHECKING:
    from fabricgen.simulate.scenario import Scenario


def name_events(run: Run) -> None:
    """Set the kinds of the events that stay with one port or one flow."""
    ports, first = len(run.ports), run.settings.first_flow
    run.events["kind"][:ports] = records.SENT
    run.events["port"][:ports] = np.arange(ports)
    for offset, kind in enumerate((records.START, records.DECREASE, records.INCREASE)):
        run.events["kind"][first + offset : run.settings.first_pause : 3] = kind
        run.events["flow"][first + offset : run.settings.first_pause : 3] = np.arange(len(run.flows))


def schedule_beginnings(run: Run, scenario: "Scenario", home: Mapping[str, int], ticks_per_ns: int) -> None:
    """Schedule the start of every flow and of every storm. `home` is each host's port."""
    starts = run.settings.first_flow + 3 * np.arange(len(run.flows))
    schedule_all(run, starts, np.ascontiguousarray(run.flows["start"]))
    for storm in scenario.storms:
        for lane, priority in enumerate(scenario.carried_priorities):
            if not scenario.traffic_class(priority).lossless:
                continue
            event = pause_event(run, home[storm.host], lane, records.REFRESH)
            schedule_at(run, event, storm.at_ns * ticks_per_ns)


def pause_event(run: Run, port: int, lane: int, kind: int) -> int:
    """The event of a port's class for one of three kinds: EXPIRE, REFRESH, FLUSH."""
    offset = (records.EXPIRE, records.REFRESH, records.FLUSH).index(kind)
    event = run.settings.first_pause + 3 * (port * run.settings.classes + lane) + offset
    run.events["kind"][event], run.events["port"][event], run.events["queue"][event] = kind, port, lane
    return event


def schedule_at(run: Run, event: int, time: int) -> None:
    """Schedule an event between two stretches of the loop."""
    schedule_all(run, np.array([event]), np.array([time]))


@inlined
def look_again(run: Run, port: int) -> None:
    """Let a port look for a packet to send, as soon as it is idle."""
    out = run.ports[port]
    if not out.state & SCHEDULED:
        out.state |= SCHEDULED
        schedule(run, port, max(run.clock[0].now, out.free_at))


@compiled
def wake(run: Run, port: int) -> None:
    """The same, between two stretches of the loop."""
    look_again(run, port)


@compiled
def pause_again(run: Run, port: int) -> None:
    """Send the pauses of the groups of a port that still pause, and let the port look."""
    for lane in range(run.settings.classes):
        if run.groups[port, lane].pausing:
            push_pause(run, port, lane, PAUSE)
    look_again(run, port)
