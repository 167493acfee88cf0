"""The clock of a run: the largest tick that divides the time of a byte on every link, and a nanosecond.

Compat hpcc counts nanoseconds and truncates the time of every packet as that simulator does: first to 2^-64 s, then to
whole nanoseconds. The delays of cables are truncated in the same way, from microseconds.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError

LEAST_TICK_S = Fraction(1, 10**14)
SECOND_FRACTIONS = 2.0**64  # ns-3 truncates a time in seconds, or in another unit, to this fraction, then converts it


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
    """The whole nanoseconds of 0 to `largest` bytes on the wire: the quotient of doubles, held by ns-3 in fractions of
    2^-64 s, then an exact product."""
    return np.array(
        [[_whole_ns(size * 8.0 / (speed * 1e9), 10**9) for size in range(largest + 1)] for speed in speeds_gbps],
        np.int64,
    )


def floored_delay_ns(delay_ns: int) -> int:
    """The delay of a cable in whole nanoseconds, as ns-3 reads it from a topology in microseconds (nstime.h): of 1160,
    1.16us in the file, 1159."""
    return _whole_ns(delay_ns / 1000.0, 1000)


def _whole_ns(time: float, unit_ns: int) -> int:
    """A time in some unit, held in fractions of 2^-64 of the unit, in whole nanoseconds."""
    return int(time * SECOND_FRACTIONS) * unit_ns >> 64
