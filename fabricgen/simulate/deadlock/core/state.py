"""One state of one plane: the fabric as configured or after failures, its routes and its dependency graphs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bgp import BgpPolicy, solve
from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.network import Network
from fabricgen.routing.routes import Destination, Routes
from fabricgen.routing.survivors import without_links
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph, carried, from_pairs, link_dependencies, union
from fabricgen.simulate.deadlock.core.peel import Peeled, disjoint_cycles, peel_along, shortest_cycle
from fabricgen.simulate.deadlock.core.priorities import PriorityGraph, priority_graphs
from fabricgen.simulate.deadlock.core.tiers import upward_first
from fabricgen.simulate.plane.lossless import LosslessLinks
from fabricgen.simulate.plane.steering import Turns
from fabricgen.sonic.addresses import Address


@dataclass(frozen=True, eq=False)
class Ground:
    """The input of a verdict as arrays, without the files, so that it can be sent to other processes.

    `destinations` are those of packets; the first `host_columns` have hosts. `sources[u]`: switch u has hosts.
    `discards[u]` are the prefixes that switch u drops if it has no longer prefix. `complete` is False if a host's
    subnet is not announced. `witness` is one prefix of each destination that packets are sent to. `expected` (switches
    x words) are the destinations that each switch must reach; None for all destinations with hosts. `turns` are those
    of lists of uSIDs, which hosts choose in addition to routes; None without uSIDs."""

    network: Network
    policy: BgpPolicy
    destinations: tuple[Destination, ...]
    host_columns: int
    discards: tuple[tuple[Address, ...], ...]
    sources: NDArray[np.bool_]
    complete: bool
    witness: tuple[str, ...]
    lossless: LosslessLinks
    expected: Words | None = None
    turns: Turns | None = None

    @cached_property
    def host_destinations(self) -> Words:
        """The destinations with hosts, as one row of bits."""
        return bits.row_of(np.arange(self.host_columns), len(self.destinations))

    def expecting(self, reached: Words) -> "Ground":
        """The same ground, where each source must reach only the destinations in `reached` (switches x words)."""
        return replace(
            self, expected=reached & self.host_destinations & np.where(self.sources[:, None], bits.ALL, np.uint64(0))
        )

    def converged(self) -> "State":
        """The state after BGP has converged."""
        routes = solve(self.network, self.policy, self.destinations)
        return State(self, routes, forwarding(self.network, routes, self.discards))

    def after(self, dead: Indices, gone: Sequence[int] = ()) -> tuple["Ground", Indices]:
        """The ground without the directed links `dead` and the switches `gone`, and the old number of each remaining
        link. `dead` contains all links of these switches. Hosts behind a failed switch are not counted."""
        network, policy, kept = without_links(self.network, self.policy, dead)
        lost = set(gone)
        sources, expected = self.sources.copy(), self.expected
        sources[list(lost)] = False
        stays = [bool(set(one.origins) - lost) for one in self.destinations]
        if expected is not None and not all(stays):
            expected = bits.take_columns(expected, np.flatnonzero(stays))
        destinations = tuple(one for one, alive in zip(self.destinations, stays, strict=True) if alive)
        left = replace(
            self,
            network=network,
            policy=policy,
            destinations=destinations,
            host_columns=sum(stays[: self.host_columns]),
            sources=sources,
            witness=tuple(one for one, alive in zip(self.witness, stays, strict=True) if alive),
            lossless=self.lossless.at(kept),
            expected=expected,
            turns=self.turns.after(kept, self.network.links) if self.turns else None,
        )
        return left, kept


@dataclass(frozen=True, eq=False)
class BufferDependencies:
    """The dependencies between the lossless buffers of one state. `links` is the dependency graph over links, numbered
    in the order of `network.incoming`, whether or not the links are lossless."""

    ground: Ground
    links: ChannelGraph

    @cached_property
    def graphs(self) -> list[PriorityGraph]:
        """One dependency graph for each set of priorities whose graphs are equal."""
        ground = self.ground
        if not ground.lossless.priorities:
            return []
        return priority_graphs(self.links, ground.network.incoming, ground.lossless)

    @cached_property
    def peeled(self) -> list[Peeled]:
        """For each graph, an order that proves it free of cycles, or the channels left on a cycle."""
        when = upward_first(self.ground.network, self.ground.sources)
        return [peel_along(one.graph, np.argsort(when[one.link], kind="stable")) for one in self.graphs]

    @property
    def is_cyclic(self) -> bool:
        """Whether some lossless buffers can wait for each other in a cycle."""
        return any(len(one.left) for one in self.peeled)

    def cycles(self) -> list[tuple[int, tuple[int, ...]]]:
        """(priority, links) of a shortest cycle, for every priority that has one."""
        found = []
        for one, peeled in zip(self.graphs, self.peeled, strict=True):
            if len(peeled.left):
                channels = shortest_cycle(one.graph, peeled.left)
                links = tuple(int(one.link[channel]) for channel in channels)
                found += [(priority, links) for priority in one.stands_for or (int(one.priority[channels[0]]),)]
        return found

    def disjoint_cycles(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """(priority, links) of cycles without a common dependency, for one priority of each graph."""
        for one, peeled in zip(self.graphs, self.peeled, strict=True):
            for channels in disjoint_cycles(one.graph, peeled.left):
                yield int(one.priority[channels[0]]), tuple(int(one.link[channel]) for channel in channels)


@dataclass(frozen=True, eq=False)
class State:
    """Routes over a ground. `hops` are the next hops of packets, including fallbacks to shorter prefixes."""

    ground: Ground
    routes: Routes
    hops: Words

    @cached_property
    def flow(self) -> Words:
        """The destinations of the packets on each link, links in the order of `network.incoming`."""
        return carried(self.ground.network, self.hops, self.ground.sources)

    @cached_property
    def buffers(self) -> BufferDependencies:
        """The dependencies that these next hops cause."""
        network, turns = self.ground.network, self.ground.turns
        links = link_dependencies(network, self.hops, self.flow)
        if turns is not None:
            place = network.place
            links = union(links, from_pairs(place[turns.held], place[turns.awaited], network.links))
        return BufferDependencies(self.ground, links)

    @property
    def is_disconnected(self) -> bool:
        """Whether a switch with hosts has no route to the hosts behind another switch, or to those it must reach."""
        ground = self.ground
        if ground.expected is not None:
            return bool((ground.expected & ~self.routes.reached)[ground.sources].any())
        if ground.sources.sum() < 2:
            return False
        return not ground.complete or bool((ground.host_destinations & ~self.routes.reached[ground.sources]).any())

    def witnesses(self, links: Sequence[int]) -> tuple[str, ...]:
        """For each link of a cycle, a prefix whose packets arrive over it and leave over the next link, or such a list
        of uSIDs."""
        place = self.ground.network.place
        around = pairwise([*links, links[0]])
        return tuple(self.witness_of(link, after, self.shared(int(place[link]), after)) for link, after in around)

    def witness_of(self, link: int, after: int, shared: Words) -> str:
        """A prefix of the `shared` destinations; without any, a list of uSIDs that leads from `link` to `after`."""
        if (columns := bits.columns_of(shared)) or self.ground.turns is None:
            return self.ground.witness[columns[0]]
        return self.ground.turns.example(link, after)

    def shared(self, place: int, link: int) -> Words:
        """The destinations whose packets arrive over the link at `place` of `network.incoming` and leave over `link`,
        as one row of bits."""
        row: Words = self.flow[place] & self.hops[link]
        return row
