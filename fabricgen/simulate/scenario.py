"""Scenario files, `fabricgen-scenario/1`: a small network with its buffers, routes and flows, to simulate as it stands.

Times are ns, sizes are bytes, speeds Gb/s. `routes` name the next node at a switch towards a host; a link is a pair of
nodes, each direction of which is a port of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import parse_object, read_bytes
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location

FORMAT = "fabricgen-scenario/1"


@dataclass(frozen=True, slots=True)
class Ecn:
    """WRED of a switch: nothing is marked below Kmin, everything above Kmax, Pmax just below it."""

    kmin_bytes: int
    kmax_bytes: int
    pmax: float


@dataclass(frozen=True, slots=True)
class Watchdog:
    """SONiC's PFC watchdog of a switch: looks at every queue once a poll, calls it a storm when it was paused and sent
    nothing for the detection time, and ends that when no pause came for the restoration time."""

    detection_ns: int
    restoration_ns: int
    poll_ns: int
    action: str = "drop"  # drop | forward | alert


@dataclass(frozen=True, slots=True)
class SwitchBuffers:
    """A switch's buffer: shared by all ports but for what each priority group keeps for itself. A group pauses its
    sender at `alpha` of what is free, and lets it go on `xon_offset_bytes` below."""

    buffer_bytes: int
    pg_reserve_bytes: int
    pg_headroom_bytes: int
    alpha: float
    xon_offset_bytes: int
    ecn: Ecn | None = None
    xon_bytes: int = 0
    headroom_pool_bytes: int = 0  # for all groups together; 0: each has `pg_headroom_bytes` for itself
    static_threshold_bytes: int = 0  # in place of alpha
    pfc: bool = True
    watchdog: Watchdog | None = None
    egress_pool_bytes: int = 0  # what queues share; 0: no limit but that of the groups
    egress_alpha: float = 0  # of a queue: its share of what is free there; 0: `egress_static_bytes`
    egress_static_bytes: int = 0  # 0: all of it
    egress_reserve_bytes: int = 0  # a queue's own, before it takes of the pool
    egress_pool: str = ""  # a switch may have several
    scheduler: str = ""  # of a queue, with its weight, in place of its class's
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Dcqcn:
    """The sender's side of DCQCN, in the terms of its paper (SIGCOMM 2015)."""

    g: float
    alpha_timer_ns: int
    rate_decrease_interval_ns: int
    increase_timer_ns: int
    fast_recovery_times: int
    rate_ai_mbps: float
    rate_hai_mbps: float
    min_rate_mbps: float
    byte_counter_bytes: int = 0  # 0: increases by time alone
    cnp_interval_ns: int = 0  # least time between two notifications of a flow


@dataclass(frozen=True, slots=True)
class Transport:
    """What the hosts put on the wire. `dcqcn` is None where nothing but PFC holds a sender back."""

    payload_bytes: int
    header_bytes: int
    ack_bytes: int
    pfc_frame_bytes: int
    ack_lossless: bool
    congestion_control: str  # none | dcqcn
    dcqcn: Dcqcn | None = None
    retransmission_timeout_ns: int | None = None  # 0: never; None: 1 ms, and never with compat hpcc

    @property
    def packet_bytes(self) -> int:
        """A full packet on the wire."""
        return self.payload_bytes + self.header_bytes


@dataclass(frozen=True, slots=True)
class Node:
    """A host, or a switch with its buffer."""

    name: str
    kind: str  # host | switch
    buffers: SwitchBuffers | None = None
    drain_gbps: float = 0  # what a slow host takes in; 0: it keeps up
    receive_buffer_bytes: int = 65_536  # a slow host pauses its switch above this


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two nodes. `a_buffers`, `b_buffers`: what the port at that end has other than its switch;
    `a_classes`, `b_classes`: by priority, what it has in place of that."""

    a: str
    b: str
    speed_gbps: float
    delay_ns: int
    a_buffers: Mapping[str, Any] = field(default_factory=dict)
    b_buffers: Mapping[str, Any] = field(default_factory=dict)
    a_port: str = ""  # what the ends are called, where nodes have names for their ports
    b_port: str = ""
    response_ns: int | None = None  # in place of the one of `pfc`
    a_classes: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    b_classes: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Flow:
    """One message from host to host: `bytes` are payload."""

    src: str
    dst: str
    bytes: int
    start_ns: int = 0
    priority: int = 3
    path: tuple[int, ...] = ()  # in place of routes: ports, 2l from a to b of link l and 2l + 1 back, the NIC's first


@dataclass(frozen=True, slots=True)
class TrafficClass:
    """A priority: whether PFC holds it, and its scheduler. Strict ones go first, the others share by weight."""

    priority: int
    lossless: bool = True
    scheduler: str = "dwrr"  # dwrr | strict
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Pfc:
    """Pause frames: how long one holds in quanta of 512 bit times (0: until resumed), how often it is repeated (0: at
    half of that), how long the peer takes to obey."""

    pause_quanta: int = 65_535
    refresh_ns: int = 0
    response_ns: int = 0


@dataclass(frozen=True, slots=True)
class PauseStorm:
    """A broken NIC that pauses its switch from one time to another."""

    host: str
    at_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class LinkFailure:
    """A link that goes down, and the routes that are other from then on."""

    a: str
    b: str
    at_ns: int
    routes: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """A scenario file. `routes` give (switch, host) its next node; `compat` asks for another simulator's clock."""

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    routes: Mapping[tuple[str, str], str]
    transport: Transport
    stop_ns: int
    compat: str = ""  # "" | hpcc
    description: str = ""
    classes: tuple[TrafficClass, ...] = ()
    pfc: Pfc = Pfc()
    storms: tuple[PauseStorm, ...] = ()
    failures: tuple[LinkFailure, ...] = ()

    @property
    def priorities(self) -> list[int]:
        """Those that flows have, in order."""
        return sorted({flow.priority for flow in self.flows})

    def traffic_class(self, priority: int) -> TrafficClass:
        """What the file says of a priority, or the default."""
        return next((one for one in self.classes if one.priority == priority), TrafficClass(priority))


def read_scenario(file: Path) -> Scenario:
    """A scenario file. Raises UnreadableInputError where it is none."""
    tree = parse_object(read_bytes(file), file)
    try:
        return parse_scenario(tree)
    except KeyError as error:
        raise UnreadableInputError(f"not a scenario: {error.args[0]!r} is missing", Location(str(file))) from error
    except (AttributeError, TypeError, ValueError) as error:
        raise UnreadableInputError(f"not a scenario: {error}", Location(str(file))) from error


def parse_scenario(tree: Mapping[str, Any]) -> Scenario:
    """The scenario of a JSON object. Raises KeyError, TypeError or ValueError where it is none."""
    if tree["format"] != FORMAT:
        raise ValueError(f"format is {tree['format']!r}, this version reads {FORMAT!r}")
    nodes = tuple(_node(node, tree["switch_defaults"]) for node in tree["nodes"])
    transport = dict(tree["transport"])
    if transport.get("dcqcn"):
        transport["dcqcn"] = Dcqcn(**transport["dcqcn"])
    scenario = Scenario(
        name=str(tree["name"]),
        nodes=nodes,
        links=tuple(Link(**link) for link in tree["links"]),
        flows=tuple(Flow(**flow) for flow in tree["flows"]),
        routes=_routes(tree["routes"]),
        transport=Transport(**transport),
        stop_ns=int(tree["stop_ns"]),
        compat=tree.get("compat") or "",
        description=tree.get("description", ""),
        classes=tuple(TrafficClass(**each) for each in tree.get("classes", ())),
        pfc=Pfc(**tree.get("pfc", {})),
        storms=tuple(PauseStorm(**each) for each in tree.get("storms", ())),
        failures=tuple(
            LinkFailure(each["a"], each["b"], each["at_ns"], _routes(each.get("routes", ())))
            for each in tree.get("failures", ())
        ),
    )
    _check_names(scenario)
    return scenario


def _node(node: Mapping[str, Any], defaults: Mapping[str, Any]) -> Node:
    """A node; a switch may have any of the defaults' fields for itself."""
    if node["kind"] == "host":
        own = {name: node[name] for name in ("drain_gbps", "receive_buffer_bytes") if name in node}
        return Node(node["name"], "host", **own)
    if node["kind"] != "switch":
        raise ValueError(f"node {node['name']!r} is a {node['kind']!r}, neither host nor switch")
    own = {field.name: node[field.name] for field in fields(SwitchBuffers) if field.name in node}
    settings = {**defaults, **own}
    if settings.get("ecn"):
        settings["ecn"] = Ecn(**settings["ecn"])
    if settings.get("watchdog"):
        settings["watchdog"] = Watchdog(**settings["watchdog"])
    return Node(node["name"], "switch", SwitchBuffers(**settings))


def _routes(routes: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], str]:
    return {(route["at"], route["to"]): route["via"] for route in routes}


def _check_names(scenario: Scenario) -> None:
    """Every name is a node's. Raises ValueError."""
    kinds = {node.name: node.kind for node in scenario.nodes}
    if len(kinds) != len(scenario.nodes):
        raise ValueError("two nodes have one name")
    named = [("link", name) for link in scenario.links for name in (link.a, link.b)]
    named += [("route", name) for (at, to), via in scenario.routes.items() for name in (at, to, via)]
    named += [("flow", name) for flow in scenario.flows for name in (flow.src, flow.dst)]
    for what, name in named:
        if name not in kinds:
            raise ValueError(f"a {what} names {name!r}, which is no node")
    for flow in scenario.flows:
        for name in (flow.src, flow.dst):
            if kinds[name] != "host":
                raise ValueError(f"a flow names {name!r}, which is no host")
        if flow.src == flow.dst or flow.bytes <= 0:
            raise ValueError(f"the flow from {flow.src} to {flow.dst} goes nowhere or has no bytes")
