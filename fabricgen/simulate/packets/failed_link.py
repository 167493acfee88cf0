"""A link of a plane that goes down during a run, and the routes that BGP has without it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.quantities import time_text
from fabricgen.results import FailureEffect, FailurePhase, PacketsResult
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.simulate.packets.candidates import Candidates, can_answer, candidates
from fabricgen.simulate.packets.failing import Marks, Reading
from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Flows
from fabricgen.simulate.plane.rerouting import converged
from fabricgen.simulate.scenario import LinkFailure


@dataclass(frozen=True, slots=True)
class FailedLink:
    """A port of the link, when the link goes down, and when the switches have the routes without it; if it comes up
    again, when, and when the switches have the routes with it."""

    switch: str
    port: str
    at_ns: int
    routes_at_ns: int
    up_at_ns: int | None = None
    routes_back_at_ns: int | None = None

    @property
    def phases(self) -> list[tuple[str, int]]:
        """What follows, and when it begins."""
        found = [("without the link", self.at_ns), ("other routes", self.routes_at_ns)]
        if self.up_at_ns is not None and self.routes_back_at_ns is not None:
            if self.up_at_ns < self.routes_at_ns:
                found = [("without the link", self.at_ns)]
            found.append(("link up", self.up_at_ns))
            found.append(("first routes", self.routes_back_at_ns))
        return found


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
            a, b, asked.at_ns, groups=after.groups(number), routes_at_ns=asked.routes_at_ns, port=number[self.link],
            up_at_ns=asked.up_at_ns, routes_back_at_ns=asked.routes_back_at_ns,
        )  # fmt: skip


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


class PhaseMarks(Marks):
    """The counters of a run when the phases of a failed link begin, and at its end."""

    def __init__(self, network: PacketNetwork, asked: FailedLink) -> None:
        super().__init__(network, [time for _, time in asked.phases])
        self._asked = asked

    def close(self) -> None:
        """The run is over. Raises UsageError if all flows have ended before the link goes down."""
        network, asked = self._network, self._asked
        if not self.read and int(network.run.clock["finished"][0]) == len(network.run.flows):
            end = time_text(network.ns(network.now))
            raise UsageError(
                f"--fail {asked.switch}|{asked.port}: the traffic ends after {end}, before the link goes down at "
                f"{time_text(asked.at_ns)}; give an earlier time or more bytes"
            )
        super().close()


def effect(
    asked: FailedLink, failed: PacketsResult, whole: PacketsResult, read: Sequence[Reading], ports: Sequence[int]
) -> FailureEffect:
    """What a failure costs: a run with it, beside the same run without it. `read` are the counters when the phases of
    the failed run began, and at its end; `ports` the port of each of its frames."""
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
        up_at_ns=asked.up_at_ns,
        phases=tuple(_phases(asked, read, failed, ports)),
    )


def _phases(
    asked: FailedLink, read: Sequence[Reading], failed: PacketsResult, ports: Sequence[int]
) -> Iterator[FailurePhase]:
    """The phases that the run reached, each with its rate, losses and pauses."""
    names = ["before", *(name for name, _ in asked.phases)]
    marks = [Reading(0, 0, 0, 0, 0), *read]
    for name, (begin, end) in zip(names, pairwise(marks), strict=False):
        took_ns = end.at_ns - begin.at_ns
        if took_ns == 0:
            continue
        frames = range(begin.frames, end.frames)
        paused = [ports[frame] for frame in frames if failed.pfc_frames[frame][2]]
        yield FailurePhase(
            name, begin.at_ns, end.at_ns,
            gbps=round((end.acked_bytes - begin.acked_bytes) * 8 / took_ns, 2),
            lost=end.lost - begin.lost, repeated=end.repeated - begin.repeated,
            pauses=len(paused), paused_ports=len(set(paused)),
        )  # fmt: skip
