"""The verdict: free of cyclic buffer dependencies, with an order of channels to prove it, or a cycle that is there."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.results import Cycle, DeadlockResult, FailureSummary
from fabricgen.routing import bits
from fabricgen.routing.bgp import solve
from fabricgen.routing.bits import Words
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.routes import Routes
from fabricgen.simulate.deadlock.dependencies import carried, link_dependencies
from fabricgen.simulate.deadlock.hosts import HostTraffic, host_traffic
from fabricgen.simulate.deadlock.lossless import LosslessLinks, lossless_links
from fabricgen.simulate.deadlock.peel import peel, shortest_cycle
from fabricgen.simulate.deadlock.priorities import PriorityGraph, priority_graphs


@dataclass(frozen=True)
class ChannelOrder:
    """A certificate for one dependency graph: channel i is link `links[i]` on priority `priority[i]`, and every
    dependency goes from an earlier to a later one. It holds for each of `stands_for` in place of `priority` where
    several priorities have equal graphs."""

    links: NDArray[np.int64]
    priority: NDArray[np.int64]
    stands_for: tuple[int, ...]


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on. `orders` is None with a cycle; `cycle_links` are the links of each cycle reported."""

    fabric: RoutedFabric
    routes: Routes
    traffic: HostTraffic
    lossless: LosslessLinks
    orders: tuple[ChannelOrder, ...] | None
    cycle_links: tuple[tuple[int, ...], ...]


class PlaneDeadlock(DeadlockResult):
    """A plane's verdict together with what it rests on, for findings and certificates."""

    evidence: Evidence

    def __init__(self, result: DeadlockResult, evidence: Evidence) -> None:
        super().__init__(**{name: getattr(result, name) for name in DeadlockResult.__dataclass_fields__})
        object.__setattr__(self, "evidence", evidence)


def analyse_deadlock(bundle: Bundle, plane: str | None = None) -> list[PlaneDeadlock]:
    """The verdict on the fabric as configured, one per RoCE plane, worst first; only `plane` when one is named.

    Loose files are one plane. Raises UnreadableInputError when a file is no JSON, UsageError for an unknown plane.
    """
    chosen = [(name, switches) for name, switches in planes(bundle) if plane in (None, name)]
    if plane is not None and not chosen:
        known = ", ".join(name for name, _ in planes(bundle) if name) or "none: loose files are one plane"
        raise UsageError(f"no plane {plane!r} here; planes with switch configurations are {known}")
    found = [_analyse(bundle, name, switches) for name, switches in chosen]
    return sorted(found, key=from_worst)


def from_worst(result: DeadlockResult) -> tuple[bool, bool, bool, str]:
    """Order of verdicts; of equal ones, a plane that carries lossless traffic comes before one that does not."""
    return result.verdict != "cyclic", result.claim == "proved", not result.priorities, result.name


def planes(bundle: Bundle) -> list[tuple[str, list[str]]]:
    """(plane, its switches), for planes that config_db files configure."""
    groups: dict[str, list[str]] = {}
    for name, device in bundle.devices.items():
        groups.setdefault(device.wired.plane if device.wired else "", []).append(name)
    return list(groups.items())


def _analyse(bundle: Bundle, name: str, switches: list[str]) -> PlaneDeadlock:
    fabric = read_fabric(bundle, switches)
    traffic = host_traffic(bundle, fabric)
    lossless = lossless_links(bundle, fabric)
    destinations = tuple(fabric.destinations[column] for column in traffic.columns)
    routes = solve(fabric.network, fabric.policy, destinations)
    hops = forwarding(fabric.network, routes, fabric.discards)
    flow = carried(fabric.network, hops, traffic.sources)
    graphs = _graphs(fabric, hops, flow, lossless)
    orders, cycles, cycle_links = [], [], []
    for one in graphs:
        peeled = peel(one.graph)
        orders.append(ChannelOrder(one.link[peeled.order], one.priority[peeled.order], one.stands_for))
        if len(peeled.left):
            for channels, priority in _cycles(one, shortest_cycle(one.graph, peeled.left)):
                links = tuple(int(one.link[channel]) for channel in channels)
                cycles.append(_cycle(fabric, hops, traffic, flow, links, priority))
                cycle_links.append(links)
    result = DeadlockResult(
        verdict="cyclic" if cycles else "free",
        claim="possible" if routes.ambiguous_sets and lossless.priorities else "proved",
        model="bgp",
        priorities=lossless.priorities,
        channels=sum(one.graph.channels * one.copies for one in graphs),
        dependencies=sum(len(one.graph.successors) * one.copies for one in graphs),
        failures=FailureSummary(0, 1, int(bool(cycles)), int(_cut_off(routes, traffic))),
        cycles=tuple(cycles),
        name=name,
    )
    certificate = None if cycles else tuple(orders)
    return PlaneDeadlock(result, Evidence(fabric, routes, traffic, lossless, certificate, tuple(cycle_links)))


def _graphs(fabric: RoutedFabric, hops: Words, flow: Words, lossless: LosslessLinks) -> list[PriorityGraph]:
    if not lossless.priorities:
        return []
    links = link_dependencies(fabric.network, hops, flow)
    return priority_graphs(links, fabric.network.incoming, lossless)


def _cycles(one: PriorityGraph, channels: list[int]) -> Iterator[tuple[list[int], int]]:
    """The cycle once for every priority that it is there for."""
    for priority in one.stands_for or (int(one.priority[channels[0]]),):
        yield channels, priority


def _cycle(
    fabric: RoutedFabric, hops: Words, traffic: HostTraffic, flow: Words, links: tuple[int, ...], priority: int
) -> Cycle:
    """The cycle port by port; each hop's witness is a destination that comes over it and goes on over the next hop."""
    place = np.empty(fabric.network.links, np.int64)
    place[fabric.network.incoming] = np.arange(fabric.network.links)
    witnesses = []
    for link, following in zip(links, links[1:] + links[:1], strict=True):
        shared = flow[place[link]] & hops[following]
        witnesses.append(traffic.witness[bits.columns_of(shared)[0]])
    ports = tuple((fabric.names[fabric.network.source[link]], fabric.port(link)) for link in links)
    return Cycle(priority, ports, witnesses=tuple(witnesses))


def _cut_off(routes: Routes, traffic: HostTraffic) -> bool:
    """Whether some switch with hosts has no route to the hosts behind another."""
    if traffic.sources.sum() < 2:
        return False
    wanted = bits.row_of(np.arange(traffic.host_columns), len(routes.destinations))
    lost = wanted & ~routes.reached[traffic.sources]
    return not traffic.complete or bool(lost.any())
