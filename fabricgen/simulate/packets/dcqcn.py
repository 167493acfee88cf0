"""DCQCN in the sending NIC: rate cuts on congestion notifications, recovery by time and by bytes.

Zhu et al., SIGCOMM 2015, in the form of NICs: alpha has a separate timer, and cuts have a minimum distance. Alpha is
updated only when it is read, but timer by timer as in a NIC, so even its rounding is the same.
"""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import whole
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import schedule


@inlined
def notify(run: Run, flow: int) -> None:
    """A congestion notification arrives."""
    record, now, settings = run.flows[flow], run.clock[0].now, run.settings
    if not record.slowed:
        record.slowed, record.decreasing, record.notified = 1, 1, 0
        record.alpha, record.alpha_at, record.decrease_origin = 1.0, now, now + 1
        record.target = record.rate
        schedule(run, settings.first_flow + 3 * flow + 1, now + settings.decrease_interval + 1)
        return
    _update_alpha(run, flow, now - whole(_is_older(run, record.port)))
    record.notified = 1
    if not record.decreasing:
        record.decreasing = 1
        turn = (now - record.decrease_origin) // settings.decrease_interval + 1
        schedule(run, settings.first_flow + 3 * flow + 1, record.decrease_origin + turn * settings.decrease_interval)


@inlined
def _is_older(run: Run, port: int) -> bool:
    """Whether an ACK was sent to this port before a timer of alpha that expires when it arrives was set: compat hpcc
    has it first."""
    source, settings = run.ports[port], run.settings
    return bool(
        settings.truncated and run.durations[source.speed, settings.ack_size] + source.delay > settings.alpha_interval
    )


@inlined
def decrease(run: Run, flow: int) -> None:
    """Cut the rate, and restart recovery."""
    record, now, settings = run.flows[flow], run.clock[0].now, run.settings
    if record.completion >= 0 or not record.decreasing:
        return
    if record.increasing and record.increase_at == now and settings.increase_interval > settings.decrease_interval:
        _increase(run, flow)  # the longer timer was set first, so it expires first
        record.timer_stage += 1
    _update_alpha(run, flow, now)
    if record.timer_stage != 0 or record.byte_stage != 0:
        record.target = record.rate
    record.rate = max(settings.least_rate, np.floor(record.rate * (1 - record.alpha / 2)))
    record.timer_stage, record.byte_stage, record.counted, record.decreasing = 0, 0, 0, 0
    record.increase_at = now + settings.increase_interval
    if not record.increasing:
        record.increasing = 1
        schedule(run, settings.first_flow + 3 * flow + 2, record.increase_at)


@inlined
def increase_by_time(run: Run, flow: int) -> None:
    """The increase timer expires; a cut in between delays the increase."""
    record, now, settings = run.flows[flow], run.clock[0].now, run.settings
    if record.completion >= 0:
        record.increasing = 0
        return
    if settings.increase_interval <= settings.decrease_interval and _cut_is_due(run, flow):
        decrease(run, flow)
    if now >= record.increase_at:
        _increase(run, flow)
        record.timer_stage += 1
        record.increase_at = now + settings.increase_interval
    schedule(run, settings.first_flow + 3 * flow + 2, record.increase_at)


@inlined
def _cut_is_due(run: Run, flow: int) -> bool:
    record = run.flows[flow]
    return bool(record.decreasing and (run.clock[0].now - record.decrease_origin) % run.settings.decrease_interval == 0)


@inlined
def increase_by_bytes(run: Run, flow: int, size: int) -> None:
    """Count bytes for the increase by bytes, if it is used and the flow was ever slowed down."""
    record = run.flows[flow]
    if run.settings.byte_counter == 0 or not record.slowed:
        return
    record.counted += size
    if record.counted >= run.settings.byte_counter:
        record.counted = 0
        _increase(run, flow)
        record.byte_stage += 1


@inlined
def _increase(run: Run, flow: int) -> None:
    """Move the rate halfway to the target. After fast recovery the target rises as well, then faster."""
    record, settings = run.flows[flow], run.settings
    low, high = record.timer_stage, record.timer_stage
    if settings.byte_counter:
        low, high = min(low, record.byte_stage), max(high, record.byte_stage)
    if low > settings.fast_recovery:
        record.target = min(record.line_rate, record.target + settings.hyper)
    elif high >= settings.fast_recovery:
        record.target = min(record.line_rate, record.target + settings.additive)
    record.rate = np.floor(record.rate / 2) + np.floor(record.target / 2)


@inlined
def _update_alpha(run: Run, flow: int, now: int) -> None:
    """Apply the timers of alpha up to `now`."""
    record, g = run.flows[flow], run.settings.g
    ticks = (now - record.alpha_at) // run.settings.alpha_interval
    if ticks <= 0:
        return
    decays = ticks
    if record.notified:
        record.alpha = (1 - g) * record.alpha + g
        decays -= 1
    for _ in range(decays):
        record.alpha *= 1 - g
    record.alpha_at += ticks * run.settings.alpha_interval
    record.notified = 0
