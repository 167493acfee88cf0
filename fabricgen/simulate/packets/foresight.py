"""Prefetches the records that the next events use, which in a large network are not in the cache."""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import prefetch, trailing_zeros, whole
from fabricgen.simulate.packets.records import NAK, SENT
from fabricgen.simulate.packets.state import Run

FAR, NEAR, NEXT = 9, 6, 3  # how many events ahead


@inlined
def foresee(run: Run, at: int) -> None:
    """Prefetch the records of the events that follow the present one. Each event is followed in three steps, so no step
    waits for another."""
    left = whole(run.clock[0].count) - at
    if left > FAR:
        _prefetch_port(run, at + FAR)
    if left > NEAR:
        _prefetch_queue(run, at + NEAR)
    if left > NEXT:
        _prefetch_packet(run, at + NEXT)


@inlined
def foresee_first(run: Run) -> None:
    """Prefetch the records of the first events of the present slot, which follow no event of the slot."""
    count = whole(run.clock[0].count)
    for at in range(min(FAR, count)):
        _prefetch_port(run, at)
    for at in range(min(NEAR, count)):
        _prefetch_queue(run, at)
    for at in range(min(NEXT, count)):
        _prefetch_packet(run, at)


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
    elif port.is_switch:
        out = run.steps[event.step].port
        prefetch(run.groups, event.port, event.queue)
        prefetch(run.ports, out, 0)
        prefetch(run.queues, out, event.queue)
    else:
        prefetch(run.flows, event.flow, 0)
        prefetch(run.flows, event.flow, 64)


@inlined
def _prefetch_packet(run: Run, at: int) -> None:
    """Prefetch the packet that a port sends, or the one before an arriving packet in its queue."""
    event = run.events[run.present[0, at]]
    if event.kind == SENT:
        prefetch(run.events, run.queues[event.port, _first_waiting(run, event.port)].head, 0)
    elif event.kind <= NAK and run.ports[event.port].is_switch:
        prefetch(run.events, run.queues[run.steps[event.step].port, event.queue].tail, 0)


@inlined
def _first_waiting(run: Run, port: int) -> int:
    """The lowest class with packets at a port; the last one without packets."""
    return trailing_zeros(np.uint64(run.ports[port].waiting | (1 << (run.settings.classes - 1))))
