"""Scenario files to `Scenario`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import parse_object
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.results import Compat
from fabricgen.simulate.scenario.balance import Balance, SprayOrder, TrimSettings
from fabricgen.simulate.scenario.buffers import Ecn, Scheduler, SwitchBuffers, WatchdogTimers
from fabricgen.simulate.scenario.model import (
    CongestionControl,
    Credits,
    Dcqcn,
    Flow,
    Hops,
    LinkFailure,
    NodeKind,
    PauseStorm,
    Pfc,
    Scenario,
    ScenarioLink,
    ScenarioNode,
    TrafficClass,
    Transport,
)
from fabricgen.vocabulary import BalanceMode, BalanceUnit, Recovery, WatchdogAction

FORMAT = "fabricgen-scenario/1"


def read_scenario(file: Path) -> Scenario:
    """The scenario of a file. Raises UnreadableInputError for a file that is not a scenario."""
    try:
        return parse_scenario(parse_object(read_bytes(file), file))
    except UsageError as error:
        raise UnreadableInputError(str(error), Location(str(file))) from error


def parse_scenario(tree: Mapping[str, Any]) -> Scenario:
    """The scenario of a JSON object. Raises UsageError for an object that is not a scenario."""
    try:
        return _scenario(_whole_numbers(tree))
    except KeyError as error:
        raise UsageError(f"not a scenario: {error.args[0]!r} is missing") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"not a scenario: {error}") from error


def _whole_numbers(tree: Any) -> Any:
    """The tree with 1000 in place of 1000.0, which a JSON Schema accepts as an integer."""
    if isinstance(tree, Mapping):
        return {key: _whole_numbers(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_whole_numbers(value) for value in tree]
    return int(tree) if isinstance(tree, float) and tree.is_integer() else tree


def _scenario(tree: Mapping[str, Any]) -> Scenario:
    if tree["format"] != FORMAT:
        raise ValueError(f"format is {tree['format']!r}, this version reads {FORMAT!r}")
    given = Credits(**tree["credits"]) if tree.get("credits") else None
    nodes = {node["name"]: _node(node, tree.get("switch_defaults", {}), given) for node in tree["nodes"]}
    if len(nodes) != len(tree["nodes"]):
        raise ValueError("two nodes have the same name")
    scenario = Scenario(
        name=str(tree["name"]),
        nodes=tuple(nodes.values()),
        links=tuple(_link(link, nodes) for link in tree["links"]),
        flows=tuple(Flow(**flow) for flow in tree["flows"]),
        routes=_routes(tree["routes"]),
        transport=_transport(tree["transport"]),
        stop_ns=int(tree["stop_ns"]),
        compat=Compat(tree.get("compat") or ""),
        description=tree.get("description", ""),
        classes=tuple(TrafficClass(**_with_scheduler(each)) for each in tree.get("classes", ())),
        pfc=Pfc(**tree.get("pfc", {})),
        credits=given,
        storms=tuple(PauseStorm(**each) for each in tree.get("storms", ())),
        failures=tuple(_failure(each) for each in tree.get("failures", ())),
        balance=_balance(tree.get("balance", {})),
        trimming=TrimSettings(**tree["trimming"]) if "trimming" in tree else None,
        groups=_groups(tree["routes"]),
    )
    _require_known_names(scenario)
    return scenario


def _node(node: Mapping[str, Any], defaults: Mapping[str, Any], flow_control: Credits | None) -> ScenarioNode:
    """A node; the fields of a switch replace those of the defaults."""
    if NodeKind(node["kind"]) is NodeKind.HOST:
        own = {name: node[name] for name in ("drain_gbps", "receive_buffer_bytes") if name in node}
        recovery = Recovery(node["recovery"]) if "recovery" in node else None
        return ScenarioNode(node["name"], NodeKind.HOST, recovery=recovery, **own)
    if flow_control is not None:
        return ScenarioNode(node["name"], NodeKind.SWITCH, flow_control.buffers)
    return ScenarioNode(node["name"], NodeKind.SWITCH, SwitchBuffers(**{**_buffers(defaults), **_buffers(node)}))


def _buffers(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of buffers among the keys of a tree."""
    found = _with_scheduler({field.name: tree[field.name] for field in fields(SwitchBuffers) if field.name in tree})
    if found.get("ecn"):
        found["ecn"] = Ecn(**found["ecn"])
    if watchdog := found.get("watchdog"):
        action = WatchdogAction(watchdog.get("action", WatchdogAction.DROP))
        found["watchdog"] = WatchdogTimers(**{**watchdog, "action": action})
    return found


def _link(link: Mapping[str, Any], nodes: Mapping[str, ScenarioNode]) -> ScenarioLink:
    """A link; `a_buffers` and `b_buffers` replace settings of the switch at that end."""
    own: dict[str, SwitchBuffers] = {}
    for end in ("a", "b"):
        if given := link.get(f"{end}_buffers"):
            node = nodes.get(link[end])
            if node is None or node.buffers is None:
                raise ValueError(f"{end}_buffers of the link {link['a']} to {link['b']}: {link[end]!r} is not a switch")
            own[f"{end}_buffers"] = replace(node.buffers, **_buffers(given))
    return ScenarioLink(**{**link, **own})


def _transport(tree: Mapping[str, Any]) -> Transport:
    dcqcn = Dcqcn(**tree["dcqcn"]) if tree.get("dcqcn") else None
    control = CongestionControl(tree["congestion_control"])
    recovery = Recovery(tree.get("recovery", Recovery.GO_BACK_N))
    return Transport(**{**tree, "dcqcn": dcqcn, "congestion_control": control, "recovery": recovery})


def _balance(tree: Mapping[str, Any]) -> Balance:
    words = {"mode": BalanceMode, "per": BalanceUnit, "order": SprayOrder, "bands_bytes": tuple}
    return Balance(**{name: words[name](value) if name in words else value for name, value in tree.items()})


def _failure(tree: Mapping[str, Any]) -> LinkFailure:
    routes = tree.get("routes", ())
    times = {name: tree.get(name) for name in ("routes_at_ns", "up_at_ns", "routes_back_at_ns")}
    return LinkFailure(tree["a"], tree["b"], tree["at_ns"], _routes(routes), _groups(routes), **times)


def _with_scheduler(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {**tree, "scheduler": Scheduler(tree["scheduler"])} if tree.get("scheduler") else dict(tree)


def _routes(routes: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    return {(route["at"], route["to"]): route["via"] for route in routes}


def _groups(routes: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Hops]:
    """The next hops of the routes of which a switch has several to a host."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for route in routes:
        found.setdefault((route["at"], route["to"]), {})[route["via"]] = route.get("weight", 1)
    return {ends: tuple(hops.items()) for ends, hops in found.items() if len(hops) > 1}


def _require_known_names(scenario: Scenario) -> None:
    """Raises ValueError for a name without a node, and for a flow that does not go from one host to another."""
    kinds = {node.name: node.kind for node in scenario.nodes}
    named = [("link", name) for link in scenario.links for name in (link.a, link.b)]
    named += [("route", name) for (at, to), via in scenario.routes.items() for name in (at, to, via)]
    named += [("flow", name) for flow in scenario.flows for name in (flow.src, flow.dst)]
    for kind, name in named:
        if name not in kinds:
            raise ValueError(f"a {kind} names {name!r}, which is not a node")
    for flow in scenario.flows:
        for name in (flow.src, flow.dst):
            if kinds[name] is not NodeKind.HOST:
                raise ValueError(f"a flow names {name!r}, which is not a host")
        if flow.src == flow.dst:
            raise ValueError(f"the flow from {flow.src} to {flow.dst} ends where it begins")
        if flow.bytes <= 0:
            raise ValueError(f"the flow from {flow.src} to {flow.dst} has no bytes")
