"""What failures cost: routes converge without what failed, and the other port of a GPU sends what its dead port had.

A set is one or more links of hosts, links between switches, or switches. Few sets are all judged, of many a sample.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from fabricgen.results import FailureCost, FailureKind
from fabricgen.simulate.bandwidth.ports_of_gpus import PortsOfGpus
from fabricgen.simulate.bandwidth.times import EvenLoad
from fabricgen.simulate.patterns import Messages
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Flags
from fabricgen.simulate.plane.rerouting import Reroute


class UnjudgedError(Exception):
    """The next hops after a failure are not known."""


@dataclass(frozen=True)
class Part:
    """What can fail: directed links between switches, and adapters with their links."""

    name: str
    links: tuple[int, ...] = ()
    adapters: tuple[int, ...] = ()


@dataclass(frozen=True)
class Outcome:
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


def parts_of(plane: HostNetwork, kind: FailureKind) -> list[Part]:
    """What can fail of a kind."""
    network = plane.network
    if kind is FailureKind.SWITCH:
        below = [np.flatnonzero(plane.leaf == number) for number in range(network.switches)]
        out = [np.arange(network.offsets[number], network.offsets[number + 1]) for number in range(network.switches)]
        return [
            Part(name, (*links.tolist(), *network.reverse[links].tolist()), tuple(adapters.tolist()))
            for name, links, adapters in zip(plane.names, out, below, strict=True)
        ]
    name = plane.ports.name_of
    if kind is FailureKind.HOST_LINK:
        ports = plane.nic_port(np.arange(len(plane.adapters))).tolist()
        return [Part(":".join(name(port)), (), (number,)) for number, port in enumerate(ports)]
    pairs = [(link, int(network.reverse[link])) for link in range(network.links)]
    return [Part(":".join(name(near)), (near, far)) for near, far in pairs if near < far]


class FailureJudge:
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
        found: list[Outcome] = []
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

    def outcome(self, parts: Sequence[Part]) -> Outcome:
        """What one set of failures costs."""
        left = self.after(parts)
        stops = bool(left.lost.any())
        share = 0.0 if stops else min(1.0, self.base_ns / EvenLoad(left.plane).time_ns(left.sent))
        moved = stops or bool((left.sent.source != self.messages.source).any())
        cut_off = self.gpus.cut_off(self.messages, left.lost, left.dead)
        return Outcome(share, cut_off, tuple(part.name for part in parts), moved)

    def after(self, parts: Sequence[Part]) -> After:
        """The plane and the messages after one set of failures."""
        dead_links = np.unique(np.array([link for part in parts for link in part.links], np.int64))
        plane = replace(self.plane, hops=self.reroute(dead_links)) if len(dead_links) else self.plane
        dead = dead_adapters(plane, parts)
        even = EvenLoad(plane)

        def arrives(messages: Messages) -> Flags:
            alive: Flags = ~dead[messages.source] & ~dead[messages.target]
            return alive & even.has_path(messages)

        return After(plane, *self.gpus.moved(self.messages, arrives), dead)


def dead_adapters(plane: HostNetwork, parts: Sequence[Part]) -> Flags:
    """Whether each adapter has failed."""
    dead = np.zeros(len(plane.adapters), bool)
    dead[[number for part in parts for number in part.adapters]] = True
    return dead


def _badness(one: Outcome) -> tuple[float, int, tuple[str, ...]]:
    return one.share, -one.cut_off, one.names


def _chosen(parts: Sequence[Part], depth: int, total: int, most_sets: int, seed: int) -> list[tuple[Part, ...]]:
    """All sets, or different ones drawn at random."""
    if total <= most_sets:
        return list(combinations(parts, depth)) if total else []
    chance = np.random.default_rng([seed, depth, len(parts)])
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most_sets:
        drawn[tuple(sorted(chance.choice(len(parts), depth, replace=False).tolist()))] = None
    return [tuple(parts[number] for number in chosen) for chosen in drawn]
