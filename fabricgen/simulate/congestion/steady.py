"""The rates that flows without end settle at under PFC: the fluid model of `finite` in relative units.

Steady rates depend only on the ratios of thresholds, so the threshold T of a group is its alpha over the median alpha,
and the unit of time is T / C. This works for fabrics of any size. The result counts flows that have not settled.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError
from fabricgen.simulate.congestion.groups import least_threshold_bytes
from fabricgen.simulate.plane.crossings import Crossings, crossings
from fabricgen.simulate.plane.ports import NO_POOL, Floats, Flows, Ports

# How softly a group pauses: its duty falls from 1 to 0 over this share of T plus this number of reaction times. Both
# are fitted to the mean occupancy of throttled groups in a packet simulator.
_SOFTNESS_OF_THRESHOLD = 0.1
_SOFTNESS_OF_REACTION = 1.5
_STEP = 0.2
_WINDOW_STEPS = 50
_MOST_WINDOWS = 40
_SETTLED = 0.01  # change of a rate between windows
_UNSETTLED_SHARE = 0.005
_LEAST_RATE = 0.005
_SOFTEST, _HARDEST = 2.5, 0.15

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Steady:
    """Bytes per ns of each flow; per port the share of time that it may send, the bytes per ns that it sends, and the
    backlog as a share of the median threshold. The rates of `unsettled` flows still changed at the end."""

    rates: Floats
    duty: Floats
    throughput: Floats
    backlog: Floats
    unsettled: int


def steady_rates(ports: Ports, flows: Flows) -> Steady:
    """The steady state from empty queues."""
    crossed = crossings(flows)
    return _Relaxation(ports, crossed).run(len(flows), len(ports))


class _Relaxation:
    def __init__(self, ports: Ports, crossed: Crossings) -> None:
        self.crossed = crossed
        used = crossed.ports
        self.unit = float(ports.bytes_per_ns[used].max())
        self.capacity = (ports.bytes_per_ns[used] / self.unit).astype(np.float32)
        self.guided = ports.pool[used] != NO_POOL
        alpha = np.where(ports.alpha[used] > 0, ports.alpha[used], 1.0)
        usual = float(np.median(alpha[self.guided])) if self.guided.any() else 1.0
        self.threshold = (alpha / usual).astype(np.float32)
        self.width = (self.threshold * _softness(ports, crossed)).astype(np.float32)
        nic = np.zeros(crossed.size, bool)
        nic[crossed.first] = True
        self.at_nic = nic
        self.nic_share = (nic / np.maximum(crossed.spread(crossed.gather(nic.astype(float))), 1.0)).astype(np.float32)
        self.onward, self.before = crossed.onward.astype(np.int32), crossed.before.astype(np.int32)

    def run(self, flows: int, ports: int) -> Steady:
        crossed = self.crossed
        queued, arriving = (np.zeros(crossed.size + 1, np.float32) for _ in range(2))
        rates = np.zeros(flows, np.float32)
        unsettled, calm = flows, 0
        for _ in range(_MOST_WINDOWS):
            earlier = rates
            rates, held, passed, backlog = self._window(queued, arriving)
            changed = np.abs(rates - earlier) / np.maximum(rates, _LEAST_RATE)
            unsettled = int((changed > _SETTLED).sum())
            calm = calm + 1 if unsettled <= _UNSETTLED_SHARE * flows else 0
            if calm >= 2:
                break
        duty = np.where(self.guided, self._duty(held), 1.0)
        return Steady(
            rates=rates.astype(float) * self.unit,
            duty=_scattered(duty, crossed, ports, 1.0),
            throughput=_scattered(passed, crossed, ports, 0.0) * self.unit,
            backlog=_scattered(backlog, crossed, ports, 0.0),
            unsettled=unsettled,
        )

    def _window(self, queued: Singles, arriving: Singles) -> tuple[Singles, Singles, Singles, Singles]:
        """Means over some steps: rates, and per port the bytes in its group, the throughput and the backlog."""
        loops = compiled_window() if self.crossed.size > WORTH_COMPILING else None
        sums = self._loop(loops, queued, arriving) if loops else self._sums(queued, arriving)
        rates, held, passed, backlog = sums
        scale, mean = np.float32(1 / (_WINDOW_STEPS * _STEP)), np.float32(1 / _WINDOW_STEPS)
        return rates * scale, held * mean, passed * scale, backlog * mean

    def _loop(self, loops: Callable[..., Any], queued: Singles, arriving: Singles) -> tuple[Singles, ...]:
        crossed = self.crossed
        ends = np.append(crossed.starts, crossed.size)
        sums: tuple[Singles, ...] = loops(
            ends, self.onward, crossed.last, self.nic_share, self.capacity, self.threshold, self.width, self.guided,
            queued, arriving, _WINDOW_STEPS, np.float32(_STEP),
        )  # fmt: skip
        return sums

    def _sums(self, queued: Singles, arriving: Singles) -> tuple[Singles, ...]:
        """The same as `steady_loops.window_loops` to the last bit, on whole arrays."""
        crossed, widths = self.crossed, self.crossed.widths
        rates = np.zeros(len(crossed.first), np.float32)
        held_sum, passed_sum, backlog_sum = (np.zeros(len(widths), np.float32) for _ in range(3))
        for _ in range(_WINDOW_STEPS):
            total = queued[:-1] + arriving[:-1]
            held, backlog = self._gathered(queued[self.onward]), self._gathered(total)
            service = self.capacity * np.where(self.guided, self._duty(held), np.float32(1)) * np.float32(_STEP)
            part = np.minimum(np.float32(1), service / np.maximum(backlog, np.float32(1e-9)))
            moved = np.empty(crossed.size + 1, np.float32)
            moved[:-1] = total * np.repeat(part, widths) + np.repeat(service, widths) * self.nic_share
            moved[-1] = 0.0
            queued[:-1] = np.where(self.at_nic, np.float32(0), total - moved[:-1])
            arriving[:-1] = moved[self.before]
            rates += moved[crossed.last]
            held_sum += held
            passed_sum += self._gathered(moved[:-1])
            backlog_sum += np.maximum(backlog - service, np.float32(0))
        return rates, held_sum, passed_sum, backlog_sum

    def _gathered(self, per_entry: Singles) -> Singles:
        return self.crossed.gather(per_entry).astype(np.float32)

    def _duty(self, held: Singles) -> Singles:
        duty: Singles = np.clip((self.threshold + self.width / 2 - held) / self.width, np.float32(0), np.float32(1))
        return duty


def _softness(ports: Ports, crossed: Crossings) -> Floats:
    """How softly each group pauses, as a share of its threshold when all used groups of its switch are full."""
    used = crossed.ports
    reaction = ports.reaction_bytes[used] / np.maximum(least_threshold_bytes(ports, used), 1.0)
    softness: Floats = np.clip(_SOFTNESS_OF_THRESHOLD + _SOFTNESS_OF_REACTION * reaction, _HARDEST, _SOFTEST)
    return softness


def _scattered(values: NDArray[np.floating], crossed: Crossings, ports: int, rest: float) -> Floats:
    found = np.full(ports, rest)
    found[crossed.ports] = values
    return found


# The window of `steady` as plain loops, which numba compiles: four times the speed on large fabrics.
#
# numba comes with the extra [sim]. Without it, and for small problems, the same window runs in numpy with the same
# results to the last bit.

WORTH_COMPILING = 20_000  # crossings

_log = logging.getLogger(__name__)


@cache
def compiled_window() -> Callable[..., Any] | None:
    """`window_loops` as machine code; None without numba."""
    try:
        from fabricgen.simulate.compilation import compiled_with_arrays
    except UsageError:
        return None
    _log.info("compiling the inner loop of the fluid model (once, then cached)")
    return compiled_with_arrays(window_loops)


def window_loops(
    starts: Any, onward: Any, last: Any, nic_share: Any, capacity: Any, threshold: Any, width: Any, guided: Any,
    queued: Any, arriving: Any, steps: int, step: float,
) -> Any:  # fmt: skip
    """Sums over some steps: (delivered bytes of each flow; per port held, passed, backlog). The entries of port p are
    `starts[p]:starts[p + 1]`. `queued` and `arriving` are changed in place; their last entry is a sink."""
    ports, size = len(capacity), len(onward)
    held_sum, passed_sum, backlog_sum = (
        np.zeros(ports, np.float32), np.zeros(ports, np.float32), np.zeros(ports, np.float32),
    )  # fmt: skip
    delivered = np.zeros(size, np.float32)
    coming = np.zeros(size + 1, np.float32)
    service, part = np.zeros(ports, np.float32), np.zeros(ports, np.float32)
    zero, one = np.float32(0), np.float32(1)
    for _ in range(steps):
        for port in range(ports):
            all_held, all_waiting = np.float64(0), np.float64(0)
            for entry in range(starts[port], starts[port + 1]):
                all_held += queued[onward[entry]]
                all_waiting += queued[entry] + arriving[entry]
            held, backlog, duty = np.float32(all_held), np.float32(all_waiting), one
            if guided[port]:
                duty = (threshold[port] + width[port] / np.float32(2) - held) / width[port]
            service[port] = capacity[port] * min(max(duty, zero), one) * step
            part[port] = min(one, service[port] / max(backlog, np.float32(1e-9)))
            held_sum[port] += held
            backlog_sum[port] += max(backlog - service[port], zero)
        for port in range(ports):
            passed = np.float64(0)
            for entry in range(starts[port], starts[port + 1]):
                total = queued[entry] + arriving[entry]
                if nic_share[entry] > 0:
                    moved = service[port] * nic_share[entry]
                    queued[entry] = zero
                else:
                    moved = total * part[port]
                    queued[entry] = total - moved
                passed += moved
                if onward[entry] < size:
                    coming[onward[entry]] = moved
                else:
                    delivered[entry] += moved
            passed_sum[port] += np.float32(passed)
        arriving[:size] = coming[:size]
    return delivered[last], held_sum, passed_sum, backlog_sum
