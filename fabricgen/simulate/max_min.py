"""Max-min fair rates on fixed paths, and the completion times of finite flows at these rates.

Ideal congestion control converges to these rates (Bertsekas and Gallager, Data Networks, 1987, section 6.5.2).

Progressive filling with many bottlenecks at a time: if the fair share of a port is the smallest for every flow that
crosses it, this share does not depend on other ports. One round settles all such ports.
"""

import numpy as np

from fabricgen.simulate.plane.crossings import Crossings, crossings
from fabricgen.simulate.plane.ports import NO_PORT, Floats, Flows, Ports

_ALIKE = 1e-9
_ACK_ROUNDS = 4  # acknowledgements use capacity, and their rate depends on the rates of the flows
_TOGETHER = 0.002  # completions within this relative distance are one event


def max_min_rates(ports: Ports, flows: Flows) -> Floats:
    """Bytes per ns of every flow when all send."""
    if not len(flows):
        return np.zeros(0)
    crossed = crossings(flows)
    capacity = ports.bytes_per_ns[crossed.ports]
    rates = _fill(capacity, crossed)
    if not ports.ack_bytes or flows.back is None:
        return rates
    for _ in range(_ACK_ROUNDS - 1):
        rates = _fill(capacity - ack_load(ports, flows, rates)[crossed.ports], crossed)
    return rates


def ack_load(ports: Ports, flows: Flows, rates: Floats) -> Floats:
    """Bytes per ns that acknowledgements use at each port."""
    if flows.back is None or not ports.ack_bytes:
        return np.zeros(len(ports))
    flow, hop = (flows.back != NO_PORT).nonzero()
    share = ports.ack_bytes / ports.packet_bytes
    taken = np.bincount(flows.back[flow, hop], weights=share * rates[flow], minlength=len(ports))
    return taken.astype(float)


def _fill(capacity: Floats, crossed: Crossings) -> Floats:
    left, rates = np.maximum(capacity, 0.0).astype(float), np.zeros(len(crossed.first))
    open_flow = np.ones(len(rates), bool)
    waiting = crossed.widths.astype(float)
    while open_flow.any():
        share = np.where(waiting > 0.5, left / np.maximum(waiting, 1.0), np.inf)
        least = crossed.least_of_flow(share)
        # a port settles if none of its open flows has a smaller share at another port
        bound = np.where(open_flow, least, np.inf)[crossed.flow]
        settled = np.minimum.reduceat(bound, crossed.starts) >= share * (1 - _ALIKE)
        settled &= waiting > 0.5
        fixed = np.zeros(len(rates) + 1, bool)
        fixed[crossed.flow[np.repeat(settled, crossed.widths)]] = True
        fixed = fixed[:-1] & open_flow
        rates[fixed] = least[fixed]
        open_flow &= ~fixed
        gone = fixed[crossed.flow]
        left -= crossed.gather(np.where(gone, rates[crossed.flow], 0.0))
        waiting -= crossed.gather(gone.astype(float))
        np.maximum(left, 0.0, out=left)
    return rates


def max_min_times_ns(ports: Ports, flows: Flows) -> Floats:
    """The completion time of each flow from its start, with max-min fair rates at every moment and without latency."""
    ended, left = np.zeros(len(flows)), flows.bytes.astype(float)
    alive = np.argsort(flows.start_ns, kind="stable")
    starts = np.unique(flows.start_ns)
    now = float(starts[0]) if len(starts) else 0.0
    while len(alive):
        running = alive[flows.start_ns[alive] <= now]
        later = starts[starts > now]
        horizon = float(later[0]) - now if len(later) else np.inf
        if not len(running):
            now += horizon
            continue
        rates = np.maximum(max_min_rates(ports, flows.only(running)), 1e-12)
        needed = left[running] / rates
        step = min(float(needed.min()), horizon)
        done = needed <= step * (1 + _ALIKE) + (_TOGETHER * (now - starts[0] + step) if step < horizon else 0.0)
        left[running] -= rates * step
        ended[running[done]] = now + needed[done]
        now += step
        through = np.zeros(len(flows), bool)
        through[running[done]] = True
        alive = alive[~through[alive]]
    return ended - flows.start_ns
