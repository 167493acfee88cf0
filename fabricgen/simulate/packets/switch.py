"""A switch: the queue of an arriving packet, and the packet that a port sends next."""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.buffer import admit, fits, pause_if_full, release, resize, resume_if_empty
from fabricgen.simulate.packets.choice import next_hop
from fabricgen.simulate.packets.draws import draw
from fabricgen.simulate.packets.intrinsics import highest, trailing_zeros, whole
from fabricgen.simulate.packets.packet import pop, pop_control, push, push_control
from fabricgen.simulate.packets.records import CONTROL, DATA, DOWN, MARKED_DATA, NAK, NONE, TRIMMED
from fabricgen.simulate.packets.recovery import lost
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.timers import look_again

_YES, _LIMITED, _BLOCKED, _NO = range(4)  # whether there is room for a packet


@inlined
def forward(run: Run, packet: int) -> tuple[int, int]:
    """Queue a packet that arrived; the ports that may have a packet to send, or NONE."""
    event = run.events[packet]
    port, lane = event.port, event.queue
    if run.settings.choice:
        out = next_hop(run, packet)
    else:
        step = run.steps[event.step]
        out = step.port
        event.step = step.next
    if run.ports[out].state & DOWN:
        run.holds[out, min(lane, run.settings.classes - 1)].dead += 1
        lost(run, packet)
        return NONE, NONE
    if lane == CONTROL:
        push_control(run, out, packet)
        return out, NONE
    room = _room(run, port, out, packet)
    if room != _YES and room != _BLOCKED and run.profiles[out, lane].trims:
        _trim(run, out, packet)
        lane = run.settings.trimmed_lane
        room = _room(run, port, out, packet)
    if room != _YES:
        if room == _LIMITED:
            run.holds[out, lane].limited += 1
        elif room == _BLOCKED:
            run.holds[out, lane].discarded += 1
        else:
            run.holds[port, lane].drops += 1
        lost(run, packet)
        return NONE, NONE
    resize(run, out, lane, event.size)
    pausing = pause_if_full(run, port, lane, out)
    push(run, out, lane, packet)
    return pausing, out


@inlined
def _room(run: Run, port: int, out: int, packet: int) -> int:
    """Whether a packet is admitted to its group, or why not."""
    lane, size = run.events[packet].queue, run.events[packet].size
    if not fits(run, out, lane, size):
        return _LIMITED
    if (run.ports[out].discard | run.ports[port].discard) >> lane & 1:
        return _BLOCKED
    return _YES if admit(run, port, lane, size) else _NO


@inlined
def _trim(run: Run, out: int, packet: int) -> None:
    """Cut a packet to its headers, and move it to the class of such packets. A packet of that size stays whole."""
    event, settings = run.events[packet], run.settings
    run.holds[out, event.queue].trimmed += 1
    if event.size > settings.trimmed_size:
        event.size = settings.trimmed_size
        if event.kind <= MARKED_DATA:
            event.kind = TRIMMED
    event.queue = settings.trimmed_lane


@inlined
def next_of_switch(run: Run, port: int) -> int:
    """Remove the next packet from the queues of a port; NONE if all are empty or paused."""
    out = run.ports[port]
    if out.control_head != NONE:
        return pop_control(run, port)
    ready = whole(out.waiting) & ~whole(out.paused)
    if ready == 0:
        return NONE
    lane = _choose(run, port, ready)
    packet = pop(run, port, lane)
    if run.queues[port, lane].head == NONE:
        run.queues[port, lane].deficit = 0
    resize(run, port, lane, -whole(run.events[packet].size))
    run.queues[port, lane].sent += 1
    release(run, run.events[packet].port, lane, run.events[packet].size)
    if run.settings.ecn and (run.events[packet].kind == DATA or run.settings.truncated):
        _mark(run, port, lane, packet)
    return packet


@inlined
def flush(run: Run, port: int, lane: int) -> None:
    """Drop the packets in a queue, for the watchdog or a dead link."""
    dead = run.ports[port].state & DOWN
    while dead and run.ports[port].control_head != NONE:
        frame = pop_control(run, port)
        if run.events[frame].kind <= NAK:
            run.holds[port, lane].dead += 1
        lost(run, frame)
    while run.queues[port, lane].head != NONE:
        packet = pop(run, port, lane)
        came_by, size = run.events[packet].port, run.events[packet].size
        if dead:
            run.holds[port, lane].dead += 1
        else:
            run.holds[port, lane].discarded += 1
        if run.ports[port].is_switch:
            resize(run, port, lane, -whole(size))
            release(run, came_by, lane, size)
            if resume_if_empty(run, came_by, lane) != NONE:
                look_again(run, came_by)
        lost(run, packet)


@inlined
def _choose(run: Run, port: int, ready: int) -> int:
    """The class that sends next among the ready ones."""
    out = run.ports[port]
    if ready & (ready - 1) == 0:
        lane = trailing_zeros(np.uint64(ready))
        if run.settings.round_robin:
            out.last = lane
        return lane
    strict = ready & whole(out.strict)
    if strict:
        return highest(strict)
    if run.settings.round_robin:
        out.last = _following(ready, out.last)
        return int(out.last)
    while True:
        queue = run.queues[port, out.last]
        if ready >> out.last & 1 and queue.deficit >= run.events[queue.head].size:
            queue.deficit -= run.events[queue.head].size
            return int(out.last)
        out.last = _following(ready, out.last)
        run.queues[port, out.last].deficit += run.profiles[port, out.last].quantum


@inlined
def _following(ready: int, last: int) -> int:
    """The class after `last` in turn."""
    later = ready & ~((2 << last) - 1)
    return trailing_zeros(np.uint64(later if later else ready))


@inlined
def _mark(run: Run, port: int, lane: int, packet: int) -> None:
    """Mark a packet by WRED, by the bytes that remain in the queue. Compat hpcc draws for other kinds, too."""
    queue = run.queues[port, lane]
    if queue.bytes <= queue.kmin:
        return
    profile = run.profiles[port, lane]
    if queue.bytes <= profile.kmax:
        share = profile.pmax * (queue.bytes - queue.kmin) / (profile.kmax - queue.kmin)
        if draw(run, port, lane) >= share:
            return
    if run.events[packet].kind == DATA:
        run.events[packet].kind = MARKED_DATA
        run.holds[port, lane].marked += 1
