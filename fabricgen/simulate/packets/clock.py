"""The clock of a run: the largest tick that divides the time of a byte on every link, and a nanosecond.

Compat hpcc counts nanoseconds and rounds the time of every packet down to whole ones, as that simulator does.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import floor, gcd, lcm

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError

LEAST_TICK_S = Fraction(1, 10**14)


def exact_tick_s(speeds_gbps: Sequence[float]) -> Fraction:
    """The tick in seconds. Raises UsageError if the speeds have no common tick of at least 0.01 ps."""
    times = [Fraction(8, 10**9) / Fraction(str(speed)) for speed in speeds_gbps] + [Fraction(1, 10**9)]
    denominator = lcm(*(time.denominator for time in times))
    tick = Fraction(gcd(*(int(time * denominator) for time in times)), denominator)
    if tick < LEAST_TICK_S:
        raise UsageError("the speeds of the links have no common clock: use speeds such as 25, 100 or 400 Gb/s")
    return tick


def exact_durations(speeds_gbps: Sequence[float], tick_s: Fraction, largest: int) -> NDArray[np.int64]:
    """The ticks of 0 to `largest` bytes on the wire, [speed, size]; the tick divides the time of a byte."""
    per_byte = [int(Fraction(8, 10**9) / Fraction(str(speed)) / tick_s) for speed in speeds_gbps]
    return np.outer(per_byte, np.arange(largest + 1, dtype=np.int64))


def floored_durations(speeds_gbps: Sequence[float], largest: int) -> NDArray[np.int64]:
    """The whole nanoseconds of 0 to `largest` bytes on the wire: a rounded quotient, then an exact product."""
    return np.array(
        [[floor(Fraction(size * 8.0 / (speed * 1e9)) * 10**9) for size in range(largest + 1)] for speed in speeds_gbps],
        np.int64,
    )
