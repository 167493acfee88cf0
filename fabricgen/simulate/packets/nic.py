"""The NIC of a host: the next packet it sends, and the handling of packets that arrive."""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.clock import SECOND_FRACTIONS
from fabricgen.simulate.packets.dcqcn import increase_by_bytes, notify
from fabricgen.simulate.packets.intrinsics import highest, whole
from fabricgen.simulate.packets.packet import give_back, pop, pop_control, push, push_control, push_pause, take
from fabricgen.simulate.packets.pause import drain, repeat_later
from fabricgen.simulate.packets.records import (
    ACK,
    CNP,
    CONTROL,
    DATA,
    ECHO,
    MARKED_DATA,
    MARKED_NAK,
    NAK,
    NEVER,
    NONE,
    PAUSE,
    TRIMMED,
    WAKE,
)
from fabricgen.simulate.packets.recovery import go_back, start_timer
from fabricgen.simulate.packets.reordering import answered, keep, may_send, next_number
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import schedule


@inlined
def start(run: Run, event: int, flow: int) -> int:
    """Start a flow, after all events of its tick that were scheduled before; the port that may send, or NONE."""
    record = run.flows[flow]
    if run.settings.truncated and not record.started:
        record.started = 1
        schedule(run, event, run.clock[0].now)
        return NONE
    record.started = 1
    host = run.nodes[record.node]
    run.order[host.first_flow + host.flows] = flow
    host.flows += 1
    record.rate = record.target = record.line_rate
    record.available = run.clock[0].now
    host.quiet_until = 0
    return int(record.port)


@inlined
def receive(run: Run, packet: int) -> tuple[int, int]:
    """Receive a packet at its host; the ports that may have a packet to send, or NONE."""
    event = run.events[packet]
    port = event.port
    if event.kind <= TRIMMED:
        slow = NONE
        if run.nodes[run.ports[port].node].drain > 0 and not run.settings.credits:
            slow = _backlog(run, port, packet)
        _notify_of_mark(run, packet)
        if _acknowledge(run, packet):
            if run.settings.truncated:
                push_control(run, port, packet)
            else:
                push(run, port, run.events[packet].queue, packet)
            return slow, port
        give_back(run, packet)
        return slow, NONE if run.settings.truncated else port
    if event.kind == CNP:
        notify(run, event.flow)
    else:
        _acknowledged(run, packet)
    give_back(run, packet)
    return NONE, port


@inlined
def _notify_of_mark(run: Run, packet: int) -> None:
    """Send a CNP for a marked packet, unless the last one of the flow is too recent."""
    data = run.events[packet]
    record, now = run.flows[data.flow], run.clock[0].now
    if run.settings.truncated or not run.settings.dcqcn or data.kind != MARKED_DATA:
        return
    if now < record.noticed_at + run.settings.notice_interval:
        return
    record.noticed_at = now
    cnp = take(run)
    event = run.events[cnp]
    event.kind, event.flow, event.step, event.number = CNP, data.flow, record.back, 0
    event.size, event.queue, event.port = run.settings.ack_size, run.settings.responses, data.port
    push(run, data.port, event.queue, cnp)


@inlined
def _acknowledge(run: Run, packet: int) -> bool:
    """Turn a packet that arrived into its ACK; False for a packet out of order without an answer."""
    event = run.events[packet]
    record = run.flows[event.flow]
    marked = event.kind == MARKED_DATA
    if run.settings.selective and run.selected.flows[event.flow].selective:
        keep(run, packet)
    elif not _expect(run, packet):
        return False
    if run.settings.truncated and marked and run.clock[0].now >= record.noticed_at + run.settings.notice_interval:
        record.noticed_at = run.clock[0].now
        event.kind = ECHO if event.kind == ACK else MARKED_NAK
    event.size = run.settings.ack_size
    event.step = record.back
    if run.settings.data_acks:
        event.queue = record.queue
    else:
        event.queue = CONTROL if run.settings.truncated else run.settings.responses
    return True


@inlined
def _expect(run: Run, packet: int) -> bool:
    """Take a packet if it is the expected one, and number its answer; False for a packet out of order without an
    answer."""
    event = run.events[packet]
    record = run.flows[event.flow]
    is_whole = event.kind != TRIMMED
    event.kind = ACK
    if event.number == record.received and is_whole:
        record.received += 1
        record.refused_until = 0
    elif event.number >= record.received:
        if run.clock[0].now < record.refused_until and (is_whole or event.number > record.received):
            return False
        record.refused_until = run.clock[0].now + run.settings.refusal_interval
        event.kind = NAK
    event.number = record.received
    return True


@inlined
def _acknowledged(run: Run, packet: int) -> None:
    """An ACK arrives at the source."""
    event = run.events[packet]
    record = run.flows[event.flow]
    selective = run.settings.selective and run.selected.flows[event.flow].selective
    if selective:
        answered(run, packet)
    else:
        record.acked = max(record.acked, event.number)
        record.sent = max(record.sent, record.acked)
    if record.acked >= record.packets:
        if record.completion < 0:
            record.completion = run.clock[0].now - record.start
            run.clock[0].finished += 1
    elif event.kind >= MARKED_NAK and not selective:
        go_back(run, event.flow)
        start_timer(run, event.flow)  # a packet that overtakes again is dropped without a second NAK
    if (event.kind == ECHO or event.kind == MARKED_NAK) and run.settings.dcqcn:
        notify(run, event.flow)


@inlined
def next_of_host(run: Run, port: int) -> int:
    """The next packet of a NIC: pause frames, then CNPs and ACKs, the highest class first, then the flows in turn. NONE
    if no flow may send; then the NIC wakes up for the next flow that may."""
    out = run.ports[port]
    if out.control_head != NONE:
        first = run.events[out.control_head]
        if first.kind > NAK or not whole(out.paused) >> first.queue & 1:
            return pop_control(run, port)
    ready = whole(out.waiting) & ~whole(out.paused)
    if ready:
        return pop(run, port, highest(ready))
    host = run.nodes[out.node]
    if run.clock[0].now < host.quiet_until:
        return NONE
    place, soonest = _turn(run, port)
    if place == NONE:
        _wake_at(run, out.node, soonest)
        return NONE
    host.last_flow = place
    flow = run.order[host.first_flow + place]
    return _packet_of(run, flow)


@inlined
def _turn(run: Run, port: int) -> tuple[int, int]:
    """The place in `order` of the next flow, or NONE and the time when a flow may send by its rate; complete flows are
    removed on the way."""
    out = run.ports[port]
    host = run.nodes[out.node]
    now, first, count = run.clock[0].now, host.first_flow, host.flows
    found, done, soonest = whole(NONE), whole(count), whole(NEVER)
    place = whole(host.last_flow)
    for _ in range(count):
        place = place + 1 if place + 1 < count else (place + 1) % count
        record = run.flows[run.order[first + place]]
        if may_send(run, run.order[first + place]) if run.settings.selective else record.sent < record.packets:
            if record.available <= now and not whole(out.paused) >> record.queue & 1:
                found = place
                break
            if record.available > now or run.settings.truncated:
                soonest = min(soonest, record.available)
        elif record.acked >= record.packets:
            done = min(done, place)
    if done < count:
        found = _without_complete(run, out.node, found, done)
    return found, soonest


@inlined
def _without_complete(run: Run, node: int, found: int, done: int) -> int:
    """Remove the complete flows of a host from the place `done` on; the new place of the flow at `found`."""
    host = run.nodes[node]
    kept, last = done, whole(host.last_flow)
    if last == done:
        last -= 1
    for later in range(done + 1, host.flows):
        flow = run.order[host.first_flow + later]
        if run.flows[flow].acked < run.flows[flow].packets:
            if later == found:
                found = kept
            run.order[host.first_flow + kept] = flow
            kept += 1
        if later == host.last_flow:
            last = kept - 1
    if not run.settings.truncated:  # ns-3 keeps the number
        host.last_flow = last
    host.flows = kept
    return found


@inlined
def _wake_at(run: Run, node: int, soonest: int) -> None:
    """Wake the NIC up when the next flow may send by its rate, unless it wakes up before."""
    host, now = run.nodes[node], run.clock[0].now
    if not run.settings.truncated:
        host.quiet_until = soonest
    if soonest <= now or soonest == NEVER:
        return
    if host.wake_at and (host.wake_at <= soonest or run.settings.truncated):
        return
    host.wake_at = soonest
    wake = take(run)
    run.events[wake].kind, run.events[wake].port = WAKE, host.port
    schedule(run, wake, soonest)


@inlined
def _packet_of(run: Run, flow: int) -> int:
    """The next packet of a flow; sets the time of the packet after it."""
    record = run.flows[flow]
    packet = take(run)
    event = run.events[packet]
    number = whole(record.sent)
    if run.settings.selective:
        number = next_number(run, flow)
    else:
        record.sent += 1
    event.kind, event.flow, event.number, event.step, event.queue = DATA, flow, number, record.out, record.queue
    event.size = record.last_size if number + 1 == record.packets else run.settings.payload + run.settings.header
    if record.rate == record.line_rate:
        interval = whole(run.durations[run.ports[record.port].speed, event.size])
    else:
        seconds = event.size * 8.0 / record.rate
        if run.settings.truncated:
            seconds = np.floor(seconds * SECOND_FRACTIONS) / SECOND_FRACTIONS
        interval = _ticks(seconds, run.settings.ticks_per_s)
    record.available = run.clock[0].now + interval
    if run.settings.dcqcn:
        increase_by_bytes(run, flow, event.size)
    return packet


@inlined
def _ticks(seconds: float, ticks_per_s: float) -> int:
    """The whole ticks of a time: the exact product of two doubles, rounded down (Dekker 1971)."""
    product = seconds * ticks_per_s
    ticks = np.floor(product)
    if ticks == product:
        split = 134217729.0
        high = split * seconds - (split * seconds - seconds)
        high_per = split * ticks_per_s - (split * ticks_per_s - ticks_per_s)
        low, low_per = seconds - high, ticks_per_s - high_per
        if ((high * high_per - product) + high * low_per + low * high_per) + low * low_per < 0:
            ticks -= 1
    return whole(ticks)


@inlined
def _backlog(run: Run, port: int, packet: int) -> int:
    """Add a packet to the backlog of a slow receiver; the port that sends a pause because of it, or NONE."""
    lane = run.events[packet].queue
    host = run.nodes[run.ports[port].node]
    drain(run, port)
    host.backlog += run.events[packet].size
    if host.backlog <= host.backlog_limit or run.groups[port, lane].pausing:
        return NONE
    run.groups[port, lane].pausing = 1
    push_pause(run, port, lane, PAUSE)
    repeat_later(run, port, lane)
    return port
