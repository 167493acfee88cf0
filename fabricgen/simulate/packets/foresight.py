"""Prefetches the records that the next events use, which in a large network are not in the cache.

The cable prefetches a packet when the one before it arrives, and a queue its new first packet. In a very large network
these have left the cache again before they are used, so they are prefetched here as well.
"""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import prefetch, trailing_zeros, unsigned, whole
from fabricgen.simulate.packets.records import CONTROL, LINE, MARKED_DATA, NAK, NONE
from fabricgen.simulate.packets.state import Run

EVENT, PLACE, PACKET, GROUP = 16, 8, 5, 3  # how many events ahead


@inlined
def foresee(run: Run, at: int) -> None:
    """Prefetch the records of the events that follow the present one."""
    left = whole(run.clock[0].count) - at
    if left > EVENT:
        prefetch(run.events, _event(run, at + EVENT), 0)
    if left > PLACE:
        _prefetch_place(run, _event(run, at + PLACE))
    if run.settings.foresees > 1:
        if left > PACKET:
            _prefetch_packet(run, _event(run, at + PACKET))
        if left > GROUP:
            _prefetch_group(run, _event(run, at + GROUP))


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


@inlined
def _prefetch_packet(run: Run, event: int) -> None:
    """Prefetch the packet that a port sends, or the one before an arriving packet in its queue."""
    if event < run.settings.first_flow:
        if run.ports[event].is_switch:
            prefetch(run.events, run.queues[event, _first_waiting(run, event)].head, 0)
        return
    packet = run.events[event]
    if packet.kind <= NAK and packet.step != NONE and packet.queue != CONTROL:
        prefetch(run.events, run.queues[run.steps[packet.step].port, packet.queue].tail, 0)


@inlined
def _prefetch_group(run: Run, event: int) -> None:
    """Prefetch the group that the packet of a port leaves."""
    if event < run.settings.first_flow and run.ports[event].is_switch:
        lane = _first_waiting(run, event)
        packet = unsigned(run.queues[event, lane].head)
        if packet != NONE:
            prefetch(run.groups, run.events[packet].port, lane)


@inlined
def _first_waiting(run: Run, port: int) -> int:
    """The lowest class with packets at a port; the last one without packets."""
    return trailing_zeros(np.uint64(run.ports[port].waiting | (1 << (run.settings.classes - 1))))
