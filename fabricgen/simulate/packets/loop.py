"""The event loop: one event after another, and the packets that ports send because of it."""

from fabricgen.simulate.compilation import compiled, inlined
from fabricgen.simulate.packets.buffer import resume_if_empty
from fabricgen.simulate.packets.cable import enter, leave
from fabricgen.simulate.packets.credits import owe, regain, spend, take_in
from fabricgen.simulate.packets.dcqcn import decrease, increase_by_time
from fabricgen.simulate.packets.intrinsics import unsigned
from fabricgen.simulate.packets.nic import next_of_host, receive, start
from fabricgen.simulate.packets.packet import give_back
from fabricgen.simulate.packets.pause import expire, obey, refresh
from fabricgen.simulate.packets.records import (
    CONTROL,
    CREDIT,
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
from fabricgen.simulate.packets.wheel import next_event, schedule_as

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
