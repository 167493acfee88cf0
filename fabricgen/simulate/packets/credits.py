"""Credits, the flow control of InfiniBand: a port sends on a virtual lane only what the buffer at the far end has room
for.

A packet uses credits when it leaves, and the far end returns them when it has freed the buffer: a switch when the last
byte of the packet has left, an adapter when it has taken the packet. A port sends on a lane while it has credits for a
full packet; without them the lane counts as paused. Credits are blocks of 64 bytes (InfiniBand Architecture
Specification, volume 1, 7.9).
"""

from fabricgen.physics import CREDIT_BLOCK_BYTES
from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import whole
from fabricgen.simulate.packets.packet import give_back, take
from fabricgen.simulate.packets.pause import resume
from fabricgen.simulate.packets.records import CREDIT, NONE
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import schedule


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
