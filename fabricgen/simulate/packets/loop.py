"""The event loop: one event after another, and the packets that ports send because of it."""

from fabricgen.physics import CREDIT_BLOCK_BYTES
from fabricgen.simulate.compilation import compiled, inlined
from fabricgen.simulate.packets.buffer import resume_if_empty
from fabricgen.simulate.packets.dcqcn import decrease, increase_by_time
from fabricgen.simulate.packets.intrinsics import prefetch, unsigned, whole
from fabricgen.simulate.packets.nic import next_of_host, receive, start
from fabricgen.simulate.packets.packet import give_back, take
from fabricgen.simulate.packets.pause import expire, obey, refresh, resume
from fabricgen.simulate.packets.records import (
    CONTROL,
    CREDIT,
    DATA,
    DECREASE,
    DOWN,
    EXPIRE,
    FLUSH,
    INCREASE,
    LOSS,
    NAK,
    NONE,
    REFRESH,
    RESUME,
    SCHEDULED,
    SENT,
    START,
    TIMEOUT,
    WAKE,
)
from fabricgen.simulate.packets.recovery import lost, reported, timed_out
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.switch import flush, forward, next_of_switch
from fabricgen.simulate.packets.ties import tie_of_port, turn_of
from fabricgen.simulate.packets.wheel import next_event, schedule, schedule_as

# Why the loop returns.
REACHED, FINISHED, PACKETS_SHORT, FRAMES_SHORT = range(4)
SPARE_PACKETS = 8  # more than one event needs


@compiled
def advance(run: Run, until: int) -> int:
    """Run up to a time or until all flows are complete; return earlier if the caller has to make room first."""
    clock = run.clock[0]
    while clock.finished < len(run.flows):
        if clock.free_count < SPARE_PACKETS:
            return PACKETS_SHORT
        if clock.frames + 1 >= len(run.frames):
            return FRAMES_SHORT
        event = next_event(run, until)
        if event == NONE:
            return REACHED
        port, then = happen(run, event)
        if port == NONE:
            port, then = then, NONE
        while port != NONE:
            resuming = _send(run, unsigned(port))  # NONE if there is a second port: the first one sends a pause
            port, then = then if resuming == NONE else resuming, NONE
    return FINISHED


@inlined
def happen(run: Run, event: int) -> tuple[int, int]:
    """Process one event; up to two ports that may have a packet to send, in order."""
    if event < run.settings.first_flow:  # the end of a transmission has the number of its port
        run.ports[event].state &= ~SCHEDULED
        return event, NONE
    kind, port = run.events[event].kind, run.events[event].port
    if kind <= RESUME:
        if kind <= NAK:
            leave(run, event)
        if run.ports[port].state & DOWN:
            if kind <= NAK:
                run.holds[port, min(run.events[event].queue, run.settings.classes - 1)].dead += 1
            lost(run, event)
            return NONE, NONE
        if kind > NAK:
            return obey(run, event), NONE
        if run.ports[port].is_switch:
            return forward(run, event)
        if run.settings.credits:
            take_in(run, event)
        return receive(run, event)
    return _timer(run, event, kind, port)


@inlined
def _timer(run: Run, event: int, kind: int, port: int) -> tuple[int, int]:
    flow = run.events[event].flow
    if kind == DECREASE:
        decrease(run, flow)
    elif kind == INCREASE:
        increase_by_time(run, flow)
    elif kind == WAKE:
        run.nodes[run.ports[port].node].wake_at = 0
        give_back(run, event)
        return port, NONE
    elif kind == START:
        return start(run, event, flow), NONE
    elif kind == LOSS:
        reported(run, event)
    elif kind == TIMEOUT:
        timed_out(run, flow)
        return run.flows[flow].port, NONE
    elif kind == EXPIRE:
        return expire(run, event), NONE
    elif kind == REFRESH:
        return refresh(run, event), NONE
    elif kind == CREDIT:
        return regain(run, event), NONE
    elif kind == FLUSH:
        flush(run, port, run.events[event].queue)
    return NONE, NONE


@inlined
def _send(run: Run, port: int) -> int:
    """Send the next packet of a port if the port is idle; another port with a frame to send because of this, or
    NONE."""
    out, clock = run.ports[port], run.clock[0]
    if out.state & DOWN:
        return NONE
    if clock.now < out.free_at or (clock.now == out.free_at and clock.tie < turn_of(run, port)):
        if not out.state & SCHEDULED:
            out.state |= SCHEDULED
            schedule_as(run, port, out.free_at, turn_of(run, port))
        return NONE
    resuming = NONE
    if out.is_switch:
        packet = next_of_switch(run, port)
        if packet == NONE:
            return NONE
        event = run.events[packet]
        if event.queue != CONTROL and event.kind <= NAK:
            resuming = resume_if_empty(run, event.port, event.queue)
    else:
        packet = next_of_host(run, port)
        if packet == NONE:
            return NONE
        event = run.events[packet]
    if run.settings.credits:
        came_by = event.port
        spend(run, port, packet)
        _transmit(run, port, packet)
        if out.is_switch:
            owe(run, came_by, event.queue, event.size, out.free_at)
        return NONE
    _transmit(run, port, packet)
    return resuming


@inlined
def _transmit(run: Run, port: int, packet: int) -> None:
    """Occupy the wire, and schedule the arrival of the packet at the far end."""
    out, event, clock = run.ports[port], run.events[packet], run.clock[0]
    out.free_at = clock.now + run.durations[out.speed, event.size]
    if run.settings.truncated:
        run.pfc[port].turn = tie_of_port(run, SENT, out.rank)
    arrives = out.free_at + out.delay
    event.port = out.peer
    clock.transmissions += 1
    if _has_more(run, port):
        out.state |= SCHEDULED
        schedule_as(run, port, out.free_at, turn_of(run, port))
    if event.kind > NAK:
        schedule_as(run, packet, arrives + run.pfc[out.peer].response, tie_of_port(run, event.kind, out.rank))
    else:
        enter(run, port, packet, arrives)


@inlined
def _has_more(run: Run, port: int) -> bool:
    """Whether a port may send again when it becomes idle; a later event lets it look, too."""
    out = run.ports[port]
    if out.control_head != NONE or out.waiting & ~out.paused:
        return True
    return bool(not out.is_switch and run.nodes[out.node].flows)


# Cables: packets arrive in the order in which they were sent, so only the first one of each cable is in the wheel.


@inlined
def enter(run: Run, port: int, packet: int, arrives: int) -> None:
    """Send a packet over the cable of a port. With compat hpcc the place of each event is that of its scheduling, so
    every packet is in the wheel."""
    out, clock = run.ports[port], run.clock[0]
    tie = tie_of_port(run, DATA, out.rank)
    run.events[packet].next = NONE
    if not run.settings.truncated:
        if clock.now < out.arrives or (clock.now == out.arrives and clock.tie < tie):
            before = run.events[out.last_packet]
            before.next, before.time = packet, arrives
            out.last_packet, out.arrives = packet, arrives
            return
        out.last_packet, out.arrives = packet, arrives
    schedule_as(run, packet, arrives, tie)


@inlined
def leave(run: Run, packet: int) -> None:
    """A packet has arrived: schedule the one behind it, at the same place within its tick."""
    following = run.events[packet].next
    if following != NONE:
        prefetch(run.events, unsigned(following), 0)
        schedule_as(run, following, run.events[packet].time, run.clock[0].tie)


# Credits, the flow control of InfiniBand: a port sends on a virtual lane only what the buffer at the far end has room
# for.
#
# A packet uses credits when it leaves, and the far end returns them when it has freed the buffer: a switch when the
# last byte of the packet has left, an adapter when it has taken the packet. A port sends on a lane while it has credits
# for a full packet; without them the lane counts as paused. Credits are blocks of 64 bytes (InfiniBand Architecture
# Specification, volume 1, 7.9).


@inlined
def blocks_of(size: int) -> int:
    """The credits of a packet."""
    return (size + CREDIT_BLOCK_BYTES - 1) // CREDIT_BLOCK_BYTES


@inlined
def spend(run: Run, port: int, packet: int) -> None:
    """Use the credits of a packet that leaves a port; without credits for a full packet, its lane waits."""
    lane = run.events[packet].queue
    run.credits[port, lane] -= blocks_of(whole(run.events[packet].size))
    out = run.ports[port]
    if run.credits[port, lane] < run.settings.full_blocks and not out.paused >> lane & 1:
        out.paused |= 1 << lane
        run.holds[port, lane].since = run.clock[0].now
        run.holds[port, lane].frames += 1


@inlined
def owe(run: Run, came_by: int, lane: int, size: int, free_at: int) -> None:
    """Return the credits of a packet that came by a port and leaves its buffer at a time."""
    credit = take(run)
    event = run.events[credit]
    event.kind, event.port, event.queue, event.size = CREDIT, run.ports[came_by].peer, lane, size
    schedule(run, credit, free_at + run.ports[came_by].delay + run.settings.credit_ticks)


@inlined
def take_in(run: Run, packet: int) -> None:
    """Return the credits of a packet that arrived at its host, when the host has taken it."""
    event = run.events[packet]
    host, done = run.nodes[run.ports[event.port].node], run.clock[0].now
    if host.drain > 0:
        done = max(done, host.drained_at) + whole(event.size * host.drain)
        host.drained_at = done
    owe(run, event.port, event.queue, event.size, done)


@inlined
def regain(run: Run, event: int) -> int:
    """Credits arrive; the port that may send again, or NONE."""
    port, lane = run.events[event].port, run.events[event].queue
    run.credits[port, lane] += blocks_of(whole(run.events[event].size))
    give_back(run, event)
    if run.credits[port, lane] < run.settings.full_blocks:
        return NONE
    return resume(run, port, lane)
