"""Frames that are switched, not routed, on lossless links: floods and rings of VLANs.

A switch floods a frame with an unknown address to all other ports of the VLAN. Lossless frames then take paths that
routing does not have. A channel here is a link of routes, or a link between two switches whose ports are members of
the same VLAN. All have PFC at both ends on the priority that is judged.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.routing.fallback import forwarding
from fabricgen.simulate.deadlock.analysis import Evidence
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph, carried, link_dependencies
from fabricgen.simulate.deadlock.core.peel import peel, shortest_cycle
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.port_qos import PRIORITIES
from fabricgen.sonic.tables import parse_priorities, split_key


@dataclass(frozen=True, slots=True)
class SwitchedCycle:
    """The egress ports of a cycle; `is_ring` if every hop is switched. `member` is (switch, key) of one VLAN_MEMBER row
    that causes the cycle."""

    priority: int
    hops: tuple[Endpoint, ...]
    is_ring: bool
    member: tuple[str, str]


def switched_cycle(bundle: Bundle, evidence: Evidence) -> SwitchedCycle | None:
    """A shortest cycle that switching closes on some lossless priority; None if it does not exist."""
    names = evidence.fabric.names
    vlans = {name: _vlans(evidence, name) for name in names}
    links = [
        (near, far)
        for link in bundle.switch_links
        for near, far in ((link.a, link.b), (link.b, link.a))
        if vlans.get(near[0], {}).get(near[1], set()) & vlans.get(far[0], {}).get(far[1], set())
    ]
    pfc = {end: _pfc(evidence, end) for pair in links for end in pair}
    gateways = {name: _gateways(evidence, name) for name in names} if links else {}
    for priority in range(PRIORITIES if links else 0):
        lossless = [pair for pair in links if all(pfc[end] >> priority & 1 for end in pair)]
        if not lossless:
            continue
        graph = _Switched(evidence, lossless, vlans, gateways)
        cycle = graph.cycle() or graph.with_routes(priority).cycle()
        if cycle:
            switch, port = next(end for end, is_switched in cycle if is_switched)
            member = next(key for key in _members(evidence, switch) if split_key(key)[-1] == port)
            hops = tuple(end for end, _ in cycle)
            return SwitchedCycle(priority, hops, all(is_switched for _, is_switched in cycle), (switch, member))
    return None


class _Switched:
    """The dependency graph of one priority: first of the switched links only, then with the links of routes."""

    def __init__(
        self,
        evidence: Evidence,
        links: Sequence[tuple[Endpoint, Endpoint]],
        vlans: Mapping[str, Mapping[str, set[str]]],
        gateways: Mapping[str, set[str]],
    ) -> None:
        self.evidence, self.links, self.vlans, self.gateways = evidence, links, vlans, gateways
        self.ports = [near for near, _ in links]
        self.leaving: dict[str, list[int]] = defaultdict(list)
        self.arriving: dict[str, list[int]] = defaultdict(list)
        for number, (near, far) in enumerate(links):
            self.leaving[near[0]].append(number)
            self.arriving[far[0]].append(number)
        self.pairs: list[tuple[int, int]] = []  # held channel, awaited channel
        for number, (_, far) in enumerate(links):
            for onward in self.leaving[far[0]]:
                if self.ports[onward] != far and vlans[far[0]][far[1]] & vlans[far[0]][self.ports[onward][1]]:
                    self.pairs.append((number, onward))

    def with_routes(self, priority: int) -> "_Switched":
        """Adds the channels of routes, and the dependencies between them and the VLANs that their switches route."""
        fabric, network, first = self.evidence.fabric, self.evidence.fabric.network, len(self.links)
        has = self.evidence.lossless.mask[network.incoming] >> priority & 1 > 0
        hops = forwarding(network, self.evidence.routes, fabric.discards)
        graph = link_dependencies(network, hops, carried(network, hops, self.evidence.traffic.sources))
        graph = graph.keep(has[graph.tails()] & has[graph.successors])
        self.pairs += zip((graph.tails() + first).tolist(), (graph.successors + first).tolist(), strict=True)
        for place, link in enumerate(network.incoming.tolist(), first):
            near, far = fabric.names[network.source[link]], fabric.names[network.target[link]]
            self.ports.append((near, fabric.port(link)))
            if has[place - first] and hops[link].any():
                into = (one for one in self.leaving.get(far, ()) if self._is_routed(far, self.ports[one][1]))
                out_of = (one for one in self.arriving.get(near, ()) if self._is_routed(near, self.links[one][1][1]))
                self.pairs += [(place, onward) for onward in into]
                self.pairs += [(number, place) for number in out_of]
        return self

    def cycle(self) -> list[tuple[Endpoint, bool]]:
        """A shortest cycle that has a switched link: its ports, and whether each is switched."""
        held, awaited = np.array(self.pairs, np.int64).reshape(-1, 2).T
        order = np.argsort(held, kind="stable")
        counts = np.bincount(held, minlength=len(self.ports))
        graph = ChannelGraph(np.concatenate(([0], np.cumsum(counts))), awaited[order].astype(np.int32))
        left = peel(graph).left
        channels = shortest_cycle(graph, left) if len(left) else []
        found = [(self.ports[channel], channel < len(self.links)) for channel in channels]
        return found if any(is_switched for _, is_switched in found) else []

    def _is_routed(self, switch: str, port: str) -> bool:
        return bool(self.vlans[switch][port] & self.gateways[switch])


def _members(evidence: Evidence, name: str) -> list[str]:
    return [key for key in rows(evidence.fabric.spoken.tables[name], "VLAN_MEMBER") if key.count("|") == 1]


def _vlans(evidence: Evidence, name: str) -> dict[str, set[str]]:
    """Port -> the VLANs that it is a member of."""
    found: dict[str, set[str]] = defaultdict(set)
    for vlan, port in map(split_key, _members(evidence, name)):
        found[port].add(vlan)
    return found


def _gateways(evidence: Evidence, name: str) -> set[str]:
    """The VLANs that the switch routes."""
    addresses = evidence.fabric.spoken.speakers[name].addresses
    return {entry.interface for entry in addresses if entry.table == "VLAN_INTERFACE"}


def _pfc(evidence: Evidence, end: Endpoint) -> int:
    switch, port = end
    for key, row in rows(evidence.fabric.spoken.tables[switch], "PORT_QOS_MAP").items():
        if port in key.split(","):
            return sum(1 << one for one in parse_priorities(text(row, "pfc_enable")))
    return 0
