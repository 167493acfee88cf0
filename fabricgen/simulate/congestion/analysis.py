"""A bundle or a scenario, and a traffic pattern, to the congestion of each plane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.results import CongestionModel, CongestionResult, FlowTime
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.simulate.congestion.dense import dense_flows, dense_rates, leaf_demand
from fabricgen.simulate.congestion.from_scenario import from_scenario
from fabricgen.simulate.congestion.hashing import Hashed, hashed_flows
from fabricgen.simulate.congestion.loads import split_loads
from fabricgen.simulate.congestion.model import Floats, Flows
from fabricgen.simulate.congestion.plane import HostNetwork, read_plane
from fabricgen.simulate.congestion.spread import polarised, spread, worst_collisions
from fabricgen.simulate.congestion.tiers import oversubscribed, rail_bytes
from fabricgen.simulate.congestion.verdict import Verdict, judge, offered_load
from fabricgen.simulate.patterns import DEFAULT_BYTES, DEFAULT_PATTERN, Everyone, Messages, make_job, make_traffic
from fabricgen.simulate.patterns.choice import OF_STORAGE
from fabricgen.simulate.patterns.job import ALIGNED
from fabricgen.simulate.plane.lossless import lossless_links
from fabricgen.simulate.plane.names import infiniband_planes, planes, require_plane
from fabricgen.simulate.scenario import Scenario
from fabricgen.units import counted

MOST_FINITE = 4096  # flows whose completions are followed in time; more are judged by steady rates, or as dense demand
MOST_FINITE_AT_GATE = 1024


@dataclass(frozen=True)
class Options:
    """What is asked. `size_bytes`: the buffer of one rank. `placement`: aligned | fragmented | hosts in rank order.
    `queue_pairs`: how many a connection has, each hashed for itself. `draws`: how many hashes are drawn for the spread
    of loads, the first of which (`seed`) is judged. `most_finite`: see MOST_FINITE."""

    pattern: str = DEFAULT_PATTERN
    size_bytes: float = DEFAULT_BYTES
    placement: str | Sequence[str] = ALIGNED
    queue_pairs: int = 1
    seed: int = 0
    draws: int = 1
    most_finite: int = MOST_FINITE


def analyse_scenario(scenario: Scenario) -> CongestionResult:
    """A scenario's own flows on its own routes."""
    ports, flows = from_scenario(scenario)
    verdict = judge(ports, flows, finite=True)
    load = float(offered_load(ports, flows).max(initial=0.0))
    result = CongestionResult(
        pattern=scenario.name,
        model=verdict.model,
        links=len(scenario.links),
        max_load=round(load, 4),
        drawn_load=round(load, 4),
        ecn=scenario.transport.congestion_control != "none",
        single_path=True,
    )
    return _with_verdict(result, verdict, [(flow.src, flow.dst) for flow in scenario.flows])


def analyse_congestion(
    bundle: Bundle,
    options: Options,
    plane: str | None = None,
    routed: Mapping[str, RoutedFabric] | None = None,
) -> list[CongestionResult]:
    """One result per plane that the pattern is for, worst first; `routed` are planes that have been read already.

    Raises UnreadableInputError when a file is no JSON, UsageError for an unknown plane.
    """
    require_plane(bundle, plane)
    chosen = [(name, switches) for name, switches in planes(bundle) if is_meant(bundle, name, plane, options)]
    found = []
    for name, switches in chosen:
        fabric = (routed or {}).get(name) or read_fabric(bundle, switches)
        found.append(_analyse(bundle, fabric, name, options))
    reason = "forwarding of InfiniBand planes is OpenSM's, and no tables of it are read here"
    found += [
        CongestionResult(options.pattern, CongestionModel.SKIPPED, name=name, seed=options.seed, reason=reason)
        for name in infiniband_planes(bundle, plane)
    ]
    return sorted(
        found, key=lambda one: (one.model is CongestionModel.SKIPPED, -len(one.victims), -one.max_load, one.name)
    )


def is_meant(bundle: Bundle, name: str, plane: str | None, options: Options) -> bool:
    """Whether a pattern runs on a plane: as asked; else storage patterns where there is a storage plane, none on planes
    for management."""
    if plane is not None:
        return name == plane
    purposes = {
        one.name: one.purpose for one in (bundle.wiring.planes if bundle.wiring else ()) if not one.is_management
    }
    if not bundle.wiring:
        return True
    wants_storage = options.pattern in OF_STORAGE and "storage" in purposes.values()
    return name in purposes and (purposes[name] == "storage") == wants_storage


def _analyse(bundle: Bundle, fabric: RoutedFabric, name: str, options: Options) -> CongestionResult:
    priorities = lossless_links(fabric).priorities
    plane = read_plane(bundle, fabric, name, judged_priority(bundle, fabric, priorities))
    result = judge_plane(plane, options)
    return replace(result, ecn=_marks(bundle, fabric))


def judge_plane(plane: HostNetwork, options: Options) -> CongestionResult:
    """A plane under a pattern."""
    basic = CongestionResult(
        pattern=options.pattern,
        model=CongestionModel.SKIPPED,
        name=plane.name,
        seed=options.seed,
        links=plane.network.links // 2 + len(plane.adapters),
        oversubscribed=oversubscribed(plane) if plane.adapters else (),
        lossless=bool((plane.ports.switch >= 0).any()),
    )
    if not plane.adapters:
        return replace(basic, reason="no file tells of any host")
    job = make_job(plane.adapters, options.placement, options.seed)
    traffic = make_traffic(options.pattern, job, plane.adapters, options.size_bytes, options.seed)
    if not len(traffic):
        return replace(
            basic,
            model=CongestionModel.IDLE,
            reason=f"{options.pattern} of {counted(job.nodes, 'node')} sends nothing over the network",
        )
    stood_in = job.stand_in and options.pattern in OF_STORAGE
    basic = replace(
        basic,
        rail_bytes=rail_bytes(plane, traffic),
        reason=f"no host is for storage: {len(job.targets)} adapters of others stand in" if stood_in else "",
    )
    if isinstance(traffic, Everyone):
        if len(traffic) * options.queue_pairs > options.most_finite:
            return _dense(plane, traffic, basic)
        traffic = traffic.messages()
    return _hashed(plane, traffic.split(options.queue_pairs), options, basic)


def _dense(plane: HostNetwork, traffic: Everyone, basic: CongestionResult) -> CongestionResult:
    demand = leaf_demand(plane, traffic)
    rates = dense_rates(plane, demand)
    flows = dense_flows(plane, demand, rates, traffic.bytes_each * _on_wire(plane))
    load = round(float(rates.load.max(initial=1.0)), 4)
    return replace(basic, model=CongestionModel.DENSE, max_load=load, flows=flows, single_path=True)


def _hashed(plane: HostNetwork, traffic: Messages, options: Options, basic: CongestionResult) -> CongestionResult:
    drawn = _draw(plane, traffic, options.seed)
    flows = drawn.flows
    if not len(flows):
        return replace(basic, model=CongestionModel.IDLE, lost=len(traffic))
    verdict = judge(plane.ports, flows, finite=len(flows) <= options.most_finite)
    chosen = spread(plane, drawn)
    ends = [tuple(f"{plane.adapters[end].host}|{plane.adapters[end].nic}" for end in pair)
            for pair in zip(flows.source.tolist(), flows.target.tolist(), strict=True)]  # fmt: skip
    result = replace(
        basic,
        max_load=round(_ideal_load(plane, flows), 4),
        drawn_load=round(float(offered_load(plane.ports, flows).max()), 4),
        lost=int((~drawn.arrived).sum()),
        single_path=not len(chosen.switch),
        collisions=worst_collisions(chosen),
        polarised=polarised(plane, chosen),
        draws=_draws(plane, traffic, options) if options.draws > 1 else None,
    )
    return _with_verdict(result, verdict, ends)


def _draw(plane: HostNetwork, traffic: Messages, seed: int) -> Hashed:
    size = traffic.bytes * _on_wire(plane)
    return hashed_flows(plane, traffic.source, traffic.target, size, traffic.start_ns, seed)


def _on_wire(plane: HostNetwork) -> float:
    return plane.ports.packet_bytes / plane.payload_bytes


def _draws(plane: HostNetwork, traffic: Messages, options: Options) -> dict[str, float]:
    """The highest load over several draws of the hashes."""
    seeds = range(options.seed, options.seed + options.draws)
    loads = [float(offered_load(plane.ports, _draw(plane, traffic, seed).flows).max(initial=0.0)) for seed in seeds]
    marks = dict(zip(("p50", "p99", "max"), np.percentile(loads, [50, 99, 100]).tolist(), strict=True))
    return {"count": len(loads), "mean": round(float(np.mean(loads)), 4)} | {
        name: round(mark, 4) for name, mark in marks.items()
    }


def _ideal_load(plane: HostNetwork, flows: Flows) -> float:
    """The highest load of any port, NICs included, when flows spread evenly over all next hops."""
    _, nic, count = np.unique(flows.source, return_inverse=True, return_counts=True)
    rate = plane.line_rate[flows.source] / count[nic]
    table = np.zeros((plane.network.switches, plane.columns), np.float32)
    away = plane.leaf[flows.source] != plane.leaf[flows.target]
    np.add.at(table, (plane.leaf[flows.source[away]], plane.column[flows.target[away]]), rate[away])
    loads = split_loads(plane.network, plane.hops, table) / plane.ports.bytes_per_ns[: plane.network.links]
    received = np.bincount(flows.target, weights=rate, minlength=len(plane.adapters)) / plane.line_rate
    return float(max(1.0, loads.max(initial=0.0), received.max(initial=0.0)))


def _rows(verdict: Verdict, ends: Sequence[tuple[str, ...]]) -> tuple[FlowTime, ...]:
    factors, victims = verdict.hol_factor, verdict.victims
    return tuple(
        FlowTime(
            src=src,
            dst=dst,
            fct_ns=None if np.isnan(time) else round(time),
            ideal_fct_ns=round(ideal),
            hol_factor=None if np.isnan(factor) else round(factor, 3),
            victim=victim,
            label=label,
        )
        for (src, dst), time, ideal, factor, victim, label in zip(
            ends, _plain(verdict.time_ns), _plain(verdict.ideal_ns), _plain(factors), victims.tolist(), verdict.label,
            strict=True,
        )
    )  # fmt: skip


def _plain(numbers: Floats) -> list[float]:
    return [float(number) for number in numbers]


def _with_verdict(result: CongestionResult, verdict: Verdict, ends: Sequence[tuple[str, ...]]) -> CongestionResult:
    rows = _rows(verdict, ends)
    return replace(
        result,
        model=verdict.model,
        trees=verdict.trees,
        flows=rows,
        roots=verdict.roots,
        paused=verdict.paused,
        unfinished=sum(row.fct_ns is None for row in rows),
        unsettled=verdict.unsettled,
    )


def judged_priority(bundle: Bundle, fabric: RoutedFabric, priorities: Sequence[int]) -> int | None:
    """The lossless priority that is judged: the first that links carry; with a single switch, its ports' first."""
    if priorities:
        return priorities[0]
    enabled = {
        str(row.get("pfc_enable", ""))
        for name in fabric.names
        for row in bundle.devices[name].table("PORT_QOS_MAP").values()
    }
    numbers = [int(part) for text in enabled for part in text.split(",") if part.isdecimal()]
    return min(numbers, default=None) if not fabric.network.links else None


def _marks(bundle: Bundle, fabric: RoutedFabric) -> bool:
    """Whether any queue marks with ECN."""
    for name in fabric.names:
        device = bundle.devices[name]
        profiles = {
            key for key, row in device.table("WRED_PROFILE").items() if row.get("ecn") not in (None, "ecn_none")
        }
        if any(str(row.get("wred_profile", "")) in profiles for row in device.table("QUEUE").values()):
            return True
    return False
