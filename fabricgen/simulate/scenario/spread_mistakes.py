"""Ways to spread traffic and to recover from losses in a scenario file that does not have them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen.errors import UsageError
from fabricgen.results import Compat
from fabricgen.simulate.scenario.model import NodeKind, Scenario
from fabricgen.simulate.scenario.places import Mistake, Step
from fabricgen.vocabulary import BalanceMode, Recovery

_HPCC, _CREDITS = "HPCC's rules have", "the model of credits has"


def require_one_path(scenario: Scenario) -> None:
    """Raises UsageError if switches select next hops, or hosts repeat single packets, and the rules of the scenario do
    not have this."""
    model = _HPCC if scenario.compat is Compat.HPCC else _CREDITS if scenario.credits else ""
    if model and scenario.is_spread:
        raise UsageError(f"{model} one path for each flow, without load balancing {scenario.balance.mode}")
    if model and any(one is not Recovery.GO_BACK_N for one in scenario.recoveries):
        raise UsageError(f"{model} {Recovery.GO_BACK_N} only")


def spread_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """The mistakes of a scenario that matches the schema."""
    for index, node in enumerate(tree["nodes"]):
        if "recovery" in node and node["kind"] == NodeKind.SWITCH:
            yield ("nodes", index, "recovery"), f"{node['name']!r} is a switch: only hosts repeat packets"
    if tree.get("compat") == Compat.HPCC:
        model = _HPCC
    elif "credits" in tree:
        model = _CREDITS
    else:
        return
    if "trimming" in tree:
        yield ("trimming",), f"{model} no packets that switches cut"
    if tree.get("balance", {}).get("mode", BalanceMode.ECMP) != BalanceMode.ECMP:
        yield ("balance", "mode"), f"{model} one path for each flow: expected {BalanceMode.ECMP}"
    for path, routes in _routes(tree):
        vias = Counter((at, to) for at, to, _ in dict.fromkeys((r["at"], r["to"], r["via"]) for r in routes))
        for index, route in enumerate(routes):
            if vias[route["at"], route["to"]] > 1:
                yield (*path, index), f"{model} one route of a switch to a host"
    given: list[tuple[tuple[Step, ...], Any]] = [(("transport",), tree["transport"])]
    given += [(("nodes", index), node) for index, node in enumerate(tree["nodes"])]
    for path, part in given:
        if part.get("recovery", Recovery.GO_BACK_N) != Recovery.GO_BACK_N:
            yield (*path, "recovery"), f"{model} {Recovery.GO_BACK_N} only"


def _routes(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[Step, ...], Any]]:
    yield ("routes",), tree["routes"]
    for index, failure in enumerate(tree.get("failures", ())):
        yield ("failures", index, "routes"), failure.get("routes", ())
