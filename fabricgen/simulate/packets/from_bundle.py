"""A plane of a bundle under a traffic pattern as a scenario: a slice of the fabric where all of it is too much.

The slice holds the first hosts of the job, and the switches and cables that their flows cross, with every setting as
the files have it. ECMP paths are one draw of the switches' hashes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.ports import NO_PORT, Flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.switch import SwitchSettings
from fabricgen.simulate.patterns import TRACE, Everyone, Messages, Traffic, make_job, make_traffic
from fabricgen.simulate.scenario import Dcqcn, Flow, Link, Node, Scenario, TrafficClass, Transport

MOST_FLOWS = 4096
MOST_PACKETS = 2_000_000
STOP_NS = 2_000_000_000
_FRAME_BYTES = 84  # the least frame, with preamble and gap: ACKs, pauses
# What ConnectX adapters do: HPCC's "mlx" settings, which its authors took from NVIDIA; steps grow with the speed.
NIC_DCQCN = Dcqcn(
    g=1 / 256, alpha_timer_ns=1000, rate_decrease_interval_ns=4000, increase_timer_ns=300_000, fast_recovery_times=1,
    rate_ai_mbps=20, rate_hai_mbps=200, min_rate_mbps=100, cnp_interval_ns=4000,
)  # fmt: skip


@dataclass(frozen=True)
class PlaneScenario:
    """A scenario and its flows as the max-min solver takes them, on the ports of the plane. `settings` are the files of
    the switches in it for `priority`, the lossless one that is judged. `reason` tells what is left out."""

    scenario: Scenario
    flows: Flows
    priority: int
    settings: Mapping[str, SwitchSettings]
    reason: str


def plane_scenario(
    bundle: Bundle, plane: HostNetwork, priority: int, pattern: str, size_bytes: float, seed: int,
    priorities: Sequence[int],
) -> PlaneScenario | None:  # fmt: skip
    """The scenario of a pattern on each of `priorities`; None where it sends nothing over the plane."""
    traffic, reason = _traffic(plane, pattern, size_bytes, seed, len(priorities))
    traffic = traffic.on(priorities)
    wire = traffic.bytes * plane.ports.packet_bytes / plane.payload_bytes
    drawn = hashed_flows(plane, traffic.source, traffic.target, wire, traffic.start_ns, seed)
    flows = drawn.flows
    if not len(flows):
        return None
    if lost := int((~drawn.arrived).sum()):
        reason = "; ".join(filter(None, [reason, f"{lost} flows have no route"]))
    used = np.unique(flows.path[flows.path != NO_PORT]).tolist()
    sent = traffic.only(drawn.arrived)
    own = [priority] * len(sent) if sent.priority is None else sent.priority.tolist()
    builder = _Builder(bundle, plane, priority, used, sorted(set(own)))
    scenario = Scenario(
        name=plane.name or "bundle",
        nodes=builder.nodes(),
        links=tuple(builder.links),
        flows=tuple(
            Flow(
                src=builder.adapter(source),
                dst=builder.adapter(target),
                bytes=max(1, round(size)),
                start_ns=round(start),
                priority=its,
                path=tuple(builder.port[hop] for hop in path if hop != NO_PORT),
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
        transport=builder.transport(),
        stop_ns=STOP_NS,
        classes=builder.classes(),
    )
    return PlaneScenario(scenario, flows, priority, builder.settings, reason)


def _traffic(plane: HostNetwork, pattern: str, size_bytes: float, seed: int, times: int) -> tuple[Messages, str]:
    """The pattern, to be sent so many `times`, among as many hosts as can be simulated, half as many each time, or as
    many flows of a trace; and what that leaves out."""
    if pattern.startswith(TRACE):
        job = make_job(plane.adapters, seed=seed)
        return _beginning(make_traffic(pattern, job, plane.adapters, size_bytes, seed), plane.payload_bytes, times)
    hosts = list(dict.fromkeys(adapter.host for adapter in plane.adapters))
    count = len(hosts)
    while True:
        chosen = set(hosts[:count])
        number = np.array([index for index, one in enumerate(plane.adapters) if one.host in chosen], np.int64)
        adapters = [plane.adapters[index] for index in number.tolist()]
        traffic = make_traffic(pattern, make_job(adapters, seed=seed), adapters, size_bytes, seed)
        if count <= 2 or _small_enough(traffic, plane.payload_bytes, times):
            break
        count //= 2
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    reason = f"a slice: {count} of {len(hosts)} hosts" if count < len(hosts) else ""
    return replace(messages, source=number[messages.source], target=number[messages.target]), reason


def _beginning(traffic: Traffic, payload_bytes: int, times: int) -> tuple[Messages, str]:
    """The first flows of a trace, as many as can be simulated."""
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    small = np.cumsum(messages.bytes) * times <= MOST_PACKETS * payload_bytes
    count = min(max(1, int(small.sum())), MOST_FLOWS // times)
    if count >= len(messages):
        return messages, ""
    return messages.only(np.arange(count)), f"a slice: the first {count} of {len(messages)} flows"


def _small_enough(traffic: Messages | Everyone, payload_bytes: int, times: int) -> bool:
    total = len(traffic) * traffic.bytes_each if isinstance(traffic, Everyone) else float(traffic.bytes.sum())
    return times * len(traffic) <= MOST_FLOWS and times * total / payload_bytes <= MOST_PACKETS


class _Builder:
    """Numbers the cables that are used; `port` gives a port of the plane its number in the scenario. Ports have what
    the files say of `judged`, and for `priorities`, those of the flows, what they say of each."""

    def __init__(
        self, bundle: Bundle, plane: HostNetwork, judged: int, used: list[int], priorities: Sequence[int]
    ) -> None:
        self.plane, self.priorities = plane, priorities
        self.links: list[Link] = []
        self.port: dict[int, int] = {}
        names = {plane.names[switch] for port in used for switch in self._switches(port)}
        mtu = plane.ports.packet_bytes
        wired = next((one for one in (bundle.wiring.planes if bundle.wiring else ()) if one.name == plane.name), None)
        self._meant_lossless = wired.lossless if wired else ()
        self._of = {
            priority: {
                name: SwitchSettings(bundle.devices[name], priority, mtu, dscp_of(bundle, plane.name, priority))
                for name in plane.names
                if name in names
            }
            for priority in {judged, *priorities}
        }
        self.settings = self._of[judged]
        for port in used:
            if port not in self.port:
                self._add(port)

    def adapter(self, number: int) -> str:
        """HOST|NIC."""
        one = self.plane.adapters[number]
        return f"{one.host}|{one.nic}"

    def nodes(self) -> tuple[Node, ...]:
        """Adapters, then switches, in which the slice leaves to the ports outside it what they reserve."""
        adapters = dict.fromkeys(link.a for link in self.links if link.a not in self.settings)
        inside: dict[str, int] = {}
        for link in self.links:
            for name, classes in ((link.a, link.a_classes), (link.b, link.b_classes)):
                pooled = name not in self.settings or self.settings[name].headroom_pool_bytes
                for own in classes.values():
                    reserved = own.get("pg_reserve_bytes", 0) + (0 if pooled else own.get("pg_headroom_bytes", 0))
                    inside[name] = inside.get(name, 0) + reserved
        switches = []
        for name, settings in self.settings.items():
            shared = settings.switch()
            outside = settings.reserved_in_all() - inside[name]
            switches.append(Node(name, "switch", replace(shared, buffer_bytes=shared.buffer_bytes - max(0, outside))))
        return (*(Node(name, "host") for name in adapters), *switches)

    def transport(self) -> Transport:
        """RoCE; with DCQCN where a queue marks."""
        ends = [own for link in self.links for one in (link.a_classes, link.b_classes) for own in one.values()]
        marks = any(own["ecn"] for own in ends)
        fastest = max(link.speed_gbps for link in self.links)
        steps = NIC_DCQCN.rate_ai_mbps * fastest / 100, NIC_DCQCN.rate_hai_mbps * fastest / 100
        return Transport(
            payload_bytes=self.plane.payload_bytes,
            header_bytes=self.plane.ports.packet_bytes - self.plane.payload_bytes,
            ack_bytes=_FRAME_BYTES,
            pfc_frame_bytes=_FRAME_BYTES,
            ack_lossless=False,
            congestion_control="dcqcn" if marks else "none",
            dcqcn=replace(NIC_DCQCN, rate_ai_mbps=steps[0], rate_hai_mbps=steps[1]) if marks else None,
        )

    def classes(self) -> tuple[TrafficClass, ...]:
        """The priorities of the flows: lossless where they are meant to be, or some port has PFC for them; with the
        scheduler of the first port."""
        found = []
        for priority in self.priorities:
            ends = [own[priority] for link in self.links for own in (link.a_classes, link.b_classes) if own]
            lossless = priority in self._meant_lossless or any(own["pfc"] for own in ends)
            found.append(TrafficClass(priority, lossless, str(ends[0]["scheduler"]), int(ends[0]["weight"])))
        return tuple(found)

    def _switches(self, port: int) -> list[int]:
        network, links = self.plane.network, self.plane.network.links
        if port < links:
            return [int(network.source[port]), int(network.target[port])]
        return [int(self.plane.leaf[(port - links) % len(self.plane.adapters)])]

    def _add(self, port: int) -> None:
        """The cable of a port, seen from its lower end: an adapter's own port, or the first of the two directions."""
        links, hosts = self.plane.network.links, len(self.plane.adapters)
        if port < links:
            back = int(self.plane.network.reverse[port])
        else:
            port, back = links + (port - links) % hosts, links + hosts + (port - links) % hosts
        near, far = self.plane.ports.name_of(port), self.plane.ports.name_of(back)
        a, a_port = near if port < links else (self.adapter(port - links), "")
        rate, delay = float(self.plane.ports.bytes_per_ns[port]), float(self.plane.ports.delay_ns[port])
        response = np.broadcast_to(self.plane.ports.response_bytes, len(self.plane.ports))[port]
        self.port[port], self.port[back] = 2 * len(self.links), 2 * len(self.links) + 1
        self.links.append(
            Link(
                a=a,
                b=far[0],
                speed_gbps=_plain(rate * 8),
                delay_ns=round(delay),
                a_buffers=self.settings[a].port(a_port) if a in self.settings else {},
                b_buffers=self.settings[far[0]].port(far[1]),
                a_classes=self._classes(a, a_port),
                b_classes=self._classes(*far),
                a_port=a_port,
                b_port=far[1],
                response_ns=round(float(response) / rate),
            )
        )

    def _classes(self, node: str, port: str) -> dict[int, dict[str, Any]]:
        """What a switch's port has for each priority of the flows; nothing for an adapter."""
        if node not in self.settings:
            return {}
        return {priority: self._of[priority][node].port(port) for priority in self.priorities}


def dscp_of(bundle: Bundle, plane: str, priority: int) -> int | None:
    """The DSCP that hosts give to RoCE of a priority, as fabric.json has it."""
    wired = next((one for one in (bundle.wiring.planes if bundle.wiring else ()) if one.name == plane), None)
    values = (wired.roce_dscp or {}).get(str(priority), ()) if wired else ()
    return values[0] if values else None


def _plain(number: float) -> float:
    """Without the dust of a division, so that links have a common clock."""
    return round(number, 6)
