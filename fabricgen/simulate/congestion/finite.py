"""Completion times under PFC: a fluid model in bytes and ns that starts from empty queues.

Packets of one priority wait at a port in one FIFO (`fifo`). A full priority group pauses the port that feeds it
(`groups`), so backlog grows hop by hop towards the senders. The steady state is not unique: with two full queues in a
row, either may hold the bytes. So the model follows time instead of solving for a fixed point. It has no fitted
parameters: the order of arrival, thresholds, headroom and reaction times are those of the network.
"""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricgen.errors import UsageError
from fabricgen.simulate.congestion.acks import Acks, returned
from fabricgen.simulate.congestion.fifo import Fifos, cell_bytes
from fabricgen.simulate.congestion.groups import Groups, group_settings, least_threshold_bytes, reaction_ns
from fabricgen.simulate.max_min import ack_load
from fabricgen.simulate.plane.crossings import Crossings, crossings
from fabricgen.simulate.plane.ports import NO_POOL, Flags, Floats, Flows, Ints, Ports
from fabricgen.simulate.plane.ports import latency_ns as latency_of

_log = logging.getLogger(__name__)

_STEP_NS = 50.0
_STEPS_OF_SHORTEST = 400  # the shortest flow takes at least so many steps, unless they are shorter than _STEP_NS
_STEPS_OF_REACTION = 20  # a step is short compared with the reaction time of a pause,
_STEPS_OF_FILLING = 60  # or with the time in which a group fills, if that is longer
_STEPS_OF_FILLING_FOR_LONG, _LONG = 20, 4000  # if every flow takes more than _LONG such steps, only shares matter
_ACK_STEPS = 200
_WATCHED_STEPS = 4
_LAST_BYTES = 1.0
_COMPACT = 0.8
_CELL_PACKETS = 2
_FULL = 0.001
_RUNS, _SHIFT_NS = 5, 400.0
# Steps times crossings, and the cost of the numpy calls of one step in crossings.
_WORTH_COMPILING, _MOST_REPEATED, _ENTRIES_OF_CALLS = 5_000_000, 150_000_000, 3000


@dataclass(frozen=True)
class FiniteRun:
    """`time_ns`: each flow's completion from its start, NaN if it does not complete within the horizon. Per port: the
    time in which it had packets to send (`wanted_ns`), sent at full speed with more waiting (`busy_ns`), and was paused
    with packets to send (`paused_ns`). `delivered_ns` is without the wait of the last acknowledgement."""

    time_ns: Floats
    delivered_ns: Floats
    wanted_ns: Floats
    busy_ns: Floats
    paused_ns: Floats


def run_fluid(ports: Ports, flows: Flows, horizon_ns: float, *, repeat: bool = True) -> FiniteRun:
    """Follow all flows to their completion, or to the horizon (from time 0).

    Behind several layers of paused ports the order of arrival matters, and starts some ns apart change single flows by
    a tenth. With `repeat`, and where the cost is low, each flow gets the median over such starts.
    """
    fluid = _Fluid(ports, flows)
    first = fluid.run(horizon_ns)
    if fluid.work > _MOST_REPEATED or not repeat:
        return first
    runs = [first]
    for seed in range(1, _RUNS):
        shift = np.random.default_rng(seed).uniform(0.0, _SHIFT_NS, len(flows))
        runs.append(_Fluid(ports, replace(flows, start_ns=flows.start_ns + shift)).run(horizon_ns))
    times, delivered = ([getattr(run, name) for run in runs] for name in ("time_ns", "delivered_ns"))
    return replace(first, time_ns=np.median(times, axis=0), delivered_ns=np.median(delivered, axis=0))


class _Fluid:
    def __init__(self, ports: Ports, flows: Flows) -> None:
        self.ports, self.flows = ports, flows
        self.alive = np.arange(len(flows))
        self.crossed = crossings(flows)
        used = self.crossed.ports
        self.step_ns = _step_ns(ports, flows, used)
        self.fifos = Fifos(self.crossed, _cell_bytes(ports, flows, self.crossed, self.step_ns))
        self.groups = Groups(group_settings(ports, used, self.step_ns))
        self.arriving = np.zeros(self.crossed.size)
        self.capacity = ports.bytes_per_ns.copy()
        self.left, self.due = flows.bytes.astype(float), flows.bytes.astype(float)
        self.acked = np.zeros(len(flows))
        self.acks = Acks(ports, flows, self.crossed)
        self.time_ns, self.delivered_ns = np.full((2, len(flows)), np.nan)
        self.totals = np.zeros((3, len(ports)))  # wanted, busy, paused
        self.work = self._work()

    def run(self, horizon_ns: float) -> FiniteRun:
        begin, step = float(self.flows.start_ns.min(initial=0.0)), 0
        steps = int(np.ceil((horizon_ns - begin) / self.step_ns))
        loops = _compiled() if self.work > _WORTH_COMPILING or _is_loaded() else None
        while step < steps and len(self.alive):
            if loops:
                step += self._advance_compiled(loops, begin, step, min(steps - step, _ACK_STEPS - step % _ACK_STEPS))
            else:
                self._advance(begin + step * self.step_ns, step)
                step += 1
            if step % _ACK_STEPS == 0 and self.ports.ack_bytes:
                rates = self.acked / (_ACK_STEPS * self.step_ns)
                self.capacity = self.ports.bytes_per_ns - ack_load(self.ports, self.flows, rates)
                self.acked[:] = 0.0
            under_way = np.isnan(self.time_ns[self.alive])
            step = self._without_idle_time(step, begin, under_way)
            if under_way.sum() < _COMPACT * len(self.alive):
                self._continue_with(under_way)
        delay = latency_of(self.ports, self.flows) - self.step_ns * (self.flows.hops - 1)
        return FiniteRun(self.time_ns + delay, self.delivered_ns + delay, *self.totals)

    def _without_idle_time(self, step: int, begin_ns: float, under_way: Flags) -> int:
        """The step before the next flow starts, if all flows that have started are complete; else `step`."""
        if under_way.all():  # the usual case: idle time follows the end of a flow
            return step
        rest = self.alive[under_way]
        if not len(rest) or (self.left[rest] < self.flows.bytes[rest]).any():
            return step
        start = int((self.flows.start_ns[rest].min() - begin_ns) / self.step_ns)
        if start > step:
            self.groups.requests[:] = False  # the pauses of that time end before
        return max(start, step)

    def _work(self) -> float:
        """The steps of the busiest port, times crossings."""
        crossed = self.crossed
        needed_ns = crossed.gather(self.flows.bytes[crossed.flow]) / self.ports.bytes_per_ns[crossed.ports]
        return float(needed_ns.max()) / self.step_ns * (crossed.size + _ENTRIES_OF_CALLS)

    def _advance_compiled(self, loops: Callable[..., Any], begin_ns: float, step: int, count: int) -> int:
        """Advance up to `count` steps at once; the number of steps done."""
        crossed, fifos, groups, alive = self.crossed, self.fifos, self.groups, self.alive
        its = groups.settings
        values = (self.left, self.due, self.acked, self.flows.start_ns, self.time_ns, self.delivered_ns)
        of_flows = left, due, acked, _, time_ns, delivered_ns = tuple(value[alive] for value in values)
        ports = len(crossed.ports)
        totals = self.totals[:, crossed.ports]
        scratch = tuple(map(np.zeros, (ports, crossed.size, len(its.pool_bytes), ports, len(alive))))
        done: int = loops(
            (count, step, begin_ns, self.step_ns),
            (_WATCHED_STEPS, _LAST_BYTES, _FULL),
            np.append(crossed.starts, crossed.size),
            (crossed.flow, crossed.onward, crossed.before, crossed.port),
            crossed.port[crossed.first],
            np.ascontiguousarray(crossed.first),
            of_flows,
            self.capacity[crossed.ports],
            (fifos.bytes, fifos.filled, fifos.head, fifos.tail, fifos.backlog, fifos.popped, fifos.cell_bytes),
            self.acks.state,
            self.arriving,
            (its.pool, its.alpha, its.reserve, its.pool_bytes, its.resume, its.lag, its.static),
            (groups.held, groups.headroom, groups.came, groups.gone, groups.full, groups.requests),
            totals,
            scratch,
        )
        self.left[alive], self.due[alive], self.acked[alive] = left, due, acked
        self.time_ns[alive], self.delivered_ns[alive] = time_ns, delivered_ns
        self.totals[:, crossed.ports] = totals
        return done

    def _advance(self, now: float, step: int) -> None:
        crossed, alive = self.crossed, self.alive
        self.fifos.push(self.arriving)
        paused = self.groups.paused(step)
        service = np.where(paused, 0.0, self.capacity[crossed.ports] * self.step_ns)
        sent, takers = self._send(service, now)
        moved = np.append(self.fifos.pop(service), 0.0)
        self.groups.count(
            came=crossed.gather(np.where(crossed.onward < crossed.size, moved[:-1], 0.0)) + self._at_nic(sent),
            gone=crossed.gather(moved[crossed.onward]),
        )
        moved[crossed.first] = sent
        out = moved[crossed.last]
        self.due[alive] -= out
        self.acked[alive] += out
        self._end(now + self.step_ns, service)
        self.arriving = moved[crossed.before]
        if step % _WATCHED_STEPS == 0:
            self._watch(service, paused, takers)

    def _end(self, at_ns: float, service: Floats) -> None:
        """Set the times of flows whose data arrives now, and of those whose acknowledgements return."""
        alive = self.alive
        acks, fifos = self.acks, self.fifos
        for place in np.flatnonzero((self.due[alive] <= _LAST_BYTES) & np.isnan(self.time_ns[alive])).tolist():
            flow = alive[place]
            if np.isnan(self.delivered_ns[flow]):
                self.delivered_ns[flow] = at_ns - self.flows.start_ns[flow]
            since = at_ns - self.flows.start_ns[flow] - self.delivered_ns[flow]
            if returned(place, since, acks.state, service, fifos.popped, fifos.backlog, _LAST_BYTES):
                self.time_ns[flow] = self.delivered_ns[flow] + acks.waited_ns[place]

    def _at_nic(self, sent: Floats) -> Floats:
        nic = self.crossed.port[self.crossed.first]
        by_port: Floats = np.bincount(nic, weights=sent, minlength=len(self.crossed.ports)).astype(float)
        return by_port

    def _send(self, service: Floats, now: float) -> tuple[Floats, Ints]:
        """The bytes that each flow's NIC sends of it, and the number of flows that each NIC serves in equal shares."""
        alive, nic = self.alive, self.crossed.port[self.crossed.first]
        sending: Flags = (self.left[alive] > 0) & (self.flows.start_ns[alive] <= now)
        takers = np.bincount(nic[sending], minlength=len(service))
        share = service[nic] / np.maximum(takers[nic], 1)
        sent: Floats = np.where(sending, np.minimum(self.left[alive], share), 0.0)
        self.left[alive] -= sent
        return sent, takers

    def _watch(self, service: Floats, paused: Flags, takers: Ints) -> None:
        waits = self.fifos.backlog > _FULL * service
        wants = waits | (takers > 0)
        ports, watched_ns = self.crossed.ports, self.step_ns * _WATCHED_STEPS
        self.totals[0, ports] += wants * watched_ns
        self.totals[1, ports] += (waits & ~paused) * watched_ns
        self.totals[2, ports] += (wants & paused) * watched_ns

    def _continue_with(self, under_way: Flags) -> None:
        """Continue with some of the flows."""
        before, entries = self.crossed, under_way[self.crossed.flow]
        self.alive = self.alive[under_way]
        if not len(self.alive):
            return
        self.crossed = crossings(self.flows.only(self.alive))
        ports = np.isin(before.ports, self.crossed.ports)
        self.fifos = self.fifos.only(self.crossed, entries, ports)
        self.groups = self.groups.only(ports)
        self.arriving = self.arriving[entries]
        self.acks.continue_with(self.crossed, under_way)


def _compiled() -> Callable[..., Any] | None:
    """The steps as machine code; None without numba."""
    try:
        from fabricgen.simulate.congestion.finite_loops import step_loops
    except UsageError:
        return None
    if not _is_loaded():
        _log.info("compiling the steps of the fluid model (once, then cached)")
    return step_loops


def _is_loaded() -> bool:
    """Whether this process has the machine code: then it costs nothing. Its results are those of arrays, to the last
    bit."""
    loops = sys.modules.get("fabricgen.simulate.congestion.finite_loops")
    return loops is not None and bool(loops.step_loops.signatures)


def _step_ns(ports: Ports, flows: Flows, used: Ints) -> float:
    """The step: short compared with the time in which any group fills or pauses, and with the shortest flow."""
    _, nic = np.unique(flows.path[:, 0], return_inverse=True)
    sharers = np.bincount(nic)[nic]
    shortest = float((flows.bytes * sharers / ports.bytes_per_ns[flows.path[:, 0]]).min(initial=np.inf))
    reaction = reaction_ns(ports, used) / _STEPS_OF_REACTION
    filling = least_threshold_bytes(ports, used) / ports.bytes_per_ns[used]
    coarse = np.minimum(filling / _STEPS_OF_FILLING_FOR_LONG, shortest / _LONG)
    quickest = float(np.maximum.reduce([reaction, filling / _STEPS_OF_FILLING, coarse]).min(initial=np.inf))
    return min(max(_STEP_NS, shortest / _STEPS_OF_SHORTEST), quickest)


def _cell_bytes(ports: Ports, flows: Flows, crossed: Crossings, step_ns: float) -> Floats:
    """The cell sizes for queues that hold at most the bytes of their flows, and at most what their switch can hold."""
    of_flows = crossed.gather(flows.bytes[crossed.flow])
    most = crossed.spread(_most_held(ports, crossed))
    fed_by = np.append(most, 0.0)[crossed.before]
    feeders = crossed.port[np.minimum(crossed.before, crossed.size - 1)]
    pairs = np.unique(np.stack([crossed.port, feeders]), axis=1, return_index=True)[1]
    of_groups = np.bincount(crossed.port[pairs], weights=fed_by[pairs], minlength=len(crossed.ports))
    sent = ports.bytes_per_ns[crossed.ports] * step_ns
    return cell_bytes(np.minimum(of_flows, of_groups), np.maximum(sent, _CELL_PACKETS * ports.packet_bytes))


def _most_held(ports: Ports, crossed: Crossings) -> Floats:
    """The most that the group that each port feeds can hold."""
    used = crossed.ports
    alone = ports.alpha[used] / (1 + ports.alpha[used]) * np.append(ports.pool_bytes, 0.0)[ports.pool[used]]
    fixed = ports.of_groups(ports.static_bytes)[used] + ports.reserve_bytes[used]
    held = alone + fixed + 2 * ports.reaction_bytes[used]
    most: Floats = np.where(ports.pool[used] == NO_POOL, np.inf, held)
    return most
