"""Prefetches the records that the next events use, which in a large network are not in the cache.

The cable prefetches a packet when the one before it arrives, and a queue its new first packet, so these are near.
"""

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import prefetch, unsigned, whole
from fabricgen.simulate.packets.records import LINE, MARKED_DATA, NAK, NONE
from fabricgen.simulate.packets.state import Run

EVENT, PLACE = 16, 8  # how many events ahead: the event itself, then the records that it names


@inlined
def foresee(run: Run, at: int) -> None:
    """Prefetch the records of the events that follow the present one."""
    left = whole(run.clock[0].count) - at
    if left > EVENT:
        prefetch(run.events, _event(run, at + EVENT), 0)
    if left > PLACE:
        _prefetch_place(run, _event(run, at + PLACE))


@inlined
def foresee_first(run: Run) -> None:
    """Prefetch the records of the first events of the present slot, which follow no event of the slot."""
    count = whole(run.clock[0].count)
    for at in range(min(EVENT, count)):
        prefetch(run.events, _event(run, at), 0)
    for at in range(min(PLACE, count)):
        _prefetch_place(run, _event(run, at))


@inlined
def _event(run: Run, at: int) -> int:
    return unsigned(run.present[0, at])


@inlined
def _prefetch_place(run: Run, event: int) -> None:
    """Prefetch the port of an event, and the group, queue, next port or flow of a packet."""
    if event < run.settings.first_flow:
        prefetch(run.ports, event, 0)
        prefetch(run.queues, event, 0)
        return
    packet = run.events[event]
    if packet.kind > NAK:  # others have no step
        return
    prefetch(run.ports, packet.port, 0)
    step = packet.step
    if step == NONE:
        prefetch(run.flows, packet.flow, LINE if packet.kind <= MARKED_DATA else 0)
        return
    out = run.steps[step].port
    prefetch(run.groups, packet.port, packet.queue)
    prefetch(run.ports, out, 0)
    prefetch(run.queues, out, packet.queue)
