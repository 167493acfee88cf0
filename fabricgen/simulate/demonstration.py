"""A packet run of a cycle of buffer dependencies, which freezes or does not.

For every two consecutive links of the cycle, a sender at the first switch sends to a witness destination that the files
route over both links. So each link carries two flows, with twice the load that it can carry. Senders and receivers
represent the hosts behind these switches. Senders do not obey ECN, as before the first round trips of DCQCN. A cycle
that freezes this way is run again with senders that obey ECN. If a cycle does not freeze, the next cycles are run. A
run ends when a watchdog has ended the freeze.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.findings import Confidence, Finding, Place, Severity
from fabricgen.physics import (
    DEFAULT_ROCE_MTU_BYTES,
    PROPAGATION_NS_PER_M,
    ROCE_V2_WIRE_BYTES,
    peer_response_bytes,
)
from fabricgen.quantities import time_text
from fabricgen.results import PacketsResult
from fabricgen.routing import bits
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.network import Network
from fabricgen.simulate.deadlock import PlaneDeadlock
from fabricgen.simulate.deadlock.analysis import cycles_of
from fabricgen.simulate.deadlock.failures.verdict import FoundCycle
from fabricgen.simulate.packets.configured import port_buffers, switch_buffers
from fabricgen.simulate.packets.freeze import FreezeWatch
from fabricgen.simulate.packets.outcome import outcome
from fabricgen.simulate.packets.senders import DCQCN_SPEED_GBPS, roce_transport
from fabricgen.simulate.packets.simulation import run
from fabricgen.simulate.plane.interfaces import InterfaceQos
from fabricgen.simulate.plane.priority import roce_dscp
from fabricgen.simulate.plane.switch import RoceClass, SwitchClass
from fabricgen.simulate.scenario import Flow, NodeKind, Scenario, ScenarioLink, ScenarioNode
from fabricgen.units import counted

STOP_NS = 3_000_000_000
MOST_CYCLES = 3
_FILLS = 6  # the size of messages in units of the largest buffer: a freeze needs all groups of the cycle to fill


def demonstrate(bundle: Bundle, verdict: PlaneDeadlock) -> tuple[PacketsResult, Finding]:
    """The run of the first of `MOST_CYCLES` cycles that freezes, with FG642; if no cycle freezes, the run of the first
    one, with FG643. Raises UsageError for a plane without a cycle."""
    first: tuple[PacketsResult, FoundCycle] | None = None
    tried = 0
    for cycle in islice(cycles_of(verdict), MOST_CYCLES):
        result = _run(_scenario(bundle, verdict, cycle))
        tried += 1
        if result.freeze:
            return result, _finding(bundle, verdict, cycle, result, tried)
        first = first or (result, cycle)
    if first is None:
        raise UsageError(f"plane {verdict.name!r} has no cycle")
    result, cycle = first
    return result, _finding(bundle, verdict, cycle, result, tried)


def _run(scenario: Scenario) -> PacketsResult:
    """The run of a cycle's flows: that with senders that obey ECN, if queues mark and it freezes as well."""
    patience_ns = scenario.flows[0].bytes * 8 / min(link.speed_gbps for link in scenario.links)

    def enough(watch: FreezeWatch) -> bool:
        """A freeze has ended, or none came in the time in which the slowest link sends a whole message."""
        return watch.over_ns is not None if watch.found else watch.checked_ns > patience_ns

    found, reason = run(replace(scenario, transport=roce_transport(DEFAULT_ROCE_MTU_BYTES)), enough=enough), ""
    if found.freeze.found and scenario.transport.dcqcn:
        reason = "senders do not obey ECN; with senders that obey it, it does not freeze"
        obeying = run(scenario, enough=enough)
        if obeying.freeze.found:
            found, reason = obeying, "senders obey ECN"
    return replace(outcome(found, 1), reason=reason, pattern="demonstration")


def _scenario(bundle: Bundle, verdict: PlaneDeadlock, cycle: FoundCycle) -> Scenario:
    evidence = verdict.evidence
    network = evidence.fabric.network
    hops = forwarding(network, evidence.routes, evidence.fabric.discards)
    paths = []
    for (link, following), prefix in zip(pairwise([*cycle.links, cycle.links[0]]), cycle.witnesses, strict=True):
        if prefix not in evidence.traffic.witness:  # a list of uSIDs, which is followed over these links only
            paths.append([link, following])
            continue
        column = evidence.traffic.witness.index(prefix)
        usable = bits.has(hops, column)
        usable[cycle.failed.dead] = False
        origins = evidence.routes.destinations[column].origins
        paths.append([link, following, *_onward(network, int(network.target[following]), usable, set(origins))])
    return _Stage(bundle, verdict, cycle.priority).scenario(paths)


def _onward(network: Network, at: int, usable: NDArray[np.bool_], origins: set[int]) -> list[int]:
    """The shortest path of usable links from a switch to one that announces the destination; empty without a path."""
    before: dict[int, int] = {at: -1}
    todo = [at]
    for switch in todo:
        if switch in origins:
            path: list[int] = []
            while before[switch] >= 0:
                path.append(before[switch])
                switch = int(network.source[path[-1]])
            return path[::-1]
        for link in range(int(network.offsets[switch]), int(network.offsets[switch + 1])):
            target = int(network.target[link])
            if usable[link] and target not in before:
                before[target] = link
                todo.append(target)
    return []


class _Stage:
    """The switches of some paths with the settings of their files, and hosts at both ends of each path."""

    def __init__(self, bundle: Bundle, verdict: PlaneDeadlock, priority: int) -> None:
        self.bundle, self.fabric, self.priority = bundle, verdict.evidence.fabric, priority
        self.dscp = roce_dscp(bundle, verdict.name, priority)
        self.switches: dict[str, SwitchClass] = {}
        self.links: list[ScenarioLink] = []
        self.port: dict[int, int] = {}

    def scenario(self, paths: Sequence[Sequence[int]]) -> Scenario:
        """The scenario with one flow for each path of links."""
        network = self.fabric.network
        routed: list[tuple[int, ...]] = []
        for path in paths:
            first = self._host(len(self.links), int(network.source[path[0]]), path[0], f"sender{len(routed)}")
            inner = [self._cable(link) for link in path]
            last = self._host(len(self.links), int(network.target[path[-1]]), path[-1], f"receiver{len(routed)}")
            routed.append((first, *inner, last ^ 1))
        buffers = {name: switch_buffers(switch) for name, switch in self.switches.items()}
        size = _FILLS * max(each.buffer_bytes for each in buffers.values())
        hosts = [link.a for link in self.links if link.a not in buffers]
        marks = any(own and own.ecn for link in self.links for own in (link.a_buffers, link.b_buffers))
        return Scenario(
            name="demonstration",
            nodes=(
                *(ScenarioNode(name, NodeKind.HOST) for name in hosts),
                *(ScenarioNode(name, NodeKind.SWITCH, each) for name, each in buffers.items()),
            ),
            links=tuple(self.links),
            flows=tuple(
                Flow(f"sender{index}", f"receiver{index}", size, 0, self.priority, path)
                for index, path in enumerate(routed)
            ),
            routes={},
            transport=roce_transport(DEFAULT_ROCE_MTU_BYTES, DCQCN_SPEED_GBPS if marks else None),
            stop_ns=STOP_NS,
        )

    def _of(self, switch: int) -> SwitchClass:
        name = self.fabric.names[switch]
        if name not in self.switches:
            roce = RoceClass(self.priority, DEFAULT_ROCE_MTU_BYTES + ROCE_V2_WIRE_BYTES, self.dscp)
            qos = InterfaceQos(self.bundle.devices[name].config)
            self.switches[name] = SwitchClass(self.bundle, name, roce, qos)
        return self.switches[name]

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
                    self._like(near, a_port), a=near.device.name, b=far.device.name,
                    a_buffers=port_buffers(near, a_port), b_buffers=port_buffers(far, b_port),
                    a_port=a_port, b_port=b_port,
                )
            )  # fmt: skip
        return self.port[link]

    def _host(self, number: int, switch: int, link: int, name: str) -> int:
        """The port of a host on a switch, with a cable like that of a link there."""
        network = self.fabric.network
        port = self.fabric.port(link if int(network.source[link]) == switch else int(network.reverse[link]))
        its = self._of(switch)
        cable = self._like(its, port)
        self.links.append(replace(cable, a=name, b=its.device.name, b_buffers=port_buffers(its, port), b_port=name))
        return 2 * number

    def _like(self, switch: SwitchClass, port: str) -> ScenarioLink:
        """A cable with the speed and length of a switch's port."""
        speed_mbps = switch.cables.speed_mbps(port)
        response = (peer_response_bytes(speed_mbps) or 0) * 8000 // speed_mbps
        delay = round(switch.cables.length_m(port) * PROPAGATION_NS_PER_M)
        return ScenarioLink("", "", speed_mbps / 1000, delay, response_ns=response)


def _finding(bundle: Bundle, verdict: PlaneDeadlock, cycle: FoundCycle, result: PacketsResult, tried: int) -> Finding:
    fabric = verdict.evidence.fabric
    hops = [(fabric.names[fabric.network.source[link]], fabric.port(link)) for link in cycle.links]
    switch, port = hops[0]
    around = " -> ".join(f"{name} {interface}" for name, interface in hops)
    others = counted(tried - 1, "other cycle") if tried > 1 else ""
    if result.freeze is None:
        code, severity = "FG643", Severity.NOTE
        message = f"the cycle {around} did not freeze in a packet run of {result.simulated_ns / 1e6:.1f} ms"
        message += f", and neither did {others}" if others else ""
        hint = "break the cycle in the routes: the dependency exists even if these flows did not freeze it"
    else:
        code, severity = "FG642", Severity.ERROR
        broken = f", and the watchdog ended it at {result.freeze.over_ns / 1e6:.0f} ms" if result.freeze.over_ns else ""
        message = f"the cycle {around} froze in a packet run after {time_text(result.freeze.time_ns)}{broken}"
        message += f"; {others} did not freeze before" if others else ""
        hint = "break the cycle in the routes; a watchdog drops packets to end a freeze"
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
