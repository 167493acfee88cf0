"""All-to-all traffic without a list of flows: demand between leaves, split evenly by ECMP.

Under PFC a NIC has one pause state, so it keeps the proportions of its flows and slows down as a whole: the unknown is
one scale per sending leaf. Ideal sharing may slow every pair of leaves separately. The same filling computes both: all
free rates grow together until a link is full, the rates that use it are fixed, and the others continue to grow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import FlowTime, VictimLabel
from fabricgen.routing.bits import Words
from fabricgen.simulate.congestion.verdict import VICTIM
from fabricgen.simulate.patterns.traffic import Everyone, Messages
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Flags, Floats, Ints
from fabricgen.simulate.plane.spreading import Singles, split_loads

_MOST_ROUNDS = 6
_MOST_HOPS = 64
_FULL = 1 - 1e-3
_CLASS_DIGITS = 3
_MOST_ADAPTERS = 2048  # that are classes by themselves: rates are tables of all pairs


@dataclass(frozen=True)
class ClassDemand:
    """The traffic between classes of adapters (one leaf, one destination column) at line rate: `rate[i, j]` in bytes
    per ns of `pairs[i, j]` flows; the diagonal stays below the leaf. `capacity[i]` is the line rate of a class."""

    switch: Ints
    column: Ints
    groups: tuple[Ints, ...]  # adapters that send to each other
    of: Ints  # the class of each adapter
    rate: Singles
    pairs: Singles
    capacity: Floats
    named: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # classes -> adapters of a message

    def example(self, sender: int, receiver: int) -> tuple[int, int]:
        """Two different adapters of one group, the first of the sending and the second of the receiving class."""
        if (sender, receiver) in self.named:
            return self.named[sender, receiver]
        for group in self.groups:
            classes = self.of[group]
            source, target = group[classes == sender], group[classes == receiver]
            if len(source) and len(target := target[target != source[0]]):
                return int(source[0]), int(target[0])
        raise ValueError("no group has adapters of both classes")


@dataclass(frozen=True)
class DenseRates:
    """`load`: each link's load over its capacity at line rate. `paused` and `ideal`: the share of the line rate per
    pair of classes under PFC (equal along a row) and under ideal sharing. `saturated` links are full under PFC."""

    load: Floats
    paused: Floats
    ideal: Floats
    saturated: Ints


def leaf_demand(plane: HostNetwork, traffic: Everyone) -> ClassDemand:
    """The demand of all groups, every adapter sending at line rate."""
    codes = plane.leaf * (plane.columns + 1) + plane.column
    _, first, of = np.unique(codes, return_index=True, return_inverse=True)
    size = len(first)
    rate, pairs = np.zeros((size, size), np.float32), np.zeros((size, size), np.float32)
    capacity = np.zeros(size)
    for group in traffic.groups:
        members = of[group]
        count = np.bincount(members, minlength=size)
        used = np.flatnonzero(count)
        line = np.bincount(members, weights=plane.line_rate[group], minlength=size)
        capacity += line
        block = np.ix_(used, used)
        others = np.repeat(count[used][None, :], len(used), axis=0) - np.eye(
            len(used)
        )  # an adapter does not send to itself
        rate[block] += (line[used] / (len(group) - 1))[:, None] * others
        pairs[block] += count[used][:, None] * others
    return ClassDemand(plane.leaf[first], plane.column[first], traffic.groups, of, rate, pairs, capacity)


def message_demand(plane: HostNetwork, messages: Messages) -> tuple[ClassDemand, Floats]:
    """The demand of messages whose packets use all equal paths, each NIC sending all of its messages at line rate until
    all are complete; and the mean bytes of a message between two classes. Classes are single adapters; of many adapters
    those of a leaf, so that a receiver with more load than others of its leaf does not show."""
    number = np.arange(len(plane.adapters))
    used = np.unique(np.concatenate([messages.source, messages.target]))
    codes = number if len(used) <= _MOST_ADAPTERS else plane.leaf * (plane.columns + 1) + plane.column
    _, first, of = np.unique(codes[used], return_index=True, return_inverse=True)
    own = np.full(len(number), -1)
    own[used] = of
    size = len(first)
    pair = own[messages.source] * size + own[messages.target]
    sent = np.bincount(messages.source, weights=messages.bytes, minlength=len(number))
    rate = plane.line_rate[messages.source] * messages.bytes / sent[messages.source]
    count, total, rates = (np.bincount(pair, each, size * size) for each in (None, messages.bytes, rate))
    found, example = np.unique(pair, return_index=True)
    ends = zip(messages.source[example].tolist(), messages.target[example].tolist(), strict=True)
    demand = ClassDemand(
        switch=plane.leaf[used[first]],
        column=plane.column[used[first]],
        groups=(),
        of=own,
        rate=rates.reshape(size, size).astype(np.float32),
        pairs=count.reshape(size, size).astype(np.float32),
        capacity=np.bincount(of, plane.line_rate[used], size).astype(float),
        named={divmod(code, size): both for code, both in zip(found.tolist(), ends, strict=True)},
    )
    return demand, (total / np.maximum(count, 1)).reshape(size, size)


def dense_rates(plane: HostNetwork, demand: ClassDemand) -> DenseRates:
    """The loads, and the rates under PFC and under ideal sharing."""
    filling = _Filling(plane, demand)
    load = filling.loads(demand.rate)
    paused, saturated = filling.fill(load, by_sender=True)
    ideal = paused if bool((paused[demand.rate > 0] >= _FULL).all()) else filling.fill(load, by_sender=False)[0]
    return DenseRates(load / filling.capacity, paused, ideal, saturated)


class _Filling:
    def __init__(self, plane: HostNetwork, demand: ClassDemand) -> None:
        self.plane, self.demand = plane, demand
        self.capacity = plane.ports.bytes_per_ns[: plane.network.links]
        self.apart: Flags = demand.switch[:, None] != demand.switch[None, :]

    def loads(self, rate: Singles) -> Floats:
        """Bytes per ns on every link; pairs below one leaf do not load any link."""
        demand = self.demand
        table = np.zeros((self.plane.network.switches, self.plane.columns), np.float32)
        away = np.where(self.apart, rate, np.float32(0))
        np.add.at(table, (demand.switch[:, None], demand.column[None, :]), away)
        return split_loads(self.plane.network, self.plane.hops, table, self.plane.announces)

    def fill(self, load: Floats, *, by_sender: bool) -> tuple[Floats, Ints]:
        """(scale per pair, links that are full at the end of the first round), from the load at line rate."""
        demand, rate = self.demand, self.demand.rate
        scale, free = np.zeros(rate.shape), rate > 0
        settled = np.zeros(len(self.capacity))
        full_links = np.empty(0, np.int64)
        for number in range(_MOST_ROUNDS):
            growing = np.where(free, rate, np.float32(0))
            load = self.loads(growing) if number else load
            given = scale * rate
            steps = _room(self.capacity - settled, load)
            out = _room(demand.capacity - given.sum(axis=1), growing.sum(axis=1))
            into = _room(demand.capacity - given.sum(axis=0), growing.sum(axis=0))
            step = min(float(side.min(initial=np.inf)) for side in (steps, out, into))
            scale[free] = step
            bound = step / _FULL
            hit = (out <= bound)[:, None] | (into <= bound)[None, :]
            links = np.flatnonzero(steps <= bound)
            if not number:
                full_links = links
            if len(links) and bool((free & ~hit).any()):
                hit = hit | self._users(links)
            stuck = free & (np.any(free & hit, axis=1, keepdims=True) if by_sender else hit)
            if number == _MOST_ROUNDS - 1 or not (free & ~stuck).any():
                break
            settled += step * self.loads(np.where(stuck, rate, np.float32(0)))
            free &= ~stuck
        return scale, full_links

    def _users(self, links: Ints) -> Flags:
        """Whether pairs of classes use any of these links: backwards over next hops, for all destinations at once."""
        network, hops = self.plane.network, self.plane.hops
        full = np.zeros(network.links, bool)
        full[links] = True
        uses: Words = np.zeros((network.switches, hops.shape[1]), np.uint64)
        for _ in range(_MOST_HOPS):
            through = hops & np.where(full[:, None], ~np.uint64(0), uses[network.target])
            found = uses.copy()
            np.bitwise_or.at(found, network.source, through)
            if bool((found == uses).all()):
                break
            uses = found
        column = self.demand.column
        rows = uses[self.demand.switch]
        used: Flags = (rows[:, column >> 6] >> (column & 63).astype(np.uint64) & np.uint64(1)).astype(bool)
        return used & self.apart


def _room(left: Floats, load: NDArray[np.floating]) -> Floats:
    """The factor by which loads may grow."""
    return np.where(load > 0, np.maximum(left, 0.0) / np.maximum(load, 1e-30), np.inf)


def dense_flows(
    plane: HostNetwork, demand: ClassDemand, rates: DenseRates, bytes_each: Floats | float
) -> tuple[FlowTime, ...]:
    """One row for all flows with equal times, with an example of them. `bytes_each` counts headers as well."""
    sender, receiver = np.nonzero(demand.pairs > 0)
    line = demand.rate[sender, receiver] / demand.pairs[sender, receiver]
    size = np.broadcast_to(np.asarray(bytes_each, float), demand.pairs.shape)[sender, receiver]
    paused = np.round(size / (line * rates.paused[sender, receiver]), _CLASS_DIGITS)
    ideal = np.round(size / (line * rates.ideal[sender, receiver]), _CLASS_DIGITS)
    of_paused, of_ideal = (np.unique(np.round(rounded), return_inverse=True)[1] for rounded in (paused, ideal))
    times = of_paused.astype(np.int64) * len(ideal) + of_ideal
    _, example, of = np.unique(times, return_index=True, return_inverse=True)
    count = np.bincount(of, weights=demand.pairs[sender, receiver])
    found = []
    for number, row in enumerate(example):
        source, target = (plane.adapters[end] for end in demand.example(int(sender[row]), int(receiver[row])))
        factor = float(paused[row] / ideal[row])
        found.append(
            FlowTime(
                source.name, target.name, round(float(paused[row])),
                round(float(ideal[row])), round(factor, 3), factor > VICTIM,
                VictimLabel.OFF_PATH if factor > VICTIM else VictimLabel.NONE,
                int(count[number]),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda flow: (-(flow.hol_factor or 0), flow.src, flow.dst)))
