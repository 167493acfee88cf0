"""Cables: packets arrive in the order in which they were sent, so only the first one of each cable is in the wheel."""

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import prefetch, unsigned
from fabricgen.simulate.packets.records import DATA, NONE
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.ties import tie_of_port
from fabricgen.simulate.packets.wheel import schedule_as


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
