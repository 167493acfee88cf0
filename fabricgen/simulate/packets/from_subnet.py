"""An InfiniBand plane under a traffic pattern as a scenario with credits.

The paths are those of the forwarding tables. All flows have the service level that collectives use, so they share one
virtual lane on every link.
"""

from dataclasses import dataclass

from fabricgen.physics import INFINIBAND_ACK_BYTES, INFINIBAND_WIRE_BYTES
from fabricgen.simulate.packets.from_bundle import STOP_NS, PlaneScenario
from fabricgen.simulate.packets.slicing import TrafficChoice, sliced_traffic
from fabricgen.simulate.plane.hashing import hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT
from fabricgen.simulate.scenario import (
    CongestionControl,
    Credits,
    Flow,
    NodeKind,
    Scenario,
    ScenarioLink,
    ScenarioNode,
    TrafficClass,
    Transport,
)


def subnet_scenario(
    plane: HostNetwork, choice: TrafficChoice, buffers: Credits, lane: int, assumption: str
) -> PlaneScenario | None:
    """The scenario of a pattern on a virtual lane; None if it sends no traffic over the plane."""
    traffic, sliced = sliced_traffic(plane, choice, 1)
    wire = traffic.bytes * plane.wire_share
    drawn = hashed_flows(plane, traffic.source, traffic.target, wire, traffic.start_ns, choice.seed)
    flows = drawn.flows
    if not len(flows):
        return None
    lost = int((~drawn.arrived).sum())
    wiring = _Wiring(plane, buffers)
    paths = [tuple(wiring.port(hop) for hop in path if hop != NO_PORT) for path in flows.path.tolist()]
    scenario = Scenario(
        name=plane.name,
        nodes=wiring.nodes(),
        links=tuple(wiring.links),
        flows=tuple(
            Flow(
                plane.adapters[source].name, plane.adapters[target].name, max(1, round(size)), round(start), lane, path
            )
            for source, target, size, start, path in zip(
                flows.source.tolist(), flows.target.tolist(), traffic.bytes[drawn.arrived].tolist(),
                flows.start_ns.tolist(), paths, strict=True,
            )
        ),
        routes={},
        transport=infiniband_transport(plane.payload_bytes),
        stop_ns=STOP_NS,
        classes=(TrafficClass(lane),),
        credits=buffers,
    )  # fmt: skip
    without = f"{lost} flows have no route" if lost else ""
    reason = "; ".join(filter(None, [assumption, sliced, without]))
    return PlaneScenario(scenario, plane.ports, flows, lane, {}, reason)


def infiniband_transport(payload_bytes: int) -> Transport:
    """What the adapters of a subnet send: packets without a global route header, ACKs on the lane of their data, and no
    congestion control."""
    return Transport(
        payload_bytes=payload_bytes,
        header_bytes=INFINIBAND_WIRE_BYTES,
        ack_bytes=INFINIBAND_ACK_BYTES,
        pfc_frame_bytes=INFINIBAND_ACK_BYTES,  # none is sent
        ack_lossless=True,
        congestion_control=CongestionControl.NONE,
    )


@dataclass
class _Wiring:
    """The nodes and links of the used ports of a plane, numbered as they are used."""

    plane: HostNetwork
    buffers: Credits

    def __post_init__(self) -> None:
        self.links: list[ScenarioLink] = []
        self._number: dict[int, int] = {}

    def port(self, port: int) -> int:
        """The port of the scenario for a port of the plane."""
        if port not in self._number:
            self._add(port)
        return self._number[port]

    def nodes(self) -> tuple[ScenarioNode, ...]:
        """Adapters, then switches."""
        ends = dict.fromkeys(end for link in self.links for end in (link.a, link.b))
        switches = [name for name in self.plane.names if name in ends]
        hosts = [name for name in ends if name not in set(switches)]
        return (
            *(ScenarioNode(name, NodeKind.HOST) for name in hosts),
            *(ScenarioNode(name, NodeKind.SWITCH, self.buffers.buffers) for name in switches),
        )

    def _add(self, port: int) -> None:
        """Add the cable of a port, from its lower end: an adapter, or the first of the two directions."""
        network, ports, hosts = self.plane.network, self.plane.ports, len(self.plane.adapters)
        links = network.links
        near, far = port, int(network.reverse[port]) if port < links else NO_PORT
        if port >= links:
            near, far = links + (port - links) % hosts, links + hosts + (port - links) % hosts
        a, a_port = ports.name_of(near) if port < links else (self.plane.adapters[near - links].name, "")
        b, b_port = ports.name_of(far)
        self._number[near], self._number[far] = 2 * len(self.links), 2 * len(self.links) + 1
        rate, delay = float(ports.wire_bytes_per_ns[near]), float(ports.delay_ns[near])
        self.links.append(ScenarioLink(a, b, round(rate * 8, 6), round(delay), a_port=a_port, b_port=b_port))
