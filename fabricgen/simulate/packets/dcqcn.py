"""DCQCN in the sending NIC: rate cuts on congestion notifications, recovery by time and by bytes.

Zhu et al., SIGCOMM 2015, in the form of NICs: alpha has a separate timer, and cuts have a minimum distance. Alpha is
updated only when it is read, but timer by timer as in a NIC, so even its rounding is the same.
"""

import numpy as np

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.state import Run
from fabricgen.simulate.packets.wheel import schedule


@inlined
def notify(run: Run, flow: int) -> None:
    """A congestion notification arrives."""
    its, now, settings = run.flows[flow], run.clock[0].now, run.settings
    if not its.slowed:
        its.slowed, its.decreasing, its.notified = 1, 1, 0
        its.alpha, its.alpha_at, its.decrease_origin = 1.0, now, now + 1
        its.target = its.rate
        schedule(run, settings.first_flow + 3 * flow + 1, now + settings.decrease_interval + 1)
        return
    _update_alpha(run, flow, now - settings.older_acks)
    its.notified = 1
    if not its.decreasing:
        its.decreasing = 1
        turn = (now - its.decrease_origin) // settings.decrease_interval + 1
        schedule(run, settings.first_flow + 3 * flow + 1, its.decrease_origin + turn * settings.decrease_interval)


@inlined
def decrease(run: Run, flow: int) -> None:
    """Cut the rate, and restart recovery."""
    its, now, settings = run.flows[flow], run.clock[0].now, run.settings
    if its.completion >= 0 or not its.decreasing:
        return
    _update_alpha(run, flow, now)
    if its.timer_stage != 0 or its.byte_stage != 0:
        its.target = its.rate
    its.rate = max(settings.least_rate, np.floor(its.rate * (1 - its.alpha / 2)))
    its.timer_stage, its.byte_stage, its.counted, its.decreasing = 0, 0, 0, 0
    its.increase_at = now + settings.increase_interval
    if not its.increasing:
        its.increasing = 1
        schedule(run, settings.first_flow + 3 * flow + 2, its.increase_at)


@inlined
def increase_by_time(run: Run, flow: int) -> None:
    """The increase timer expires; a cut in between delays the increase."""
    its, now, settings = run.flows[flow], run.clock[0].now, run.settings
    its.increasing = 0
    if its.completion >= 0:
        return
    if now >= its.increase_at:
        _increase(run, flow)
        its.timer_stage += 1
        its.increase_at = now + settings.increase_interval
    its.increasing = 1
    schedule(run, settings.first_flow + 3 * flow + 2, its.increase_at)


@inlined
def increase_by_bytes(run: Run, flow: int, size: int) -> None:
    """Count bytes for the increase by bytes, if it is used and the flow was ever slowed down."""
    its = run.flows[flow]
    if run.settings.byte_counter == 0 or not its.slowed:
        return
    its.counted += size
    if its.counted >= run.settings.byte_counter:
        its.counted = 0
        _increase(run, flow)
        its.byte_stage += 1


@inlined
def _increase(run: Run, flow: int) -> None:
    """Move the rate halfway to the target. After fast recovery the target rises as well, then faster."""
    its, settings = run.flows[flow], run.settings
    low, high = its.timer_stage, its.timer_stage
    if settings.byte_counter:
        low, high = min(low, its.byte_stage), max(high, its.byte_stage)
    if low > settings.fast_recovery:
        its.target = min(its.line_rate, its.target + settings.hyper)
    elif high >= settings.fast_recovery:
        its.target = min(its.line_rate, its.target + settings.additive)
    its.rate = np.floor(its.rate / 2) + np.floor(its.target / 2)


@inlined
def _update_alpha(run: Run, flow: int, now: int) -> None:
    """Apply the timers of alpha up to `now`."""
    its, g = run.flows[flow], run.settings.g
    ticks = (now - its.alpha_at) // run.settings.alpha_interval
    if ticks <= 0:
        return
    decays = ticks
    if its.notified:
        its.alpha = (1 - g) * its.alpha + g
        decays -= 1
    for _ in range(decays):
        its.alpha *= 1 - g
    its.alpha_at += ticks * run.settings.alpha_interval
    its.notified = 0
