"""The verdict on flows with fixed paths: which flows wait, for how long, and behind which ports."""

from dataclasses import dataclass

import numpy as np

from fabricgen.results import CongestionModel, CongestionTree, VictimLabel
from fabricgen.simulate.congestion.finite import run_fluid
from fabricgen.simulate.congestion.steady import steady_rates
from fabricgen.simulate.congestion.trees import PAUSED_DUTY, blockage, labels, trees
from fabricgen.simulate.max_min import max_min_rates, max_min_times_ns
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Floats, Flows, Ports, latency_ns

VICTIM = 1.2  # times the ideal completion
_SATURATED = 0.97  # of the capacity
_BUSY_SHARE = 0.05  # of the time with packets
_HORIZON = 40.0  # times the last ideal completion
_OVER = 1 + 1e-6


@dataclass(frozen=True)
class Verdict:
    """Per flow: `time_ns` (NaN if it does not complete within the horizon), `ideal_ns`, and the label of a victim."""

    model: CongestionModel
    time_ns: Floats
    ideal_ns: Floats
    label: tuple[VictimLabel, ...]
    trees: tuple[CongestionTree, ...] = ()
    roots: int = 0
    paused: int = 0
    unsettled: int = 0

    @property
    def hol_factor(self) -> Floats:
        """Completion time over the ideal one."""
        factor: Floats = self.time_ns / self.ideal_ns
        return factor

    @property
    def victims(self) -> Flags:
        """Flows above VICTIM, and those that do not complete."""
        return ~(self.hol_factor <= VICTIM)


def judge(ports: Ports, flows: Flows, *, finite: bool) -> Verdict:
    """The verdict on finite flows by their completion, or else by the rates that flows settle at."""
    affected = affected_flows(ports, flows)
    latency = latency_ns(ports, flows)
    ideal, time = np.zeros(len(flows)), np.zeros(len(flows))
    calm = ~affected
    ideal[calm] = time[calm] = max_min_times_ns(ports, flows.only(calm)) + latency[calm] if calm.any() else 0.0
    label = [VictimLabel.NONE] * len(flows)
    if not affected.any():
        return Verdict(CongestionModel.IDLE, time, ideal, tuple(label))
    waiting = flows.only(affected)
    if finite:
        ideal[affected] = max_min_times_ns(ports, waiting) + latency[affected]
        last = float((ideal[affected] + waiting.start_ns).max())
        run = run_fluid(ports, waiting, _HORIZON * last)
        time[affected] = run.time_ns
        duty = 1 - run.paused_ns / np.maximum(run.wanted_ns, 1.0)
        busy = run.busy_ns > _BUSY_SHARE * np.maximum(run.wanted_ns, 1.0)
        unsettled = 0
    else:
        steady = steady_rates(ports, waiting)
        rates = np.maximum(steady.rates, 1e-9)
        time[affected] = waiting.bytes / rates + latency[affected]
        ideal[affected] = waiting.bytes / max_min_rates(ports, waiting) + latency[affected]
        duty, unsettled = steady.duty, steady.unsettled
        busy = (steady.throughput >= _SATURATED * ports.bytes_per_ns) & (steady.backlog > 1 - _SATURATED)
    saturated = busy & (duty >= PAUSED_DUTY)
    found = blockage(waiting, saturated, duty < PAUSED_DUTY)
    victims = ~(time / ideal <= VICTIM)
    held = np.flatnonzero(affected)
    for index, its in zip(held, labels(waiting, saturated, victims[affected]), strict=True):
        label[index] = its
    return Verdict(
        CongestionModel.FINITE if finite else CongestionModel.STEADY, time, ideal, tuple(label),
        trees(ports, waiting, found, victims[affected]),
        int(found.roots.sum()), int(found.paused.sum()), unsettled,
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


def affected_flows(ports: Ports, flows: Flows) -> Flags:
    """The flows that can wait: those through a port that may be offered more than its capacity, and those that share a
    port with them upstream of it, which a pause may reach."""
    if ports.ack_bytes:
        return np.ones(len(flows), bool)
    _, nic = np.unique(flows.path[:, 0], return_inverse=True)
    count = np.bincount(nic)
    together = np.ones(len(count), bool)  # if all flows of a NIC complete together, none gets the share of another
    for amount in (flows.bytes, flows.start_ns):
        mean = np.bincount(nic, weights=amount) / count
        np.logical_and.at(together, nic, np.isclose(amount, mean[nic]))
    share = np.where(together[nic], 1.0 / count[nic], 1.0)
    marked = np.append(_load(ports, flows, share) > _OVER, False)
    place = np.arange(flows.path.shape[1])
    while True:
        last = np.where(marked[flows.path], place, -1).max(axis=1)
        before = (place <= last[:, None]) & (flows.path != NO_PORT)
        reached = np.unique(flows.path[before])
        if marked[reached].all():
            affected: Flags = last >= 0
            return affected
        marked[reached] = True
