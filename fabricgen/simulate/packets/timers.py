"""Events that are about one port or one flow: timers, and their scheduling between two stretches of the loop."""

from collections.abc import Mapping

import numpy as np

from fabricgen.simulate.packets import records
from fabricgen.simulate.packets.records import NONE
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import EPOCHS, SLOT_BITS, SLOTS
from fabricgen.simulate.scenario import Scenario


def name_events(run: Run) -> None:
    """Set the kinds of the events that stay with one port or one flow."""
    ports, first = len(run.ports), run.settings.first_flow
    run.events["kind"][:ports] = records.SENT
    run.events["port"][:ports] = np.arange(ports)
    for offset, kind in enumerate((records.START, records.DECREASE, records.INCREASE)):
        run.events["kind"][first + offset : run.settings.first_pause : 3] = kind
        run.events["flow"][first + offset : run.settings.first_pause : 3] = np.arange(len(run.flows))


def schedule_beginnings(run: Run, scenario: Scenario, home: Mapping[str, int], ticks_per_ns: int) -> None:
    """Schedule the start of every flow and of every storm. `home` is each host's port."""
    for flow, start in enumerate(run.flows["start"].tolist()):
        schedule_at(run, run.settings.first_flow + 3 * flow, start)
    for storm in scenario.storms:
        for lane in range(run.settings.classes):
            event = pause_event(run, home[storm.host], lane, records.REFRESH)
            schedule_at(run, event, storm.at_ns * ticks_per_ns)


def pause_event(run: Run, port: int, lane: int, kind: int) -> int:
    """The event of a port's class for one of three kinds: EXPIRE, REFRESH, FLUSH."""
    offset = (records.EXPIRE, records.REFRESH, records.FLUSH).index(kind)
    event = run.settings.first_pause + 3 * (port * run.settings.classes + lane) + offset
    run.events["kind"][event], run.events["port"][event], run.events["queue"][event] = kind, port, lane
    return event


def schedule_at(run: Run, event: int, time: int) -> None:
    """Schedule an event between two stretches of the loop, as `wheel.schedule` does within them."""
    run.events["time"][event], run.events["next"][event] = time, NONE
    slot = time % SLOTS
    if time >> SLOT_BITS == run.clock["epoch"][0]:
        if run.slots["head"][slot] == NONE:
            run.words[slot >> 6] |= np.uint64(1 << (slot & 63))
            run.summary[slot >> 12] |= np.uint64(1 << (slot >> 6 & 63))
        waiting = run.slots[slot]
    else:
        waiting = run.epochs[(time >> SLOT_BITS) % EPOCHS]
    if waiting["head"] == NONE:
        waiting["head"] = event
    else:
        run.events["next"][waiting["tail"]] = event
    waiting["tail"] = event
    run.clock["pending"] += 1
