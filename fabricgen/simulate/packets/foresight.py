"""Prefetches the records that the next events use, which in a large network are not in the cache."""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import prefetch, trailing_zeros, unsigned, whole
from fabricgen.simulate.packets.records import CONTROL, LINE, MARKED_DATA, NAK, NONE
from fabricgen.simulate.packets.state import Run

EVENT, PORT, QUEUE, PACKET, GROUP = 16, 12, 9, 6, 3  # how many events ahead


@inlined
def foresee(run: Run, at: int) -> None:
    """Prefetch the records of the events that follow the present one. Each event is followed in five steps, so no step
    waits for another."""
    left = whole(run.clock[0].count) - at
    if left > EVENT:
        prefetch(run.events, _event(run, at + EVENT), 0)
    if left > PORT:
        _prefetch_port(run, _event(run, at + PORT))
    if left > QUEUE:
        _prefetch_queue(run, _event(run, at + QUEUE))
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
    for at in range(min(PORT, count)):
        _prefetch_port(run, _event(run, at))
    for at in range(min(QUEUE, count)):
        _prefetch_queue(run, _event(run, at))
    for at in range(min(PACKET, count)):
        _prefetch_packet(run, _event(run, at))
    for at in range(min(GROUP, count)):
        _prefetch_group(run, _event(run, at))


@inlined
def _event(run: Run, at: int) -> int:
    return unsigned(run.present[0, at])


@inlined
def _prefetch_port(run: Run, event: int) -> None:
    """Prefetch the port of an event, and the step of its packet."""
    if event < run.settings.first_flow:
        prefetch(run.ports, event, 0)
        return
    prefetch(run.ports, run.events[event].port, 0)
    prefetch(run.steps, run.events[event].step, 0)


@inlined
def _prefetch_queue(run: Run, event: int) -> None:
    """Prefetch what is known from the port and the step."""
    if event < run.settings.first_flow:
        port = run.ports[event]
        if port.is_switch:
            prefetch(run.queues, event, _first_waiting(run, event))
        else:
            prefetch(run.nodes, port.node, 0)
        return
    packet = run.events[event]
    if not run.ports[packet.port].is_switch:
        prefetch(run.flows, packet.flow, LINE if packet.kind <= MARKED_DATA else 0)
        prefetch(run.nodes, run.ports[packet.port].node, 0)
    elif packet.kind <= NAK:  # other events at a switch have no valid step, such as a loss
        out = run.steps[packet.step].port
        prefetch(run.groups, packet.port, packet.queue)
        prefetch(run.ports, out, 0)
        prefetch(run.queues, out, packet.queue)


@inlined
def _prefetch_packet(run: Run, event: int) -> None:
    """Prefetch the packet or the flow that a port sends, or the packet before an arriving one in its queue."""
    if event < run.settings.first_flow:
        port = run.ports[event]
        if port.is_switch:
            prefetch(run.events, run.queues[event, _first_waiting(run, event)].head, 0)
        elif run.nodes[port.node].flows:
            prefetch(run.flows, run.order[run.nodes[port.node].first_flow], 0)
        return
    packet = run.events[event]
    if packet.kind <= NAK and packet.queue != CONTROL and run.ports[packet.port].is_switch:
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
