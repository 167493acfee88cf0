"""A link of a plane that goes down during a run, and the routes that BGP has without it."""

from dataclasses import dataclass, replace

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.results import FailureEffect, PacketsResult
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.simulate.packets.candidates import Candidates, can_answer, candidates
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Flows
from fabricgen.simulate.plane.rerouting import converged
from fabricgen.simulate.scenario import LinkFailure


@dataclass(frozen=True, slots=True)
class FailedLink:
    """A port of the link, when the link goes down, and when the switches have the routes without it."""

    switch: str
    port: str
    at_ns: int
    routes_at_ns: int


@dataclass(frozen=True)
class PlaneFailure:
    """A failed link in a plane: one of its two directions, and the plane with the routes without it."""

    asked: FailedLink
    link: int
    after: HostNetwork

    def candidates(self, flows: Flows) -> Candidates:
        """The next hops of some flows when the routes have changed. Raises UsageError if a flow has no path then."""
        source, target, after = flows.source, flows.target, self.after
        has_path = after.has_path(source, target) & after.has_path(target, source) & can_answer(after, source, target)
        lost = int((~has_path).sum())
        if lost:
            raise UsageError(
                f"--fail {self.asked.switch}|{self.asked.port}: without this link {lost} flows have no path"
            )
        return candidates(self.after, flows)

    def in_scenario(self, after: Candidates, number: dict[int, int]) -> LinkFailure:
        """The failure, with the numbers of ports in the scenario."""
        network, asked = self.after.network, self.asked
        a, b = (self.after.names[int(end[self.link])] for end in (network.source, network.target))
        return LinkFailure(
            a, b, asked.at_ns, groups=after.groups(number), routes_at_ns=asked.routes_at_ns, port=number[self.link]
        )


def failure_of(bundle: Bundle, fabric: RoutedFabric, plane: HostNetwork, asked: FailedLink) -> PlaneFailure:
    """The failed link of a plane. Raises UsageError if the port has no link to another switch of the plane."""
    links = range(plane.network.links)
    link = next((link for link in links if plane.ports.name_of(link) == (asked.switch, asked.port)), None)
    if link is None:
        raise UsageError(
            f"--fail: {asked.switch}|{asked.port} is not a port with a link to another switch of the plane"
        )
    dead = np.unique(np.array([link, int(plane.network.reverse[link])], np.int64))
    return PlaneFailure(asked, link, replace(plane, hops=converged(bundle, fabric, plane)(dead), balance=None))


def effect(asked: FailedLink, failed: PacketsResult, whole: PacketsResult) -> FailureEffect:
    """What a failure costs: a run with it, beside the same run without it."""
    pairs = [(one.fct_ns, other.fct_ns) for one, other in zip(failed.flows, whole.flows, strict=True)]
    delays = [one - other for one, other in pairs if one is not None and other is not None and one > other]
    return FailureEffect(
        port=(asked.switch, asked.port),
        at_ns=asked.at_ns,
        routes_at_ns=asked.routes_at_ns,
        lost=sum(one.drops for one in failed.lost),
        slower_flows=len(delays),
        most_ns=max(delays, default=0),
        collective_ns_before=whole.collective_ns,
    )
