"""Congestion of a bundle under a traffic pattern, and of a scenario."""

from dataclasses import replace

from fabricgen.bundle.read import Bundle
from fabricgen.results import CongestionModel, CongestionResult
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.simulate.congestion.flow_rows import with_verdict
from fabricgen.simulate.congestion.options import MOST_FINITE_AT_GATE, CongestionOptions
from fabricgen.simulate.congestion.plane_load import judge_plane
from fabricgen.simulate.congestion.verdict import judge, offered_load
from fabricgen.simulate.patterns import uses_storage
from fabricgen.simulate.plane.from_scenario import from_scenario
from fabricgen.simulate.plane.names import infiniband_planes, left_out, planes_for
from fabricgen.simulate.plane.queues import marks
from fabricgen.simulate.plane.reading import network_of
from fabricgen.simulate.plane.subnet_plane import STATIC, Forwarding, subnet_plane
from fabricgen.simulate.scenario import CongestionControl, Scenario

__all__ = ["MOST_FINITE_AT_GATE", "CongestionOptions", "analyse_congestion", "analyse_scenario"]


def analyse_scenario(scenario: Scenario) -> CongestionResult:
    """The congestion of a scenario's flows on its routes. Raises UsageError for a flow without a route."""
    ports, flows = from_scenario(scenario)
    verdict = judge(ports, flows, finite=True)
    load = float(offered_load(ports, flows).max(initial=0.0))
    result = CongestionResult(
        pattern=scenario.name,
        model=verdict.model,
        links=len(scenario.links),
        max_load=round(load, 4),
        drawn_load=round(load, 4),
        ecn=scenario.transport.congestion_control is not CongestionControl.NONE,
        single_path=True,
    )
    return with_verdict(result, verdict, [(flow.src, flow.dst) for flow in scenario.flows])


def analyse_congestion(
    bundle: Bundle,
    options: CongestionOptions,
    plane: str | None = None,
    forwarding: Forwarding = STATIC,
) -> list[CongestionResult]:
    """One result per plane, worst first; those that the pattern does not run on are skipped. `forwarding` is that of
    InfiniBand planes.

    Raises UnreadableInputError for a file without a JSON object, UsageError for an unknown plane.
    """
    to_storage = uses_storage(options.pattern)
    found = []
    for name, switches in planes_for(bundle, plane, to_storage=to_storage):
        fabric = read_fabric(bundle, switches)
        found.append(_analyse(bundle, fabric, name, options))
    found += [
        _analyse_subnets(bundle, name, options, forwarding)
        for name in infiniband_planes(bundle, plane, to_storage=to_storage)
    ]
    for name, why in left_out(bundle, plane, to_storage=to_storage).items():
        found.append(replace(_skipped(name, options, f"{options.pattern} {why}"), is_for_others=True))
    return sorted(
        found, key=lambda one: (one.model is CongestionModel.SKIPPED, -len(one.victims), -one.max_load, one.name)
    )


def _analyse_subnets(bundle: Bundle, name: str, options: CongestionOptions, forwarding: Forwarding) -> CongestionResult:
    assert bundle.wiring is not None
    network = subnet_plane(bundle.wiring, name, forwarding)
    if network is None:
        return _skipped(name, options, forwarding.why_not(name))
    result = judge_plane(network, options)
    return replace(result, reason="; ".join(filter(None, [forwarding.assumption(name), result.reason])))


def _skipped(name: str, options: CongestionOptions, reason: str) -> CongestionResult:
    return CongestionResult(options.pattern, CongestionModel.SKIPPED, name=name, seed=options.seed, reason=reason)


def _analyse(bundle: Bundle, fabric: RoutedFabric, name: str, options: CongestionOptions) -> CongestionResult:
    result = judge_plane(network_of(bundle, fabric, name, options.hash_model, balance=options.balance), options)
    return replace(result, ecn=any(marks(bundle.devices[switch]) for switch in fabric.names))
