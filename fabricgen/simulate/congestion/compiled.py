"""The window of `steady` as plain loops, which numba compiles: four times the speed on large fabrics.

numba comes with the extra [sim]; without it, and for small problems, where compiling costs more than it saves, the same
window runs in numpy with the same results.
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
    """`window_loops`, compiled; None without numba."""
    try:
        from numba import njit
    except ImportError:
        return None
    _log.info("compiling the fluid's inner loop (once, then cached)")
    window: Callable[..., Any] = njit(cache=True, nogil=True)(window_loops)
    return window


def window_loops(
    starts: Any, onward: Any, last: Any, nic_share: Any, capacity: Any, threshold: Any, width: Any, guided: Any,
    queued: Any, arriving: Any, steps: int, step: float,
) -> Any:  # fmt: skip
    """Sums over some steps: (delivered of each flow; per port held, passed, backlog). Entries of port p are
    `starts[p]:starts[p + 1]`; `queued` and `arriving` are changed in place, their last entry is a sink."""
    ports, size = len(capacity), len(onward)
    held_sum, passed_sum, backlog_sum = (
        np.zeros(ports, np.float32), np.zeros(ports, np.float32), np.zeros(ports, np.float32),
    )  # fmt: skip
    delivered = np.zeros(size, np.float32)
    coming = np.zeros(size + 1, np.float32)
    service, part = np.zeros(ports, np.float32), np.zeros(ports, np.float32)
    for _ in range(steps):
        for port in range(ports):
            held, backlog = np.float32(0), np.float32(0)
            for entry in range(starts[port], starts[port + 1]):
                held += queued[onward[entry]]
                backlog += queued[entry] + arriving[entry]
            duty = (threshold[port] + width[port] / np.float32(2) - held) / width[port] if guided[port] else 1.0
            service[port] = capacity[port] * min(max(duty, 0.0), 1.0) * step
            part[port] = min(1.0, service[port] / max(backlog, np.float32(1e-9)))
            held_sum[port] += held
            backlog_sum[port] += max(backlog - service[port], np.float32(0))
        for port in range(ports):
            for entry in range(starts[port], starts[port + 1]):
                total = queued[entry] + arriving[entry]
                if nic_share[entry] > 0:
                    moved = service[port] * nic_share[entry]
                    queued[entry] = 0.0
                else:
                    moved = total * part[port]
                    queued[entry] = total - moved
                passed_sum[port] += moved
                if onward[entry] < size:
                    coming[onward[entry]] = moved
                else:
                    delivered[entry] += moved
        arriving[:size] = coming[:size]
    return delivered[last], held_sum, passed_sum, backlog_sum
