"""The window of `steady` as plain loops, which numba compiles: four times the speed on large fabrics.

numba comes with the extra [sim]. Without it, and for small problems, the same window runs in numpy with the same
results to the last bit.
"""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

WORTH_COMPILING = 20_000  # crossings

_log = logging.getLogger(__name__)


@cache
def compiled_window() -> Callable[..., Any] | None:
    """`window_loops` as machine code; None without numba."""
    try:
        from numba import njit
    except ImportError:
        return None
    _log.info("compiling the inner loop of the fluid model (once, then cached)")
    window: Callable[..., Any] = njit(cache=True, nogil=True)(window_loops)
    return window


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
