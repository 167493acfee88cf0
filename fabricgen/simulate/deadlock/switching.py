"""Frames that are switched, not routed, on lossless links: floods and rings of VLANs.

A port of a VLAN sends on to all others what has an address that nobody knows. Lossless frames then take ways that no
routing would give them. A channel here is a link of routes, or a link between two switches whose ports are members of
VLANs; all have PFC at both ends on the priority looked at.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.simulate.deadlock.analysis import Evidence
from fabricgen.simulate.deadlock.dependencies import ChannelGraph, carried, link_dependencies
from fabricgen.simulate.deadlock.peel import peel, shortest_cycle
from fabricgen.routing.fallback import forwarding
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.tables import parse_priorities, split_key


@dataclass(frozen=True, slots=True)
class SwitchedCycle:
    """Ports that frames leave by, in a circle; `is_ring` where every hop is switched. `member` is one VLAN_MEMBER row
    that makes it, and the switch that has it."""

    priority: int
    hops: tuple[Endpoint, ...]
    is_ring: bool
    member: tuple[str, str]


def switched_cycle(bundle: Bundle, evidence: Evidence) -> SwitchedCycle | None:
    """A shortest cycle that switching closes on some lossless priority; None where there is none."""
    vlans = {name: _vlans(bundle, name) for name in evidence.fabric.names}
    links = [
        (near, far)
        for link in bundle.switch_links
        for near, far in ((link.a, link.b), (link.b, link.a))
        if vlans.get(near[0], {}).get(near[1], set()) & vlans.get(far[0], {}).get(far[1], set())
    ]
    if not links:
        return None
    pfc = {end: _pfc(bundle, end) for pair in links for end in pair}
    for priority in range(8):
        lossless = [pair for pair in links if all(pfc[end] >> priority & 1 for end in pair)]
        for routed in (False, True):
            cycle = _cycle(bundle, evidence, vlans, lossless, priority, routed) if lossless else None
            if cycle:
                return cycle
    return None


def _cycle(
    bundle: Bundle,
    evidence: Evidence,
    vlans: Mapping[str, Mapping[str, set[str]]],
    links: list[tuple[Endpoint, Endpoint]],
    priority: int,
    routed: bool,
) -> SwitchedCycle | None:
    """A cycle among switched links, with those of routes if `routed`."""
    fabric, network = evidence.fabric, evidence.fabric.network
    ports: list[Endpoint] = [near for near, _ in links]
    held: list[int] = []
    asked: list[int] = []
    leaving: dict[str, list[int]] = defaultdict(list)
    for number, (near, _) in enumerate(links):
        leaving[near[0]].append(number)
    for number, (_, far) in enumerate(links):
        for onward in leaving[far[0]]:
            same = vlans[far[0]][far[1]] & vlans[far[0]][ports[onward][1]]
            if ports[onward] != far and same:
                held.append(number)
                asked.append(onward)
    if routed:
        first = len(links)
        has = evidence.lossless.mask[network.incoming] >> priority & 1 > 0
        hops = forwarding(network, evidence.routes, fabric.discards)
        graph = link_dependencies(network, hops, carried(network, hops, evidence.traffic.sources))
        graph = graph.keep(has[graph.tails()] & has[graph.successors])
        held += (graph.tails() + first).tolist()
        asked += (graph.successors.astype(np.int64) + first).tolist()
        gateways = {name: _gateways(bundle, name) for name in leaving}
        for place, link in enumerate(network.incoming.tolist()):
            near, far = fabric.names[network.source[link]], fabric.names[network.target[link]]
            ports.append((near, fabric.port(link)))
            if not has[place]:
                continue
            for onward in leaving.get(far, ()):  # a packet that is routed into the VLAN
                if vlans[far][ports[onward][1]] & gateways[far]:
                    held.append(first + place)
                    asked.append(onward)
            for number in leaving.get(near, ()):  # a packet from a host of the VLAN, on its way up
                back = links[number][0]
                if vlans[near][back[1]] & gateways[near] and evidence.routes.nexthops[link].any():
                    held += [other for other, (_, end) in enumerate(links) if end == back]
                    asked += [first + place for _, end in links if end == back]
    order = np.argsort(np.array(held, np.int64), kind="stable")
    counts = np.bincount(np.array(held, np.int64), minlength=len(ports))
    graph = ChannelGraph(np.concatenate(([0], np.cumsum(counts))), np.array(asked, np.int32)[order])
    left = peel(graph).left
    channels = shortest_cycle(graph, left) if len(left) else []
    switched = [channel for channel in channels if channel < len(links)]
    if not switched:  # one among routes alone has a finding of its own
        return None
    switch, port = ports[switched[0]]
    member = next(key for key in _members(bundle, switch) if split_key(key)[-1] == port)
    return SwitchedCycle(priority, tuple(ports[one] for one in channels), len(switched) == len(channels), (switch, member))


def _members(bundle: Bundle, name: str) -> list[str]:
    return [key for key, _ in rows(bundle.devices[name].config, "VLAN_MEMBER") if key.count("|") == 1]


def _vlans(bundle: Bundle, name: str) -> dict[str, set[str]]:
    """Port -> the VLANs that it is a member of."""
    found: dict[str, set[str]] = defaultdict(set)
    for vlan, port in map(split_key, _members(bundle, name)):
        found[port].add(vlan)
    return found


def _gateways(bundle: Bundle, name: str) -> set[str]:
    """The VLANs that the switch routes for."""
    return {split_key(key)[0] for key, _ in rows(bundle.devices[name].config, "VLAN_INTERFACE")}


def _pfc(bundle: Bundle, end: Endpoint) -> int:
    switch, port = end
    for key, row in rows(bundle.devices[switch].config, "PORT_QOS_MAP"):
        if port in key.split(","):
            return sum(1 << one for one in parse_priorities(text(row, "pfc_enable")))
    return 0
