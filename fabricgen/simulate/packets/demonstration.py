"""From a cycle of buffer dependencies to a run that freezes, or one that does not.

For every two links that follow each other around the cycle, a sender at the first switch sends to a witness destination
that the files route over both: each link then carries two flows and is offered twice what it can take. Senders and
receivers stand for the hosts behind these switches. Senders do not obey ECN, as before DCQCN has had its first round
trips; a cycle that freezes so is tried with senders that do, too. Where a cycle does not freeze, others are tried. A
run ends when a watchdog has ended the freeze.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Place, Severity
from fabricgen.physics import PROPAGATION_NS_PER_M, peer_response_bytes
from fabricgen.results import PacketsResult
from fabricgen.routing import bits
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.network import Network
from fabricgen.simulate.deadlock import PlaneDeadlock
from fabricgen.simulate.deadlock.analysis import cycles_of
from fabricgen.simulate.deadlock.failures.verdict import FoundCycle
from fabricgen.simulate.packets.configured import UNKNOWN_SPEED_MBPS, SwitchSettings
from fabricgen.simulate.packets.freeze import FreezeWatch
from fabricgen.simulate.packets.from_bundle import NIC_DCQCN, dscp_of
from fabricgen.simulate.packets.outcome import outcome
from fabricgen.simulate.packets.simulation import run
from fabricgen.simulate.scenario import Dcqcn, Flow, Link, Node, Scenario, Transport
from fabricgen.units import counted

STOP_NS = 3_000_000_000
MOST_CYCLES = 3
_FILLS = 6  # messages of so many times the largest buffer: a freeze needs all of the cycle's groups to fill
_MTU_BYTES, _HEADER_BYTES, _FRAME_BYTES = 4096, 82, 84


def demonstrate(bundle: Bundle, verdict: PlaneDeadlock) -> tuple[PacketsResult, Finding]:
    """The run of the first cycle that froze, or that of the first one where none of `MOST_CYCLES` did, and FG642 or
    FG643, which say so. The plane has a cycle."""
    first: tuple[PacketsResult, FoundCycle] | None = None
    tried = 0
    for cycle in islice(cycles_of(verdict), MOST_CYCLES):
        result = _tried(_scenario(bundle, verdict, cycle))
        tried += 1
        if result.freeze:
            return result, _finding(bundle, verdict, cycle, result, tried)
        first = first or (result, cycle)
    if first is None:
        raise ValueError("the plane has no cycle")
    result, cycle = first
    return result, _finding(bundle, verdict, cycle, result, tried)


def _tried(scenario: Scenario) -> PacketsResult:
    """What comes of a cycle's flows: with senders that obey ECN where queues mark, if it freezes with them, too."""
    patience_ns = scenario.flows[0].bytes * 8 / min(link.speed_gbps for link in scenario.links)

    def enough(watch: FreezeWatch) -> bool:
        """A freeze has been ended, or none came while the slowest link would have sent a whole message."""
        return watch.over_ns is not None if watch.found else watch.looked_ns > patience_ns

    found, reason = run(replace(scenario, transport=_transport(None)), enough=enough), ""
    if found.freeze.found and scenario.transport.dcqcn:
        reason = "it does not freeze with senders that obey ECN; these do not"
        obeying = run(scenario, enough=enough)
        if obeying.freeze.found:
            found, reason = obeying, "senders obey ECN"
    return replace(outcome(found, 1), reason=reason, pattern="demonstration")


def _scenario(bundle: Bundle, verdict: PlaneDeadlock, cycle: FoundCycle) -> Scenario:
    evidence = verdict.evidence
    network = evidence.fabric.network
    hops = forwarding(network, evidence.routes, evidence.fabric.discards)
    ways = []
    for (link, following), prefix in zip(pairwise([*cycle.links, cycle.links[0]]), cycle.witnesses, strict=True):
        column = evidence.traffic.witness.index(prefix)
        usable = bits.has(hops, column)
        usable[cycle.failed.dead] = False
        origins = evidence.routes.destinations[column].origins
        ways.append([link, following, *_onward(network, int(network.target[following]), usable, set(origins))])
    return _Stage(bundle, verdict, cycle.priority).scenario(ways)


def _onward(network: Network, at: int, usable: NDArray[np.bool_], origins: set[int]) -> list[int]:
    """The fewest usable links from a switch to one that announces the destination; none where there is no such way."""
    before: dict[int, int] = {at: -1}
    todo = [at]
    for switch in todo:
        if switch in origins:
            way: list[int] = []
            while before[switch] >= 0:
                way.append(before[switch])
                switch = int(network.source[way[-1]])
            return way[::-1]
        for link in range(int(network.offsets[switch]), int(network.offsets[switch + 1])):
            target = int(network.target[link])
            if usable[link] and target not in before:
                before[target] = link
                todo.append(target)
    return []


class _Stage:
    """The switches of some ways with what their files say, and hosts at both ends of each way."""

    def __init__(self, bundle: Bundle, verdict: PlaneDeadlock, priority: int) -> None:
        self.bundle, self.fabric, self.priority = bundle, verdict.evidence.fabric, priority
        self.dscp = dscp_of(bundle, verdict.name, priority)
        self.settings: dict[str, SwitchSettings] = {}
        self.links: list[Link] = []
        self.port: dict[int, int] = {}

    def scenario(self, ways: Sequence[Sequence[int]]) -> Scenario:
        """One flow for each way."""
        network = self.fabric.network
        paths: list[tuple[int, ...]] = []
        for way in ways:
            first = self._host(len(self.links), int(network.source[way[0]]), way[0], f"sender{len(paths)}")
            inner = [self._cable(link) for link in way]
            last = self._host(len(self.links), int(network.target[way[-1]]), way[-1], f"receiver{len(paths)}")
            paths.append((first, *inner, last ^ 1))
        buffers = {name: settings.switch() for name, settings in self.settings.items()}
        size = _FILLS * max(each.buffer_bytes for each in buffers.values())
        hosts = [link.a for link in self.links if link.a not in buffers]
        marks = any(own.get("ecn") for link in self.links for own in (link.a_buffers, link.b_buffers))
        return Scenario(
            name="demonstration",
            nodes=(
                *(Node(name, "host") for name in hosts),
                *(Node(name, "switch", each) for name, each in buffers.items()),
            ),
            links=tuple(self.links),
            flows=tuple(
                Flow(f"sender{index}", f"receiver{index}", size, 0, self.priority, path)
                for index, path in enumerate(paths)
            ),
            routes={},
            transport=_transport(NIC_DCQCN if marks else None),
            stop_ns=STOP_NS,
        )

    def _of(self, switch: int) -> SwitchSettings:
        name = self.fabric.names[switch]
        if name not in self.settings:
            self.settings[name] = SwitchSettings(
                self.bundle.devices[name], self.priority, _MTU_BYTES + _HEADER_BYTES, self.dscp
            )
        return self.settings[name]

    def _cable(self, link: int) -> int:
        """The scenario's port for a link between switches."""
        network = self.fabric.network
        if link not in self.port:
            back = int(network.reverse[link])
            near, far = self._of(int(network.source[link])), self._of(int(network.target[link]))
            a_port, b_port = self.fabric.port(link), self.fabric.port(back)
            self.port[link], self.port[back] = 2 * len(self.links), 2 * len(self.links) + 1
            self.links.append(
                replace(
                    self._like(near, a_port), a=near.device.name, b=far.device.name, a_buffers=near.port(a_port),
                    b_buffers=far.port(b_port), a_port=a_port, b_port=b_port,
                )
            )  # fmt: skip
        return self.port[link]

    def _host(self, number: int, switch: int, link: int, name: str) -> int:
        """The port of a host on a switch, by a cable like the one of a link there."""
        network = self.fabric.network
        port = self.fabric.port(link if int(network.source[link]) == switch else int(network.reverse[link]))
        settings = self._of(switch)
        cable = self._like(settings, port)
        self.links.append(replace(cable, a=name, b=settings.device.name, b_buffers=settings.port(port), b_port=name))
        return 2 * number

    def _like(self, settings: SwitchSettings, port: str) -> Link:
        """A cable with the speed and length of a switch's port."""
        speed_mbps = settings.groups.speed_mbps(port) or UNKNOWN_SPEED_MBPS
        wired = self.bundle.link_at.get((settings.device.name, port))
        known = self.bundle.cable_length_m.get(wired.id) if wired else None
        metres = settings.groups.cable_m(port) if known is None else known
        response = (peer_response_bytes(speed_mbps) or 0) * 8000 // speed_mbps
        return Link("", "", speed_mbps / 1000, round(metres * PROPAGATION_NS_PER_M), response_ns=response)


def _transport(dcqcn: Dcqcn | None) -> Transport:
    return Transport(_MTU_BYTES, _HEADER_BYTES, _FRAME_BYTES, _FRAME_BYTES, False, "dcqcn" if dcqcn else "none", dcqcn)


def _finding(bundle: Bundle, verdict: PlaneDeadlock, cycle: FoundCycle, result: PacketsResult, tried: int) -> Finding:
    fabric = verdict.evidence.fabric
    hops = [(fabric.names[fabric.network.source[link]], fabric.port(link)) for link in cycle.links]
    switch, port = hops[0]
    around = " -> ".join(f"{name} {interface}" for name, interface in hops)
    others = f"{counted(tried - 1, 'other cycle')} that {'was' if tried == 2 else 'were'} tried" if tried > 1 else ""
    if result.freeze is None:
        code, severity = "FG643", Severity.NOTE
        message = f"the cycle {around} did not freeze in a packet run of {result.simulated_ns / 1e6:.1f} ms"
        message += f", nor did {others}" if others else ""
        hint = "That it did not freeze with these flows proves nothing; the dependency is there."
    else:
        code, severity = "FG642", Severity.ERROR
        broken = f", and the watchdog ended it at {result.freeze.over_ns / 1e6:.0f} ms" if result.freeze.over_ns else ""
        message = f"the cycle {around} froze in a packet run after {result.freeze.time_ns / 1000:.1f} us{broken}"
        message += f"; {others} before did not" if others else ""
        hint = "Break the cycle in the routes; a watchdog drops what is held to end a freeze."
    return Finding(
        code=code,
        severity=severity,
        message=f"{message} ({result.reason})" if result.reason else message,
        device=switch,
        place=Place("PORT_QOS_MAP", port),
        location=bundle.devices[switch].locate("PORT_QOS_MAP", port),
        hint=hint,
        confidence=Confidence.OBSERVED,
    )
