"""The run's clock: the largest tick of which every byte on every link, and every nanosecond, is a whole number.

Compat hpcc counts nanoseconds and rounds every packet's time down to one, as that simulator does.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import floor, gcd, lcm

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError

LEAST_TICK_S = Fraction(1, 10**14)


def exact_tick_s(speeds_gbps: Sequence[float]) -> Fraction:
    """Seconds of a tick. Raises UsageError where the speeds have no common tick of 0.01 ps or more."""
    times = [Fraction(8, 10**9) / Fraction(str(speed)) for speed in speeds_gbps] + [Fraction(1, 10**9)]
    denominator = lcm(*(time.denominator for time in times))
    tick = Fraction(gcd(*(int(time * denominator) for time in times)), denominator)
    if tick < LEAST_TICK_S:
        raise UsageError("the links' speeds have no common clock: use speeds such as 25, 100 or 400 Gb/s")
    return tick


def exact_durations(speeds_gbps: Sequence[float], tick_s: Fraction, largest: int) -> NDArray[np.int64]:
    """Ticks on the wire of 0 to `largest` bytes, [speed, size]."""
    per_byte = [int(Fraction(8, 10**9) / Fraction(str(speed)) / tick_s) for speed in speeds_gbps]  # whole by the clock
    return np.outer(per_byte, np.arange(largest + 1, dtype=np.int64))


def floored_durations(speeds_gbps: Sequence[float], largest: int) -> NDArray[np.int64]:
    """Whole nanoseconds on the wire of 0 to `largest` bytes: a rounded quotient, then an exact product."""
    return np.array(
        [[floor(Fraction(size * 8.0 / (speed * 1e9)) * 10**9) for size in range(largest + 1)] for speed in speeds_gbps],
        np.int64,
    )
