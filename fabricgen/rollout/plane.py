"""One plane at one moment: which routes are lost, and whether buffers can wait for each other in a cycle.

The judgement holds for every mixture of old and new QoS: each link counts as lossless, on one priority. If this graph
of dependencies has no cycle, none of the real ones has. Only if it has one, the QoS of the moment decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.routing import bits
from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.routing.sessions import find_sessions
from fabricgen.simulate.deadlock.analysis import ground_of
from fabricgen.simulate.deadlock.core.state import Ground, State
from fabricgen.simulate.deadlock.failures.sweep import CYCLIC, DISCONNECTED, SetJudge
from fabricgen.simulate.plane.hosts import host_traffic
from fabricgen.simulate.plane.lossless import LosslessLinks, lossless_links
from fabricgen.sonic.port_qos import PRIORITIES

Reached = frozenset[tuple[str, str]]  # (switch with hosts, prefix of hosts)


@dataclass(frozen=True, slots=True)
class SwitchOutage:
    """What is out of service at one switch: interfaces and sessions, or all of it."""

    switch: str
    interfaces: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class RolloutVerdict:
    """`lost` are the switches with hosts that do not reach all hosts which they reach before and after the change;
    `isolated` those that reach no other switch with hosts. `may_cycle`: the dependencies of all links have a cycle."""

    may_cycle: bool = False
    lost: tuple[str, ...] = ()
    isolated: tuple[str, ...] = ()


class PlaneState:
    """The routing of a plane, with what each outage does to it. `wanted` are the routes that must stay, None for those
    of this state."""

    def __init__(self, bundle: Bundle, switches: Sequence[str], wanted: Reached | None = None) -> None:
        self.bundle, self.switches = bundle, list(switches)
        self.fabric = read_fabric(bundle, self.switches)
        self.traffic = host_traffic(bundle, self.fabric)
        ground = ground_of(self.fabric, self.traffic, _all_lossless(self.fabric))
        self._base = ground.converged()
        self._number = {name: number for number, name in enumerate(self.switches)}
        self.wanted = wanted
        expected, self._absent = self._expected(self._base.routes.reached)
        self.ground = replace(ground, expected=expected)
        self._is_short = bool((expected & ~self._base.routes.reached)[ground.sources].any())
        self._judge = SetJudge(self.ground, repair=False, free=False, exact=False, configured=self._base)
        self._known: dict[SwitchOutage, RolloutVerdict] = {}

    @cached_property
    def reached(self) -> Reached:
        """The prefixes of hosts that each switch with hosts reaches."""
        rows = self._base.routes.reached
        return frozenset(
            (self.switches[switch], prefix)
            for switch in np.flatnonzero(self.ground.sources).tolist()
            for column in bits.columns_of(rows[switch] & self.ground.host_destinations)
            for prefix in self.ground.destinations[column].prefixes
        )

    def verdict(self, outage: SwitchOutage) -> RolloutVerdict:
        """What this outage does."""
        if outage not in self._known:
            gone = (self._number[outage.switch],) if outage.whole else ()
            self._known[outage] = self._judged(self._links(outage), gone)
        return self._known[outage]

    def is_cyclic(self, outage: SwitchOutage, bundle: Bundle) -> bool:
        """Whether the lossless buffers, by the QoS of `bundle`, can wait for each other in a cycle."""
        fabric = replace(self.fabric, spoken=find_sessions(bundle, self.switches))
        gone = (self._number[outage.switch],) if outage.whole else ()
        ground, _ = replace(self.ground, lossless=lossless_links(fabric)).after(self._links(outage), gone)
        return ground.converged().buffers.is_cyclic

    def _judged(self, dead: Indices, gone: tuple[int, ...]) -> RolloutVerdict:
        flags = self._judge.verdict(dead, gone)
        may_cycle = bool(flags & CYCLIC)
        if not (flags & DISCONNECTED or self._is_short or self._absent):
            return RolloutVerdict(may_cycle)
        ground, _ = self.ground.after(dead, gone)
        return RolloutVerdict(may_cycle, *self._lost(ground, ground.converged(), gone))

    def _lost(self, ground: Ground, state: State, gone: tuple[int, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        assert ground.expected is not None
        missing = (ground.expected & ~state.routes.reached).any(axis=1) & ground.sources
        missing[[self._number[name] for name in self._absent if self._number[name] not in gone]] = True
        own = np.zeros_like(state.routes.reached)
        for column, one in enumerate(ground.destinations):
            for switch in one.origins:
                own[switch, column >> 6] |= np.uint64(1) << np.uint64(column & 63)
        others = ground.expected & ~own
        isolated = missing & others.any(axis=1) & ~(others & state.routes.reached).any(axis=1)
        return self._names(missing), self._names(isolated)

    def _names(self, flags: NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(self.switches[number] for number in np.flatnonzero(flags).tolist())

    def _expected(self, reached: Words) -> tuple[Words, frozenset[str]]:
        """The destinations that each switch must reach, and the switches that must reach a prefix without an origin."""
        ground = self._base.ground
        if self.wanted is None:
            sources = np.where(ground.sources[:, None], bits.ALL, np.uint64(0))
            return reached & ground.host_destinations & sources, frozenset()
        column = {prefix: number for number, one in enumerate(ground.destinations) for prefix in one.prefixes}
        expected = np.zeros_like(reached)
        absent = set()
        for switch, prefix in self.wanted:
            if (place := column.get(prefix)) is None:
                absent.add(switch)
            else:
                expected[self._number[switch], place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        return expected, frozenset(absent)

    def _links(self, outage: SwitchOutage) -> Indices:
        """The directed links that are out of service, sorted."""
        if not outage.switch:
            return np.empty(0, np.int64)
        if outage.whole:
            network, number = self.fabric.network, self._number[outage.switch]
            out = np.arange(network.offsets[number], network.offsets[number + 1])
            return np.unique(np.concatenate((out, network.reverse[out])).astype(np.int64))
        places = [(outage.switch, one) for one in (*outage.interfaces, *outage.sessions)]
        return np.unique(np.array([link for place in places for link in self._at.get(place, ())], np.int64))

    def interfaces_of(self, outage: SwitchOutage) -> frozenset[str]:
        """The interfaces without traffic: those out of service, and those of the sessions."""
        of_sessions = (self._interface.get((outage.switch, key), "") for key in outage.sessions)
        return outage.interfaces.union(of_sessions)

    @cached_property
    def _interface(self) -> dict[tuple[str, str], str]:
        ends = (end for session in self.fabric.spoken.sessions for end in session)
        return {(end.switch, end.key): end.interface.partition(".")[0] for end in ends}

    @cached_property
    def _at(self) -> dict[tuple[str, str], list[int]]:
        """(switch, interface or session) -> the directed links of its cable."""
        directed = np.empty(self.fabric.network.links, np.int64)
        directed[self.fabric.network.order] = np.arange(self.fabric.network.links)
        cable = {}
        for pair, (a, b) in enumerate(self.fabric.sessions):
            links = directed[[2 * pair, 2 * pair + 1]].tolist()
            cable[a.switch, a.interface, b.switch, b.interface] = links
        found: dict[tuple[str, str], list[int]] = {}
        for a, b in self.fabric.spoken.sessions:
            links = cable[a.switch, a.interface, b.switch, b.interface]
            for end in (a, b):
                for place in (end.interface.partition(".")[0], end.key):
                    found.setdefault((end.switch, place), []).extend(links)
        return found


def _all_lossless(fabric: RoutedFabric) -> LosslessLinks:
    """Every link lossless on one priority, which packets keep."""
    number = fabric.network.links
    nothing = np.zeros(number, np.int64)
    onward = (1 << np.arange(PRIORITIES)).astype(np.uint8)[None, None, :]
    return LosslessLinks(np.ones(number, np.uint8), nothing, nothing, onward, (0,))
