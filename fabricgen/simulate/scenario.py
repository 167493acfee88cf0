"""Scenario files, `fabricgen-scenario/1`: a small network with its buffers, routes and flows, to simulate as it stands.

Times are ns, sizes are bytes, speeds Gb/s. `routes` name the next node at a switch towards a host; a link is a pair of
nodes, each direction of which is a port of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
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
class SwitchBuffers:
    """A switch's buffer: shared by all ports but for what each priority group keeps for itself. A group pauses its
    sender at `alpha` of what is free, and lets it go on `xon_offset_bytes` below."""

    buffer_bytes: int
    pg_reserve_bytes: int
    pg_headroom_bytes: int
    alpha: float
    xon_offset_bytes: int
    ecn: Ecn | None = None


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


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two nodes."""

    a: str
    b: str
    speed_gbps: float
    delay_ns: int


@dataclass(frozen=True, slots=True)
class Flow:
    """One message from host to host: `bytes` are payload."""

    src: str
    dst: str
    bytes: int
    start_ns: int = 0


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
        routes={(route["at"], route["to"]): route["via"] for route in tree["routes"]},
        transport=Transport(**transport),
        stop_ns=int(tree["stop_ns"]),
        compat=tree.get("compat") or "",
        description=tree.get("description", ""),
    )
    _check_names(scenario)
    return scenario


def _node(node: Mapping[str, Any], defaults: Mapping[str, Any]) -> Node:
    """A node; a switch may have any of the defaults' fields for itself."""
    if node["kind"] == "host":
        return Node(node["name"], "host")
    if node["kind"] != "switch":
        raise ValueError(f"node {node['name']!r} is a {node['kind']!r}, neither host nor switch")
    own = {field.name: node[field.name] for field in fields(SwitchBuffers) if field.name in node}
    settings = {**defaults, **own}
    if settings.get("ecn"):
        settings["ecn"] = Ecn(**settings["ecn"])
    return Node(node["name"], "switch", SwitchBuffers(**settings))


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
