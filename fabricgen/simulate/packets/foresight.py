"""Prefetches the records that the next events use, which in a large network are not in the cache."""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import prefetch, trailing_zeros, unsigned, whole
from fabricgen.simulate.packets.records import CONTROL, NAK, NONE, SENT
from fabricgen.simulate.packets.state import Run

EVENT, PORT, QUEUE, PACKET, GROUP = 16, 12, 9, 6, 3  # how many events ahead


@inlined
def foresee(run: Run, at: int) -> None:
    """Prefetch the records of the events that follow the present one. Each event is followed in five steps, so no step
    waits for another."""
    left = whole(run.clock[0].count) - at
    if left > EVENT:
        prefetch(run.events, unsigned(run.present[0, at + EVENT]), 0)
    if left > PORT:
        _prefetch_port(run, at + PORT)
    if left > QUEUE:
        _prefetch_queue(run, at + QUEUE)
    if left > PACKET:
        _prefetch_packet(run, at + PACKET)
    if left > GROUP:
        _prefetch_group(run, at + GROUP)


@inlined
def foresee_first(run: Run) -> None:
    """Prefetch the records of the first events of the present slot, which follow no event of the slot."""
    count = whole(run.clock[0].count)
    for at in range(min(EVENT, count)):
        prefetch(run.events, unsigned(run.present[0, at]), 0)
    for at in range(min(PORT, count)):
        _prefetch_port(run, at)
    for at in range(min(QUEUE, count)):
        _prefetch_queue(run, at)
    for at in range(min(PACKET, count)):
        _prefetch_packet(run, at)
    for at in range(min(GROUP, count)):
        _prefetch_group(run, at)


@inlined
def _prefetch_port(run: Run, at: int) -> None:
    """Prefetch the port of an event, and the step of its packet."""
    event = run.events[run.present[0, at]]
    prefetch(run.ports, event.port, 0)
    prefetch(run.steps, event.step, 0)


@inlined
def _prefetch_queue(run: Run, at: int) -> None:
    """Prefetch what is known from the port and the step."""
    event = run.events[run.present[0, at]]
    port = run.ports[event.port]
    if event.kind == SENT:
        prefetch(run.queues, event.port, _first_waiting(run, event.port))
    elif not port.is_switch:
        prefetch(run.flows, event.flow, 0)
        prefetch(run.flows, event.flow, 64)
    elif event.kind <= NAK:  # other events at a switch have no valid step, such as a loss
        out = run.steps[event.step].port
        prefetch(run.groups, event.port, event.queue)
        prefetch(run.ports, out, 0)
        prefetch(run.queues, out, event.queue)


@inlined
def _prefetch_packet(run: Run, at: int) -> None:
    """Prefetch the packet that a port sends, or the one before an arriving packet in its queue."""
    event = run.events[run.present[0, at]]
    if event.kind == SENT:
        prefetch(run.events, run.queues[event.port, _first_waiting(run, event.port)].head, 0)
    elif event.kind <= NAK and event.queue != CONTROL and run.ports[event.port].is_switch:
        prefetch(run.events, run.queues[run.steps[event.step].port, event.queue].tail, 0)


@inlined
def _prefetch_group(run: Run, at: int) -> None:
    """Prefetch the group that the packet of a port leaves."""
    event = run.events[run.present[0, at]]
    if event.kind == SENT:
        lane = _first_waiting(run, event.port)
        packet = unsigned(run.queues[event.port, lane].head)
        if packet != NONE:
            prefetch(run.groups, run.events[packet].port, lane)


@inlined
def _first_waiting(run: Run, port: int) -> int:
    """The lowest class with packets at a port; the last one without packets."""
    return trailing_zeros(np.uint64(run.ports[port].waiting | (1 << (run.settings.classes - 1))))
