"""What failures cost: routes converge without what failed, and the other port of a GPU sends what its dead port had.

A set is one or more links of hosts, links between switches, or switches. Few sets are all judged, of many a sample.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb

import numpy as np

from fabricgen.results import FailureCost, FailureKind
from fabricgen.simulate.bandwidth.times import EvenLoad
from fabricgen.simulate.patterns import Adapter, Messages
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Flags, Ints
from fabricgen.simulate.plane.rerouting import Reroute


class UnjudgedError(Exception):
    """The next hops after a failure are not known."""


@dataclass(frozen=True)
class FailingPart:
    """What can fail: directed links between switches, and adapters with their links."""

    name: str
    links: tuple[int, ...] = ()
    adapters: tuple[int, ...] = ()


@dataclass(frozen=True)
class FailureOutcome:
    """The share of the bandwidth that is left, 0 if the job stops, the GPUs that are cut off, and what failed.
    `moved`: a message has no path between its ports."""

    share: float
    cut_off: int
    names: tuple[str, ...]
    moved: bool = False


@dataclass(frozen=True)
class After:
    """The plane after failures, the messages by the ports that can send them, those that no port can send, and the
    dead adapters."""

    plane: HostNetwork
    sent: Messages
    lost: Flags
    dead: Flags


def parts_of(plane: HostNetwork, kind: FailureKind) -> list[FailingPart]:
    """What can fail of a kind."""
    network = plane.network
    if kind is FailureKind.SWITCH:
        below = [np.flatnonzero(plane.leaf == number) for number in range(network.switches)]
        out = [np.arange(network.offsets[number], network.offsets[number + 1]) for number in range(network.switches)]
        return [
            FailingPart(name, (*links.tolist(), *network.reverse[links].tolist()), tuple(adapters.tolist()))
            for name, links, adapters in zip(plane.names, out, below, strict=True)
        ]
    name = plane.ports.name_of
    if kind is FailureKind.HOST_LINK:
        ports = plane.nic_port(np.arange(len(plane.adapters))).tolist()
        return [FailingPart(":".join(name(port)), (), (number,)) for number, port in enumerate(ports)]
    pairs = [(link, int(network.reverse[link])) for link in range(network.links)]
    return [FailingPart(":".join(name(near)), (near, far)) for near, far in pairs if near < far]


class BandwidthJudge:
    """Judges failures of a plane under one pattern."""

    def __init__(self, plane: HostNetwork, messages: Messages, reroute: Reroute) -> None:
        self.plane, self.reroute = plane, reroute
        even = EvenLoad(plane)
        self.messages = messages.only(even.has_path(messages))
        self.base_ns = even.time_ns(self.messages)
        self.gpus = PortsOfGpus(plane.adapters)

    def cost(self, kind: FailureKind, depth: int, most_sets: int, seed: int) -> FailureCost:
        """The cost of `depth` failures of a kind at the same time, of up to `most_sets` sets; of all parts, if there
        are fewer. Sets with unknown next hops are left out."""
        parts = parts_of(self.plane, kind)
        total = comb(len(parts), min(depth, len(parts))) if parts else 0
        found: list[FailureOutcome] = []
        for chosen in _chosen(parts, min(depth, len(parts)), total, most_sets, seed):
            with suppress(UnjudgedError):
                found.append(self.outcome(chosen))
        shares, cut_off = [one.share for one in found] or [1.0], [one.cut_off for one in found] or [0]
        share = float(np.mean(shares))
        return FailureCost(
            kind=kind,
            depth=depth,
            sets=total,
            judged=len(found),
            share_mean=round(share, 4),
            share_least=round(min(shares), 4),
            delivered_gbytes=round(share * float(self.messages.bytes.sum()) / self.base_ns, 3),
            stopping=shares.count(0.0),
            cut_off_mean=round(float(np.mean(cut_off)), 4),
            cut_off_most=max(cut_off),
            worst=min(found, key=_badness).names if found else (),
        )

    def outcome(self, parts: Sequence[FailingPart]) -> FailureOutcome:
        """What one set of failures costs."""
        left = self.after(parts)
        stops = bool(left.lost.any())
        share = 0.0 if stops else min(1.0, self.base_ns / EvenLoad(left.plane).time_ns(left.sent))
        moved = stops or bool((left.sent.source != self.messages.source).any())
        cut_off = self.gpus.cut_off(self.messages, left.lost, left.dead)
        return FailureOutcome(share, cut_off, tuple(part.name for part in parts), moved)

    def after(self, parts: Sequence[FailingPart]) -> After:
        """The plane and the messages after one set of failures."""
        dead_links = np.unique(np.array([link for part in parts for link in part.links], np.int64))
        plane = replace(self.plane, hops=self.reroute(dead_links)) if len(dead_links) else self.plane
        dead = dead_adapters(plane, parts)
        even = EvenLoad(plane)

        def arrives(messages: Messages) -> Flags:
            alive: Flags = ~dead[messages.source] & ~dead[messages.target]
            return alive & even.has_path(messages)

        return After(plane, *self.gpus.moved(self.messages, arrives), dead)


def dead_adapters(plane: HostNetwork, parts: Sequence[FailingPart]) -> Flags:
    """Whether each adapter has failed."""
    dead = np.zeros(len(plane.adapters), bool)
    dead[[number for part in parts for number in part.adapters]] = True
    return dead


def _badness(one: FailureOutcome) -> tuple[float, int, tuple[str, ...]]:
    return one.share, -one.cut_off, one.names


def _chosen(
    parts: Sequence[FailingPart], depth: int, total: int, most_sets: int, seed: int
) -> list[tuple[FailingPart, ...]]:
    """All sets, or different ones drawn at random."""
    if total <= most_sets:
        return list(combinations(parts, depth)) if total else []
    chance = np.random.default_rng([seed, depth, len(parts)])
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most_sets:
        drawn[tuple(sorted(chance.choice(len(parts), depth, replace=False).tolist()))] = None
    return [tuple(parts[number] for number in chosen) for chosen in drawn]


# The ports of each GPU: if one of them is dead, the other ones send its messages.

_ABSENT = -1


class PortsOfGpus:
    """A GPU is a rail of a host; a NIC without a rail is its own. `of[a]` is the GPU of adapter a and `place[a]` its
    place among the ports of the GPU, which `ports` (GPUs x places) lists."""

    def __init__(self, adapters: Sequence[Adapter]) -> None:
        members: dict[tuple[str, object], list[int]] = {}
        for number, one in enumerate(adapters):
            members.setdefault((one.host, one.nic if one.rail is None else one.rail), []).append(number)
        self.ports = np.full((len(members), max(map(len, members.values()), default=1)), _ABSENT, np.int64)
        self.of, self.place = np.zeros((2, len(adapters)), np.int64)
        for gpu, numbers in enumerate(members.values()):
            self.ports[gpu, : len(numbers)] = numbers
            self.of[numbers], self.place[numbers] = gpu, np.arange(len(numbers))

    def moved(self, messages: Messages, arrives: Callable[[Messages], Flags]) -> tuple[Messages, Flags]:
        """The messages by the ports that can send them, and those that no pair of ports can send.

        First both ends change to the same other place: ports at different places may be on separate networks.
        """
        source, target = messages.source.copy(), messages.target.copy()
        lost = np.flatnonzero(~arrives(messages))
        steps = sorted(product(range(self.ports.shape[1]), repeat=2), key=lambda pair: (pair[0] != pair[1], pair))
        for near_step, far_step in steps[1:]:
            near, far = self._other(messages.source[lost], near_step), self._other(messages.target[lost], far_step)
            there = (near != _ABSENT) & (far != _ABSENT)
            tried = replace(messages.only(lost[there]), source=near[there], target=far[there])
            arrived = np.zeros(len(lost), bool)
            arrived[there] = arrives(tried)
            source[lost[arrived]], target[lost[arrived]] = near[arrived], far[arrived]
            lost = lost[~arrived]
        flags = np.zeros(len(messages), bool)
        flags[lost] = True
        return replace(messages, source=source, target=target), flags

    def _other(self, adapters: Ints, step: int) -> Ints:
        places = self.ports.shape[1]
        found: Ints = self.ports[self.of[adapters], (self.place[adapters] + step) % places]
        return found

    def loses_all_ports(self, messages: Messages, dead: Flags) -> bool:
        """Whether a GPU that sends or receives has no port left."""
        return bool(self.without_port(messages, dead).any())

    def without_port(self, messages: Messages, dead: Flags) -> Flags:
        """The messages from or to a GPU without a port."""
        alive = self._alive(dead)
        found: Flags = ~(alive[self.of[messages.source]] & alive[self.of[messages.target]])
        return found

    def _alive(self, dead: Flags) -> Flags:
        alive: Flags = ((self.ports != _ABSENT) & ~dead[self.ports]).any(axis=1)
        return alive

    def cut_off(self, messages: Messages, lost: Flags, dead: Flags) -> int:
        """The GPUs without a port, and those of whose messages to GPUs with ports none arrives."""
        size = len(self.ports)
        alive = self._alive(dead)
        ends = self.of[np.stack([messages.source, messages.target])]
        between: Flags = np.logical_and(alive[ends[0]], alive[ends[1]])
        involved = np.bincount(ends[:, between].ravel(), minlength=size)
        losing = np.bincount(ends[:, between & lost].ravel(), minlength=size)
        return int((~alive | ((involved > 0) & (losing == involved))).sum())
