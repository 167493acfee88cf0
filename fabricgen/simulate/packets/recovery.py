"""How losses are reported, and go-back-N: the receiver drops packets that arrive out of order."""

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.packet import give_back
from fabricgen.simulate.packets.records import CNP, LOSS, NAK, TIMEOUT
from fabricgen.simulate.packets.reordering import repeat_old
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import schedule


@inlined
def lost(run: Run, packet: int) -> None:
    """Drop a packet, or a pause frame with a dead link. A report of the loss travels to the source, whose timer has no
    effect without a loss."""
    event = run.events[packet]
    if event.kind <= NAK:
        run.clock[0].drops += 1
        if event.kind != CNP and run.settings.timeout > 0:
            event.kind = LOSS
            schedule(run, packet, run.clock[0].now + run.flows[event.flow].travel)
            return
    give_back(run, packet)


@inlined
def reported(run: Run, report: int) -> None:
    """The report of a loss reaches the source."""
    start_timer(run, run.events[report].flow)
    give_back(run, report)


@inlined
def start_timer(run: Run, flow: int) -> None:
    """Start the retransmission timer of a flow, unless it runs."""
    record = run.flows[flow]
    if record.timer == 0 and record.completion < 0 and run.settings.timeout > 0:
        record.timer = 1
        record.progress = record.acked
        if run.settings.selective:
            run.selected.flows[flow].horizon = record.sent
        event = run.settings.first_flow + 3 * flow
        run.events[event].kind = TIMEOUT
        schedule(run, event, run.clock[0].now + run.settings.timeout)


@inlined
def timed_out(run: Run, flow: int) -> None:
    """Go back if no packet was acknowledged since the timer started. A selective sender repeats what is that old."""
    record = run.flows[flow]
    record.timer = 0
    if record.completion >= 0:
        return
    if run.settings.selective and run.selected.flows[flow].selective:
        repeat_old(run, flow)
    elif record.acked == record.progress:
        go_back(run, flow)
    start_timer(run, flow)


@inlined
def go_back(run: Run, flow: int) -> None:
    """Continue with the first unacknowledged packet."""
    record = run.flows[flow]
    run.clock[0].repeats += record.sent - record.acked
    run.nodes[record.node].quiet_until = 0
    record.sent = record.acked
