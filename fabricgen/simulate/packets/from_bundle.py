"""A plane of a bundle under a traffic pattern as a scenario.

The scenario has the hosts of the traffic, the switches and cables that its flows cross, and the settings of the files.
ECMP paths are one draw of the switches' hashes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.simulate.packets.balancing import Recoveries, balance_of, in_words
from fabricgen.simulate.packets.candidates import can_answer, candidates
from fabricgen.simulate.packets.configured import port_buffers, switch_buffers
from fabricgen.simulate.packets.failed_link import PlaneFailure
from fabricgen.simulate.packets.senders import roce_transport
from fabricgen.simulate.packets.slicing import TrafficChoice, sliced_traffic
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.interfaces import PlaneQos
from fabricgen.simulate.plane.names import wired_plane
from fabricgen.simulate.plane.ports import NO_PORT, Flows, Ports
from fabricgen.simulate.plane.priority import cnp_dscp, roce_dscp
from fabricgen.simulate.plane.switch import RoceClass, SwitchClass
from fabricgen.simulate.scenario import (
    Flow,
    NodeKind,
    Scenario,
    ScenarioLink,
    ScenarioNode,
    Scheduler,
    SwitchBuffers,
    TrafficClass,
    TrimSettings,
)
from fabricgen.sonic.image import text
from fabricgen.sonic.port_qos import PRIORITIES
from fabricgen.units import counted, whole_number
from fabricgen.vocabulary import BalanceMode

# Packet trimming by the files of a plane: SWITCH_TRIMMING of its switches.


@dataclass(frozen=True, slots=True)
class TrimmedPackets:
    """The size and the DSCP of trimmed packets."""

    bytes: int
    dscp: int

    def free_priority(self, taken: Collection[int]) -> int:
        """A separate priority: the class selector of the DSCP, or the highest one that nothing else has."""
        order = (self.dscp >> 3, *reversed(range(PRIORITIES)))
        return next(one for one in order if one not in taken)


def trimming_of(bundle: Bundle, switches: Sequence[str]) -> TrimmedPackets | None:
    """That of the first switch that trims; None if none does."""
    for name in switches:
        row = bundle.devices[name].row("SWITCH_TRIMMING", "GLOBAL") if name in bundle.devices else {}
        size, dscp = (whole_number(text(row, field)) for field in ("size", "dscp_value"))
        if size and dscp is not None:
            return TrimmedPackets(size, dscp)
    return None


__all__ = ["PlaneScenario", "TrafficChoice", "plane_scenario"]

STOP_NS = 2_000_000_000


@dataclass(frozen=True)
class PlaneScenario:
    """A scenario, and its flows on the ports of the plane for the max-min solver. `switches` are the settings of its
    switches for `priority`, the lossless one that is judged. `reason` names the parts that are not in the scenario."""

    scenario: Scenario
    ports: Ports
    flows: Flows
    priority: int
    switches: Mapping[str, SwitchClass]
    reason: str


def plane_scenario(
    bundle: Bundle,
    plane: HostNetwork,
    priority: int,
    choice: TrafficChoice,
    priorities: Sequence[int],
    failure: PlaneFailure | None = None,
) -> PlaneScenario | None:
    """The scenario of a pattern on each of `priorities`; None if it sends no traffic over the plane. With a load
    balancing other than ECMP, switches select next hops during the run, and adapters recover as their models do. With a
    `failure` switches select during the run as well, with ECMP by an ideal hash."""
    balance, plane = balance_of(plane), replace(plane, balance=None)
    traffic, reason = sliced_traffic(plane, choice, len(priorities))
    blocked = plane.blocked(traffic.source, traffic.target)
    if blocked.any():
        pairs = {*zip(traffic.source[blocked].tolist(), traffic.target[blocked].tolist(), strict=True)}
        why = f"VRFs or ACLs block {counted(len(pairs), 'pair')} of hosts: nothing is sent between them"
        reason, traffic = "; ".join(filter(None, [reason, why])), traffic.only(~blocked)
    traffic = traffic.split(choice.queue_pairs or plane.queue_pairs).on(priorities)
    wire = traffic.bytes * plane.wire_share
    drawn = hashed_flows(plane, traffic.source, traffic.target, wire, traffic.start_ns, choice.seed)
    spreads = balance.mode is not BalanceMode.ECMP or failure is not None
    flows, arrived = drawn.flows, drawn.arrived
    if spreads:
        answered = can_answer(plane, traffic.source, traffic.target)
        flows, arrived = flows.only(answered[arrived]), arrived & answered
    if not len(flows):
        return None
    if lost := int((~arrived).sum()):
        reason = "; ".join(filter(None, [reason, f"{lost} flows have no route"]))
    trimmed = trimming_of(bundle, plane.names)
    repeats = balance.mode is not BalanceMode.ECMP or trimmed
    recoveries = Recoveries(plane.adapters) if repeats else None
    among = candidates(plane, flows) if spreads else None
    after = failure.candidates(flows) if failure else None
    used = among.ports if among else np.unique(flows.path[flows.path != NO_PORT]).tolist()
    if failure and after:
        used = sorted({*used, *after.ports, failure.link})
    sent = traffic.only(arrived)
    own = [priority] * len(sent) if sent.priority is None else sent.priority.tolist()
    builder = _Builder(bundle, plane, priority, used, sorted(set(own)), trimmed)
    scenario = Scenario(
        name=plane.name or "bundle",
        nodes=builder.nodes(recoveries),
        links=tuple(builder.links),
        flows=tuple(
            Flow(
                src=plane.adapters[source].name,
                dst=plane.adapters[target].name,
                bytes=max(1, round(size)),
                start_ns=round(start),
                priority=its,
                path=() if spreads else tuple(builder.port[hop] for hop in path if hop != NO_PORT),
            )
            for source, target, size, start, path, its in zip(
                flows.source.tolist(),
                flows.target.tolist(),
                sent.bytes.tolist(),
                flows.start_ns.tolist(),
                flows.path.tolist(),
                own,
                strict=True,
            )
        ),
        routes={},
        transport=replace(roce_transport(plane.payload_bytes, builder.dcqcn_gbps()), cnp_priority=builder.cnp_priority),
        stop_ns=STOP_NS,
        classes=builder.classes(),
        balance=balance,
        trimming=builder.trimming,
        groups=among.groups(builder.port) if among else {},
        goals=among.goals() if among else {},
        failures=(failure.in_scenario(after, builder.port),) if failure and after else (),
    )
    if failure and balance.mode is BalanceMode.ECMP:
        reason = "; ".join(filter(None, ["paths by an ideal hash", reason]))
    if recoveries:
        reason = "; ".join(filter(None, [in_words(balance), recoveries.in_words(), reason]))
    return PlaneScenario(scenario, plane.ports, flows, priority, builder.switches, reason)


class _Builder:
    """The nodes and links of the used ports. `port` maps a port of the plane to its number in the scenario. Ports have
    the settings of the `judged` priority, those of each of `priorities`, the priorities of the flows, and those of
    congestion notifications, whose priority is the class selector of their DSCP."""

    def __init__(
        self, bundle: Bundle, plane: HostNetwork, judged: int, used: list[int], priorities: Sequence[int],
        trimmed: TrimmedPackets | None,
    ) -> None:  # fmt: skip
        self.plane, self.priorities = plane, priorities
        notifying = cnp_dscp(bundle, plane.name)
        self.cnp_priority = notifying >> 3
        self._carried = sorted({*priorities, self.cnp_priority})
        self.trimming: TrimSettings | None = None
        dscp_of: dict[int, int | None] = {}
        if trimmed:
            self.trimming = TrimSettings(trimmed.bytes, trimmed.free_priority(self._carried))
            dscp_of[self.trimming.priority] = trimmed.dscp
            self._carried = sorted({*self._carried, self.trimming.priority})
        self.links: list[ScenarioLink] = []
        self.port: dict[int, int] = {}
        crossed = {plane.names[switch] for port in used for switch in self._switches(port)}
        names = [name for name in plane.names if name in crossed]
        plane_qos = PlaneQos()
        wired = wired_plane(bundle, plane.name)
        self._planned_lossless = wired.lossless if wired else ()
        self._of: dict[int, dict[str, SwitchClass]] = {}
        for priority in {judged, *self._carried}:
            dscp = dscp_of.get(priority, roce_dscp(bundle, plane.name, priority))
            if dscp is None and priority == self.cnp_priority:
                dscp = notifying
            roce = RoceClass(priority, plane.ports.packet_bytes, dscp)
            self._of[priority] = {
                name: SwitchClass(bundle, name, roce, plane_qos.of(bundle.devices[name].config)) for name in names
            }
        self.switches = self._of[judged]
        for port in used:
            if port not in self.port:
                self._add(port)

    def nodes(self, recoveries: Recoveries | None) -> tuple[ScenarioNode, ...]:
        """Adapters, then switches."""
        adapters = dict.fromkeys(link.a for link in self.links if link.a not in self.switches)
        by_name = {one.name: one for one in self.plane.adapters} if recoveries else {}
        recovery = {name: recoveries.of(by_name[name]) for name in adapters} if recoveries else {}
        switches = (ScenarioNode(name, NodeKind.SWITCH, switch_buffers(its)) for name, its in self.switches.items())
        return (*(ScenarioNode(name, NodeKind.HOST, recovery=recovery.get(name)) for name in adapters), *switches)

    def dcqcn_gbps(self) -> float | None:
        """The speed of the fastest link if any queue of the flows marks, for DCQCN; None if none marks."""
        marks = any(own[priority].ecn for own in self._classes_of_ends() for priority in self.priorities)
        return max(link.speed_gbps for link in self.links) if marks else None

    def classes(self) -> tuple[TrafficClass, ...]:
        """The priorities of the flows and of CNPs: lossless if they are planned to be, or if any port has PFC for them;
        with the scheduler of the first port."""
        found = []
        for priority in self._carried:
            ends = [own[priority] for own in self._classes_of_ends()]
            lossless = priority in self._planned_lossless or any(own.pfc for own in ends)
            found.append(TrafficClass(priority, lossless, ends[0].scheduler or Scheduler.DWRR, ends[0].weight))
        return tuple(found)

    def _classes_of_ends(self) -> Iterator[Mapping[int, SwitchBuffers]]:
        """The settings by priority of each end at a switch."""
        yield from (own for link in self.links for own in (link.a_classes, link.b_classes) if own)

    def _switches(self, port: int) -> list[int]:
        network, links = self.plane.network, self.plane.network.links
        if port < links:
            return [int(network.source[port]), int(network.target[port])]
        return [int(self.plane.leaf[(port - links) % len(self.plane.adapters)])]

    def _add(self, port: int) -> None:
        """Add the cable of a port, from its lower end: an adapter, or the first of the two directions."""
        links, hosts = self.plane.network.links, len(self.plane.adapters)
        if port < links:
            back = int(self.plane.network.reverse[port])
        else:
            port, back = links + (port - links) % hosts, links + hosts + (port - links) % hosts
        near, far = self.plane.ports.name_of(port), self.plane.ports.name_of(back)
        a, a_port = near if port < links else (self.plane.adapters[port - links].name, "")
        rate, delay = float(self.plane.ports.bytes_per_ns[port]), float(self.plane.ports.delay_ns[port])
        response = np.broadcast_to(self.plane.ports.response_bytes, len(self.plane.ports))[port]
        self.port[port], self.port[back] = 2 * len(self.links), 2 * len(self.links) + 1
        self.links.append(
            ScenarioLink(
                a=a,
                b=far[0],
                speed_gbps=_rounded(rate * 8),
                delay_ns=round(delay),
                a_buffers=port_buffers(self.switches[a], a_port) if a in self.switches else None,
                b_buffers=port_buffers(self.switches[far[0]], far[1]),
                a_classes=self._classes(a, a_port),
                b_classes=self._classes(*far),
                a_port=a_port,
                b_port=far[1],
                response_ns=round(float(response) / rate),
            )
        )

    def _classes(self, node: str, port: str) -> dict[int, SwitchBuffers]:
        """The settings of a switch's port for each priority of packets; empty for an adapter."""
        if node not in self.switches:
            return {}
        return {priority: port_buffers(self._of[priority][node], port) for priority in self._carried}


def _rounded(number: float) -> float:
    """Without rounding errors of a division, so links have a common clock."""
    return round(number, 6)
