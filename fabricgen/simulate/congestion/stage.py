"""One run of flows that can wait: their times, and which ports pause, are saturated or are roots."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import VictimLabel
from fabricgen.simulate.congestion.finite import run_fluid
from fabricgen.simulate.congestion.packet_order import ordered_times
from fabricgen.simulate.congestion.steady import steady_rates
from fabricgen.simulate.congestion.trees import PAUSED_DUTY, Blockage, blockage, crossing, delaying, labels
from fabricgen.simulate.max_min import ack_load, max_min_rates, max_min_times_ns
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Floats, Flows, Ports, latency_ns

VICTIM = 1.2  # times the ideal completion
_SATURATED = 0.97  # of the capacity
_BUSY_SHARE = 0.05  # of the time with packets
_HORIZON = 40.0  # times the last ideal completion
_OVER = 1 + 1e-6
_ACK_ROUNDS = 5  # the load of ACKs depends on that of the flows


@dataclass(frozen=True)
class StageTimes:
    """Per flow: `time_ns` (NaN if it does not complete within the horizon), `delivered_ns` without the wait of its last
    acknowledgement, `ideal_ns` and whether it is a victim. Per port: whether it is saturated, and the blockage.
    `is_ordered`: the times have the order of packets."""

    flows: Flows
    time_ns: Floats
    delivered_ns: Floats
    ideal_ns: Floats
    saturated: Flags
    found: Blockage
    unsettled: int = 0
    is_ordered: bool = False

    @property
    def victims(self) -> Flags:
        """Flows above VICTIM, and those that do not complete."""
        return is_victim(self.time_ns / self.ideal_ns)

    @property
    def late(self) -> Flags:
        """Victims whose data arrives in time: only their acknowledgements wait."""
        return self.victims & ~is_victim(self.delivered_ns / self.ideal_ns)

    def labels(self) -> list[VictimLabel]:
        """The label of each flow."""
        return list(labels(self.flows, self.saturated, self.found.paused, self.victims, self.late))

    def shared_unfairly(self) -> Flags:
        """The ports where victims get less than their share: saturated ports of their paths; or else the NICs that they
        share with other flows. A NIC serves its flows in equal parts, also those that wait at another port."""
        saturated = self.crossed_by_victims() & self.saturated
        return saturated if saturated.any() else self._ports(self.flows.path[:, :1])

    def crossed_by_victims(self) -> Flags:
        """The ports that delay victims: those of their paths, or of the way back of late acknowledgements."""
        return self._ports(delaying(self.flows, self.late))

    def _ports(self, path: NDArray[np.int32]) -> Flags:
        """The ports on some columns of the paths of victims."""
        ports = np.zeros(len(self.saturated), bool)
        chosen = path[self.victims]
        ports[chosen[chosen != NO_PORT]] = True
        return ports


def is_victim(factor: Floats) -> Flags:
    """Whether a HoL factor is that of a victim; NaN is."""
    return ~(factor <= VICTIM)


def ideal_times_ns(ports: Ports, flows: Flows, *, finite: bool) -> Floats:
    """The completion time of each flow under ideal sharing of all ports with all flows. Flows that never wait matter as
    well: another flow that gets more than its part of its NIC meets them at their receiver."""
    needed = max_min_times_ns(ports, flows) if finite else flows.bytes / max_min_rates(ports, flows)
    ideal: Floats = needed + latency_ns(ports, flows)
    return ideal


def follow(ports: Ports, flows: Flows, ideal_ns: Floats, *, finite: bool, repeat: bool = True) -> StageTimes:
    """Run flows to their completion, or else to the rates that they settle at. `repeat`: with starts some ns apart."""
    unsettled, ordered = 0, None
    if finite:
        last = float((ideal_ns + flows.start_ns).max())
        run = run_fluid(ports, flows, _HORIZON * last, repeat=repeat)
        time, delivered = run.time_ns, run.delivered_ns
        if not run.paused_ns.any() and (ordered := ordered_times(ports, flows)):
            time, delivered = ordered.time_ns, ordered.delivered_ns
        duty = 1 - run.paused_ns / np.maximum(run.wanted_ns, 1.0)
        busy = run.busy_ns > _BUSY_SHARE * np.maximum(run.wanted_ns, 1.0)
    else:
        steady = steady_rates(ports, flows)
        time = delivered = flows.bytes / np.maximum(steady.rates, 1e-9) + latency_ns(ports, flows)
        duty, unsettled = steady.duty, steady.unsettled
        busy = (steady.throughput >= _SATURATED * ports.bytes_per_ns) & (steady.backlog > 1 - _SATURATED)
    saturated = busy & (duty >= PAUSED_DUTY)
    return StageTimes(
        flows, time, delivered, ideal_ns, saturated, blockage(flows, saturated, duty < PAUSED_DUTY), unsettled,
        ordered is not None,
    )  # fmt: skip


def offered_load(ports: Ports, flows: Flows) -> Floats:
    """The load of each port over its capacity when every NIC sends at line rate, with equal shares of its flows."""
    return _load(ports, flows, 1.0 / _sharers(flows))


def _sharers(flows: Flows) -> Floats:
    """The number of flows that share the NIC of each flow."""
    _, nic, count = np.unique(flows.path[:, 0], return_inverse=True, return_counts=True)
    return count[nic].astype(float)


def _load(ports: Ports, flows: Flows, share: Floats) -> Floats:
    flow, hop = (flows.path != NO_PORT).nonzero()
    rate = (ports.bytes_per_ns[flows.path[:, 0]] * share)[flow]
    return np.bincount(flows.path[flow, hop], weights=rate, minlength=len(ports)) / ports.bytes_per_ns


def _load_with_acks(ports: Ports, flows: Flows, share: Floats) -> Floats:
    """The load of each port over its capacity, where each flow has `share` of its NIC. A NIC sends acknowledgements
    first, so they leave less of it to its flows."""
    line, nic = ports.bytes_per_ns, flows.path[:, 0]
    acks = np.zeros(len(ports))
    for _ in range(_ACK_ROUNDS if ports.ack_bytes else 0):
        left = 1.0 - acks[nic] / line[nic]
        acks = ack_load(ports, flows, share * left * line[nic])
    return _load(ports, flows, share * (1.0 - acks[nic] / line[nic])) + acks / line


def _acks_wait(ports: Ports, flows: Flows, marked: Flags) -> Flags:
    """The flows whose acknowledgements cross a marked port in their class."""
    if flows.back is None or not ports.acks_wait:
        return np.zeros(len(flows), bool)
    return crossing(flows.back, marked)


def affected_flows(ports: Ports, flows: Flows) -> Flags:
    """The flows that can wait: those through a port that may be offered more than its capacity, those that share a
    port with them upstream of it, which a pause may reach, and those whose acknowledgements cross such ports."""
    _, nic = np.unique(flows.path[:, 0], return_inverse=True)
    count = np.bincount(nic)
    together = np.ones(len(count), bool)  # if all flows of a NIC complete together, none gets the share of another
    for amount in (flows.bytes, flows.start_ns):
        mean = np.bincount(nic, weights=amount) / count
        np.logical_and.at(together, nic, np.isclose(amount, mean[nic]))
    share = np.where(together[nic], 1.0 / count[nic], 1.0)
    marked = np.append(_load_with_acks(ports, flows, share) > _OVER, False)
    place = np.arange(flows.path.shape[1])
    while True:
        last = np.where(marked[flows.path], place, -1).max(axis=1)
        before = (place <= last[:, None]) & (flows.path != NO_PORT)
        reached = np.unique(flows.path[before])
        if marked[reached].all():
            affected: Flags = (last >= 0) | _acks_wait(ports, flows, marked[:-1])
            return affected
        marked[reached] = True


def followed_flows(ports: Ports, flows: Flows, *, finite: bool) -> Flags:
    """The flows to run: those that can wait. If any can, and acknowledgements are a load, all that run to their end:
    the acknowledgements of each flow take capacity from others."""
    affected = affected_flows(ports, flows)
    return np.full(len(flows), affected.any()) if finite and ports.ack_bytes else affected
