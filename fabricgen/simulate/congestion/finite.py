"""Completion times under PFC: a fluid in real bytes and ns, started from empty queues.

Each priority at each port is one well-mixed FIFO. A priority group is full at T = alpha * (what its switch has left);
its port then sends as much as the group lets through, so that backlog grows hop by hop towards the senders. The steady
state is not unique (two full queues in a row do not say which of them holds the bytes), so time is followed as it
passes rather than a fixed point sought.

Mixing is right for shares and wrong for the last byte, which waits for what is before it and for nothing behind it.
So each flow's tail is followed on its own, through the FIFOs in their order.
"""

from dataclasses import dataclass

import numpy as np

from fabricgen.simulate.congestion.model import NO_SWITCH, Flags, Floats, Flows, Ints, Ports, crossings
from fabricgen.simulate.congestion.model import latency_ns as latency_of
from fabricgen.simulate.max_min import ack_load

# How softly a group pauses: between not at all and entirely lie this part of T and this many reaction times. Both
# are fitted to a packet simulator, with which the mean occupancy of a throttled group agrees.
# What is sent during a reaction counts only as far as it stays: what goes on to a port without a backlog is gone.
SOFTNESS_OF_THRESHOLD = 0.1
SOFTNESS_OF_REACTION = 1.75

_STEP_NS = 100.0
_STEPS_OF_SHORTEST = 400  # no flow is through in fewer steps, unless they would get shorter than _STEP_NS
_STABLE = 0.5  # of how softly the hardest group pauses: the scheme oscillates above 0.66
_ACK_STEPS = 200
_WATCHED_STEPS = 4
_MEMORY = 0.1  # weight of the newest look at what a port's traffic goes on to
_LEAST_BLOCKED = 0.2  # keeps the step stable
_TAIL_BYTES = 1.0
_COMPACT = 0.8
_OPEN = 0.97  # a duty above this is no pause
_FULL = 1.001


@dataclass(frozen=True)
class Run:
    """`time_ns`: each flow's completion from its start, NaN where it has none within the horizon. Per port: for how
    long it had packets to send (`wanted_ns`), sent all it could with more waiting (`busy_ns`), and was paused meanwhile
    (`paused_ns`)."""

    time_ns: Floats
    wanted_ns: Floats
    busy_ns: Floats
    paused_ns: Floats


def run_fluid(ports: Ports, flows: Flows, horizon_ns: float) -> Run:
    """Follow all flows to their end, or to the horizon (from time 0)."""
    return _Fluid(ports, flows).run(horizon_ns)


class _Fluid:
    def __init__(self, ports: Ports, flows: Flows) -> None:
        self.ports, self.flows = ports, flows
        self.step_ns = _step_ns(ports, flows)
        self.time_ns = np.full(len(flows), np.nan)
        self.totals = np.zeros((3, len(ports)))  # wanted, busy, paused
        self.capacity = ports.bytes_per_ns.copy()
        self.acked = np.zeros(len(flows))
        self.alive = np.arange(len(flows))
        self.left = flows.bytes.astype(float)
        self.tail_hop = np.zeros(len(flows), np.int64)
        self.ahead = np.zeros(len(flows))

    def run(self, horizon_ns: float) -> Run:
        now, steps = float(self.flows.start_ns.min(initial=0.0)), 0
        layer = _Layer(self.ports, self.flows, self.alive, None)
        while now < horizon_ns and len(self.alive):
            self._advance(layer, now, watched=steps % _WATCHED_STEPS == 0)
            now += self.step_ns
            steps += 1
            if steps % _ACK_STEPS == 0 and self.ports.ack_bytes:
                rates = self.acked / (_ACK_STEPS * self.step_ns)
                self.capacity = self.ports.bytes_per_ns - ack_load(self.ports, self.flows, rates)
                self.acked[:] = 0.0
            through = ~np.isnan(self.time_ns[self.alive])
            if through.sum() > (1 - _COMPACT) * len(self.alive):
                self.alive = self.alive[~through]
                layer = _Layer(self.ports, self.flows, self.alive, layer)
        delay = latency_of(self.ports, self.flows) - self.step_ns * (self.flows.hops - 1)
        return Run(self.time_ns + delay, *self.totals)

    def _advance(self, layer: "_Layer", now: float, *, watched: bool) -> None:
        crossed, step_ns = layer.crossed, self.step_ns
        total = layer.queued[:-1] + layer.arriving[:-1]
        held = crossed.gather(layer.queued[crossed.onward])
        backlog = crossed.gather(total)
        duty = layer.duty(held)
        service = self.capacity[crossed.ports] * duty * step_ns
        if watched:
            layer.note_blocked(total, service, backlog)
        moved = layer.moved
        moved[:-1] = total * crossed.spread(np.minimum(1.0, service / np.maximum(backlog, 1e-9)))
        layer.queued[:-1] = total - moved[:-1]
        moved[crossed.first] = self._send(layer, service, now)
        if self.ports.ack_bytes:
            self.acked[self.alive] += moved[crossed.last]
        layer.arriving[:-1] = moved[crossed.before]
        self._follow_tails(layer, np.minimum(service, backlog), backlog, now)
        if watched:
            self._count(layer, service, backlog, duty)

    def _send(self, layer: "_Layer", service: Floats, now: float) -> Floats:
        """NICs serve their flows in turn, so that all of a NIC's flows get the same."""
        alive = self.alive
        sending: Flags = (self.left[alive] > 0) & (self.flows.start_ns[alive] <= now)
        takers = np.bincount(layer.nic[sending], minlength=len(service))
        share = service[layer.nic] / np.maximum(takers[layer.nic], 1)
        sent: Floats = np.where(sending, np.minimum(self.left[alive], share), 0.0)
        self.left[alive] -= sent
        layer.sending = takers
        return sent

    def _follow_tails(self, layer: "_Layer", served: Floats, backlog: Floats, now: float) -> None:
        alive = self.alive
        out = np.flatnonzero((self.left[alive] <= 0) & np.isnan(self.time_ns[alive]))
        if not len(out):
            return
        flows = alive[out]
        hop = self.tail_hop[flows]
        begins = hop == 0
        at = layer.port_at[out, np.maximum(hop, 1)]
        ahead = np.minimum(self.ahead[flows] - served[at], backlog[at] - served[at])
        ahead[begins] = backlog[at[begins]]
        passed = ~begins & (ahead <= _TAIL_BYTES)
        hop = np.where(begins, 1, hop + passed)
        ends = passed & (hop >= self.flows.hops[flows])
        self.time_ns[flows[ends]] = now + self.step_ns - self.flows.start_ns[flows[ends]]
        onward = passed & ~ends
        ahead[onward] = backlog[layer.port_at[out[onward], hop[onward]]]
        self.ahead[flows], self.tail_hop[flows] = ahead, hop

    def _count(self, layer: "_Layer", service: Floats, backlog: Floats, duty: Floats) -> None:
        full = backlog > service * _FULL
        wants = full | (layer.sending > 0)
        ports, step_ns = layer.crossed.ports, self.step_ns * _WATCHED_STEPS
        self.totals[0, ports] += wants * step_ns
        self.totals[1, ports] += (full & (duty > _OPEN)) * step_ns
        self.totals[2, ports] += wants * (1 - duty) * step_ns


class _Layer:
    """Queues of the flows that are still under way: bytes left at each crossing after service, and those arriving."""

    def __init__(self, ports: Ports, flows: Flows, alive: Ints, before: "_Layer | None") -> None:
        chosen = flows.only(alive)
        self.alive, self.crossed = alive, crossings(chosen)
        crossed = self.crossed
        self.queued, self.arriving, self.moved = np.zeros((3, crossed.size + 1))
        self.nic = crossed.port[crossed.first]
        self.sending = np.zeros(len(crossed.ports), np.int64)
        self.port_at = np.append(crossed.port, 0)[crossed.at]
        used = crossed.ports
        self.switch = ports.switch[used]
        self.paused_by_switch = self.switch != NO_SWITCH
        self.alpha, self.reserve = ports.alpha[used], ports.reserve_bytes[used]
        self.reaction = SOFTNESS_OF_REACTION * ports.reaction_bytes[used]
        self.pool = ports.pool_bytes
        self.blocked = np.ones(len(used))
        if before is not None:
            self._take_over(before)

    def _take_over(self, before: "_Layer") -> None:
        """The queues of the flows that stay."""
        place = np.searchsorted(before.alive, self.alive)
        old = before.crossed.at[place][:, : self.crossed.at.shape[1]]
        self.queued[self.crossed.at] = before.queued[old]
        self.arriving[self.crossed.at] = before.arriving[old]
        self.queued[-1] = self.arriving[-1] = 0.0

    def note_blocked(self, total: Floats, service: Floats, backlog: Floats) -> None:
        """The part of each port's traffic that goes on to a port with a backlog: only that stays in the group."""
        crossed = self.crossed
        waits = np.append(backlog > service, False)
        next_port = np.append(crossed.port, len(service))[crossed.onward]
        weight = np.where(total > 0, total, 1e-9)
        part = crossed.gather(weight * waits[next_port]) / crossed.gather(weight)
        self.blocked += _MEMORY * (np.maximum(part, _LEAST_BLOCKED) - self.blocked)

    def duty(self, held: Floats) -> Floats:
        """The part of the time that each port is not paused, from the bytes its group holds."""
        guided = self.paused_by_switch
        shared = np.bincount(
            self.switch[guided], weights=np.maximum(held - self.reserve, 0.0)[guided], minlength=len(self.pool)
        )
        free = np.maximum(self.pool - shared, 0.0)[self.switch]
        threshold = self.alpha * free + self.reserve
        width = SOFTNESS_OF_THRESHOLD * threshold + self.reaction * self.blocked
        duty = np.clip((threshold + width / 2 - held) / width, 0.0, 1.0)
        return np.where(guided, duty, 1.0)


def _step_ns(ports: Ports, flows: Flows) -> float:
    """The step: short against the softness of the hardest group, and against the shortest flow."""
    _, nic = np.unique(flows.path[:, 0], return_inverse=True)
    sharers = np.bincount(nic)[nic]
    shortest = float((flows.bytes * sharers / ports.bytes_per_ns[flows.path[:, 0]]).min(initial=np.inf))
    used = np.unique(flows.path[flows.path >= 0]).astype(np.int64)
    width = SOFTNESS_OF_THRESHOLD * least_threshold_bytes(ports, used)
    width += SOFTNESS_OF_REACTION * ports.reaction_bytes[used] * _LEAST_BLOCKED
    hardest = float((width / ports.bytes_per_ns[used]).min(initial=np.inf))
    return min(max(_STEP_NS, shortest / _STEPS_OF_SHORTEST), _STABLE * hardest)


def least_threshold_bytes(ports: Ports, used: Ints) -> Floats:
    """T of each of the used ports when all used groups of its switch are full (infinite where nothing pauses it)."""
    switch = ports.switch[used]
    guided = switch != NO_SWITCH
    alphas = np.bincount(switch[guided], weights=ports.alpha[used][guided], minlength=len(ports.pool_bytes))
    share = ports.pool_bytes / (1 + alphas)
    threshold: Floats = np.where(guided, ports.alpha[used] * share[switch] + ports.reserve_bytes[used], np.inf)
    return threshold
