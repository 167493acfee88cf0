"""Packets: allocation, and the queues that they wait in."""

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.draws import skip_stream
from fabricgen.simulate.packets.intrinsics import prefetch, unsigned
from fabricgen.simulate.packets.records import DOWN, NAK, NONE
from fabricgen.simulate.packets.state import Run


@inlined
def take(run: Run) -> int:
    """Allocate a packet; the loop ensures that a free one exists."""
    clock = run.clock[0]
    packet = clock.free
    clock.free = run.events[packet].next
    clock.free_count -= 1
    return packet


@inlined
def give_back(run: Run, packet: int) -> None:
    """Free a packet that has arrived or is lost."""
    clock = run.clock[0]
    run.events[packet].next = clock.free
    clock.free = packet
    clock.free_count += 1


@inlined
def push(run: Run, port: int, lane: int, packet: int) -> None:
    """Append a packet to the queue of a class."""
    queue = run.queues[port, lane]
    run.events[packet].next = NONE
    if queue.head == NONE:
        queue.head = packet
        run.ports[port].waiting |= 1 << lane
    else:
        run.events[queue.tail].next = packet
    queue.tail = packet


@inlined
def pop(run: Run, port: int, lane: int) -> int:
    """Remove the first packet from the queue of a class, which is not empty."""
    queue = run.queues[port, lane]
    packet = queue.head
    queue.head = run.events[packet].next
    if queue.head == NONE:
        run.ports[port].waiting &= ~(1 << lane)
    else:
        prefetch(run.events, unsigned(queue.head), 0)
    return packet


@inlined
def push_control(run: Run, port: int, packet: int) -> None:
    """Append a packet to the control queue, which is never paused."""
    out = run.ports[port]
    run.events[packet].next = NONE
    if out.control_head == NONE:
        out.control_head = packet
    else:
        run.events[out.control_tail].next = packet
    out.control_tail = packet


@inlined
def pop_control(run: Run, port: int) -> int:
    """Remove the first packet from the control queue, which is not empty."""
    out = run.ports[port]
    packet = out.control_head
    out.control_head = run.events[packet].next
    return packet


@inlined
def push_pause(run: Run, port: int, lane: int, kind: int) -> None:
    """Send a pause frame for a class, PAUSE or RESUME, to the peer of a port whose link is up. A host sends it after
    earlier frames, and before its ACKs, which may be paused."""
    out = run.ports[port]
    if out.state & DOWN:
        return
    if run.settings.truncated:
        skip_stream(run)
    frame = take(run)
    event = run.events[frame]
    event.kind, event.size, event.queue = kind, run.settings.pause_size, lane
    before, following = NONE, out.control_head
    if not run.nodes[out.node].is_switch:
        while following != NONE and run.events[following].kind > NAK:
            before, following = following, run.events[following].next
    if run.nodes[out.node].is_switch or following == NONE:
        push_control(run, port, frame)
        return
    event.next = following
    if before == NONE:
        out.control_head = frame
    else:
        run.events[before].next = frame
