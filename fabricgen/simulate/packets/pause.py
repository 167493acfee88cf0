"""Pause frames at both ends: their effect on the port that receives them, their expiry, and their repetition.

IEEE 802.1Qbb: a pause lasts for a number of quanta of 512 bit times, so it must be repeated, and a port may take some
time to obey it.
"""

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import whole
from fabricgen.simulate.packets.packet import give_back, push_pause
from fabricgen.simulate.packets.records import EXPIRE, NONE, PAUSE, REFRESH, RESUME
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import schedule


@inlined
def obey(run: Run, frame: int) -> int:
    """Apply a pause frame; the port that may resume, or NONE."""
    event = run.events[frame]
    port, lane, pauses = event.port, event.queue, event.kind == PAUSE
    _log(run, port, lane, pauses)
    give_back(run, frame)
    if not pauses:
        return resume(run, port, lane)
    out, hold = run.ports[port], run.holds[port, lane]
    hold.frames += 1
    if out.deaf >> lane & 1 or (out.is_switch and not run.groups[port, lane].lossless):
        return NONE
    if not out.paused >> lane & 1:
        hold.since = run.clock[0].now
        out.paused |= 1 << lane
    if run.pfc[port].pause > 0:
        hold.expires = run.clock[0].now + run.pfc[port].pause
        if not hold.armed:
            hold.armed = 1
            _time(run, port, lane, EXPIRE, hold.expires)
    return NONE


@inlined
def expire(run: Run, event: int) -> int:
    """End a pause if its time is over; the port that may resume, or NONE."""
    port, lane = run.events[event].port, run.events[event].queue
    hold = run.holds[port, lane]
    hold.armed = 0
    if not run.ports[port].paused >> lane & 1:
        return NONE
    if run.clock[0].now >= hold.expires:
        return resume(run, port, lane)
    hold.armed = 1
    _time(run, port, lane, EXPIRE, hold.expires)
    return NONE


@inlined
def refresh(run: Run, event: int) -> int:
    """Repeat a pause that still applies; a host resumes its switch when its own pause is over. The port with a frame to
    send, or NONE."""
    port, lane = run.events[event].port, run.events[event].queue
    group, node = run.groups[port, lane], run.nodes[run.ports[port].node]
    group.repeating = 0
    kind = PAUSE
    if node.is_switch:
        if not group.pausing:
            return NONE
    else:
        if node.drain > 0:
            drain(run, port)
        storming = node.storm_from <= run.clock[0].now < node.storm_until
        if not storming and node.backlog <= node.backlog_limit // 2:
            kind = RESUME
        if kind == RESUME and not group.pausing:
            return NONE
        group.pausing = 1 if kind == PAUSE else 0
    push_pause(run, port, lane, kind)
    if kind == PAUSE:
        repeat_later(run, port, lane)
    return port


@inlined
def repeat_later(run: Run, port: int, lane: int) -> None:
    """Schedule the repetition of a pause before its time is over, and at a host when its pause may be over."""
    if run.groups[port, lane].repeating:
        return
    node, now = run.nodes[run.ports[port].node], run.clock[0].now
    wait = whole(run.pfc[port].refresh)
    if not node.is_switch:
        end = node.storm_until - now if node.storm_from <= now else 0
        if node.drain > 0:
            end = max(end, whole((node.backlog - node.backlog_limit // 2) * node.drain) + 1)
        wait = min(wait, end) if wait > 0 else end
    if wait > 0:
        run.groups[port, lane].repeating = 1
        _time(run, port, lane, REFRESH, now + wait)


@inlined
def drain(run: Run, port: int) -> None:
    """Update the backlog of a slow receiver."""
    host, now = run.nodes[run.ports[port].node], run.clock[0].now
    taken = whole((now - host.drained_at) / host.drain)
    if taken >= host.backlog:
        host.backlog, host.drained_at = 0, now
    else:
        host.backlog -= taken
        host.drained_at += whole(taken * host.drain)


@inlined
def resume(run: Run, port: int, lane: int) -> int:
    """End the pause of a class; the port."""
    out, hold = run.ports[port], run.holds[port, lane]
    if out.paused >> lane & 1:
        hold.total += run.clock[0].now - hold.since
        out.paused &= ~(1 << lane)
        run.nodes[out.node].quiet_until = 0
    return port


@inlined
def _time(run: Run, port: int, lane: int, kind: int, time: int) -> None:
    """Start one of the two timers of a port's class: EXPIRE or REFRESH."""
    event = run.settings.first_pause + 3 * (port * run.settings.classes + lane) + (kind == REFRESH)
    run.events[event].kind, run.events[event].port, run.events[event].queue = kind, port, lane
    schedule(run, event, time)


@inlined
def _log(run: Run, port: int, lane: int, pauses: int) -> None:
    """Log the arrival of a frame."""
    clock = run.clock[0]
    row = run.frames[clock.frames]
    row.time, row.port, row.queue, row.pause = clock.now - run.pfc[port].response, port, lane, pauses
    clock.frames += 1
