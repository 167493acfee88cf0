"""The steps of `finite` as plain loops, which numba compiles: tens of times the speed of whole arrays.

Import it late: numba comes with the extra [sim]. Without it, and for small problems, the same steps run in numpy. Both
do the same arithmetic in the same order, so their results are equal to the last bit.
"""

from typing import Any

import numpy as np

from fabricgen.simulate.compilation import compiled, inlined
from fabricgen.simulate.congestion.acks import returned
from fabricgen.simulate.congestion.fifo import TINY

_returned = inlined(returned)


@inlined
def _push(p: int, starts: Any, arriving: Any, fifos: Any) -> None:
    """`Fifos.push` at one port."""
    cells, filled, head, tail, backlog, _, cell_bytes = fifos
    came = 0.0
    for e in range(starts[p], starts[p + 1]):
        came += arriving[e]
    if came <= 0:
        return
    behind = (tail[p] + 1) % len(filled)
    if filled[tail[p], p] >= cell_bytes[p] and behind != head[p]:
        tail[p] = behind
    for e in range(starts[p], starts[p + 1]):
        cells[tail[p], e] += arriving[e]
    filled[tail[p], p] += came
    backlog[p] += came


@inlined
def _pop(p: int, rest: float, starts: Any, fifos: Any, moved: Any) -> None:
    """`Fifos.pop` at one port."""
    cells, filled, head, tail, backlog, popped, _ = fifos
    while rest > 0:
        here = filled[head[p], p]
        taken = min(rest, here)
        if taken > 0:
            stays = 1.0 - taken / max(here, TINY)
            for e in range(starts[p], starts[p + 1]):
                waiting = cells[head[p], e]
                cells[head[p], e] = waiting * stays
                moved[e] += waiting - waiting * stays
            filled[head[p], p] = here - taken
            backlog[p] -= taken
            popped[p] += taken
            rest -= taken
        if taken < here or head[p] == tail[p]:
            return
        head[p] = (head[p] + 1) % len(filled)


@inlined
def _shared(p: int, settings: Any, state: Any) -> float:
    """The bytes of its pool that a group holds."""
    reserve, (held, headroom) = settings[2], state[:2]
    shared: float = max(held[p] - reserve[p] - headroom[p], 0.0)
    return shared


@inlined
def _count_shared(ports: int, settings: Any, state: Any, taken: Any) -> None:
    """The bytes of each pool that all groups hold after the last step."""
    taken[:] = 0.0
    held, headroom, gone = state[0], state[1], state[3]
    for p in range(ports):
        if settings[0][p] >= 0:
            headroom[p] = min(max(headroom[p] - gone[p], 0.0), max(held[p], 0.0))
            taken[settings[0][p]] += _shared(p, settings, state)


@inlined
def _paused(p: int, step: int, settings: Any, state: Any, taken: Any) -> bool:
    """`Groups.paused` of one port."""
    pool, alpha, _, pool_bytes, resume, lag, static = settings
    _, headroom, came, _, full, requests = state
    if pool[p] < 0:
        return False
    shared = _shared(p, settings, state)
    limit = static[p] + alpha[p] * max(pool_bytes[pool[p]] - taken[pool[p]], 0.0)
    beyond = min(max(shared - limit, 0.0), came[p])
    headroom[p] += beyond
    shared -= beyond
    over = headroom[p] > 0 or (shared > 0 and shared >= limit)
    full[p] = over or (full[p] and shared > max(limit - resume[p], 0.0))
    requests[step % len(requests), p] = full[p]
    return bool(requests[(step - lag[p]) % len(requests), p])


@inlined
def _send(now: float, nic: Any, left: Any, start_ns: Any, service: Any, takers: Any, sent: Any) -> None:
    """The bytes that each flow's NIC sends of it."""
    takers[:] = 0.0
    for f in range(len(left)):
        if left[f] > 0 and start_ns[f] <= now:
            takers[nic[f]] += 1
    for f in range(len(left)):
        sent[f] = 0.0
        if left[f] > 0 and start_ns[f] <= now:
            sent[f] = min(left[f], service[nic[f]] / takers[nic[f]])
            left[f] -= sent[f]


@inlined
def _move(crossed: Any, moved: Any, arriving: Any, state: Any, due: Any, acked: Any) -> None:
    """Bytes that left their ports arrive at the next port, or are delivered."""
    flow, onward, before, port = crossed
    held, _, came, gone, _, _ = state
    came[:] = 0.0
    gone[:] = 0.0
    for e in range(len(flow)):
        if before[e] < len(flow):
            arriving[e] = moved[before[e]]
        if onward[e] < len(flow):
            came[port[e]] += moved[e]
            gone[port[e]] += moved[onward[e]]
        else:
            due[flow[e]] -= moved[e]
            acked[flow[e]] += moved[e]
    for p in range(len(held)):
        held[p] += came[p] - gone[p]


@inlined
def _watch(watched_ns: float, least: float, service: Any, backlog: Any, takers: Any, totals: Any) -> None:
    """The time with packets, at full speed with more waiting, and paused."""
    for p in range(len(service)):
        waits = backlog[p] > least * service[p]
        if waits or takers[p] > 0:
            totals[0, p] += watched_ns
            if service[p] == 0:
                totals[2, p] += watched_ns
            elif waits:
                totals[1, p] += watched_ns


@inlined
def _end(at: float, last_bytes: float, flows: Any, acks: Any, service: Any, fifos: Any) -> bool:
    """Set the times of flows whose data arrives now, and of those that complete; whether any complete."""
    _, due, _, start_ns, time_ns, delivered_ns = flows
    ended = False
    for f in range(len(due)):
        if due[f] <= last_bytes and np.isnan(time_ns[f]):
            if np.isnan(delivered_ns[f]):
                delivered_ns[f] = at - start_ns[f]
            since_ns = at - start_ns[f] - delivered_ns[f]
            if _returned(f, since_ns, acks, service, fifos[5], fifos[4], last_bytes):
                time_ns[f] = delivered_ns[f] + acks[5][f]
                ended = True
    return ended


@compiled
def step_loops(
    steps: Any, limits: Any, starts: Any, crossed: Any, nic: Any, first: Any, flows: Any, capacity: Any, fifos: Any,
    acks: Any, arriving: Any, settings: Any, state: Any, totals: Any, scratch: Any,
) -> int:  # fmt: skip
    """Advance up to `steps[0]` steps, and change all arrays in place; the number of steps done. A step in which a flow
    completes is the last. Flows are those under way; the entries of port p are `starts[p]:starts[p + 1]`."""
    count, begin, begin_ns, step_ns = steps
    watched, last_bytes, least_wait = limits
    left, due, acked, start_ns, _, _ = flows
    service, moved, taken, takers, sent = scratch
    ports = len(capacity)
    for done in range(count):
        now = begin_ns + (begin + done) * step_ns
        for p in range(ports):
            _push(p, starts, arriving, fifos)
        _count_shared(ports, settings, state, taken)
        for p in range(ports):
            service[p] = 0.0 if _paused(p, begin + done, settings, state, taken) else capacity[p] * step_ns
        _send(now, nic, left, start_ns, service, takers, sent)
        moved[:] = 0.0
        for p in range(ports):
            _pop(p, service[p], starts, fifos, moved)
        for f in range(len(left)):
            moved[first[f]] = sent[f]
        _move(crossed, moved, arriving, state, due, acked)
        if (begin + done) % watched == 0:
            _watch(watched * step_ns, least_wait, service, fifos[4], takers, totals)
        if _end(now + step_ns, last_bytes, flows, acks, service, fifos):
            return done + 1
    return int(count)
