"""The congestion of one plane under a pattern."""

from dataclasses import dataclass, replace

import numpy as np

from fabricgen.results import CongestionModel, CongestionResult
from fabricgen.simulate.congestion.dense import dense_flows, dense_rates, leaf_demand, message_demand
from fabricgen.simulate.congestion.flow_rows import with_verdict
from fabricgen.simulate.congestion.hash_spread import hash_spread, polarised, worst_collisions
from fabricgen.simulate.congestion.loads import loads_of
from fabricgen.simulate.congestion.options import Options
from fabricgen.simulate.congestion.tiers import oversubscribed, rail_bytes
from fabricgen.simulate.congestion.verdict import Verdict, judge, offered_load
from fabricgen.simulate.patterns import Everyone, Messages, Traffic, make_job, make_traffic, uses_storage
from fabricgen.simulate.plane.balance import balance_words, repeating_nics
from fabricgen.simulate.plane.hashing import Hashed, hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Floats, Flows
from fabricgen.simulate.plane.spreading import split_loads
from fabricgen.units import counted


@dataclass(frozen=True)
class JudgedMessages:
    """The result of messages, their flows on the paths of the first draw, and the verdict on them; None if no flow
    arrives."""

    result: CongestionResult
    drawn: Hashed
    verdict: Verdict | None


def empty_result(plane: HostNetwork, options: Options) -> CongestionResult:
    """What is known of a plane without its traffic."""
    return CongestionResult(
        pattern=options.pattern,
        model=CongestionModel.SKIPPED,
        name=plane.name,
        seed=options.seed,
        balance=balance_words(plane),
        repeating=repeating_nics(plane),
        links=plane.network.links // 2 + len(plane.adapters),
        oversubscribed=oversubscribed(plane) if plane.adapters else (),
        lossless=bool((plane.ports.pool >= 0).any()),
    )


def judge_plane(plane: HostNetwork, options: Options) -> CongestionResult:
    """The congestion of a plane under a pattern."""
    basic = empty_result(plane, options)
    if not plane.adapters:
        return replace(basic, reason="the files contain no hosts")
    job = make_job(plane.adapters, options.placement, options.seed)
    traffic = make_traffic(options.pattern, job, plane.adapters, options.size_bytes, options.seed)
    if not len(traffic):
        reason = f"{options.pattern} of {counted(job.nodes, 'node')} sends no traffic over the network"
        return replace(basic, model=CongestionModel.IDLE, reason=reason)
    stood_in = job.stand_in and uses_storage(options.pattern)
    basic = replace(
        basic,
        rail_bytes=rail_bytes(plane, traffic),
        reason=f"there are no storage hosts: {len(job.targets)} adapters of compute hosts replace them"
        if stood_in
        else "",
    )
    traffic, basic = _allowed(plane, traffic, basic)
    if not len(traffic):
        return replace(basic, model=CongestionModel.IDLE, reason="VRFs or ACLs block all pairs")
    pairs = options.queue_pairs or plane.queue_pairs
    if plane.is_sprayed:
        return _spread(plane, traffic.messages() if isinstance(traffic, Everyone) else traffic, options, basic)
    if isinstance(traffic, Everyone):
        if len(traffic) * pairs > options.most_finite:
            return _dense(plane, traffic, options, basic)
        traffic = traffic.messages()
    return judge_messages(plane, traffic.split(pairs), options, basic).result


def _allowed(plane: HostNetwork, traffic: Traffic, basic: CongestionResult) -> tuple[Traffic, CongestionResult]:
    """The messages that neither VRFs nor ACLs block, and the result with the number of pairs."""
    if plane.filters is None:
        return traffic, basic
    each = traffic.messages() if isinstance(traffic, Everyone) else traffic
    blocked = plane.blocked(each.source, each.target)
    if not blocked.any():
        return traffic, basic
    ends = each.source * len(plane.adapters) + each.target
    pairs, stopped = len(np.unique(ends)), len(np.unique(ends[blocked]))
    return each.only(~blocked), replace(basic, pairs=pairs, blocked=stopped)


def _dense(plane: HostNetwork, traffic: Everyone, options: Options, basic: CongestionResult) -> CongestionResult:
    demand = leaf_demand(plane, traffic)
    rates = dense_rates(plane, demand)
    flows = dense_flows(plane, demand, rates, traffic.bytes_each * plane.wire_share)
    load = round(float(rates.load.max(initial=1.0)), 4)
    result = replace(basic, model=CongestionModel.DENSE, max_load=load, flows=flows, single_path=True)
    return _with_loads(result, plane, rates.load, options)


def _spread(plane: HostNetwork, traffic: Messages, options: Options, basic: CongestionResult) -> CongestionResult:
    """Each message uses all equal paths."""
    has_path = plane.has_path(traffic.source, traffic.target)
    lost, traffic = int((~has_path).sum()), traffic.only(has_path)
    if not len(traffic):
        return replace(basic, model=CongestionModel.IDLE, lost=lost)
    demand, bytes_each = message_demand(plane, traffic)
    rates = dense_rates(plane, demand)
    received = demand.rate.sum(axis=0) / np.maximum(demand.capacity, 1e-30)
    load = round(float(max(1.0, rates.load.max(initial=0.0), received.max(initial=0.0))), 4)
    flows = dense_flows(plane, demand, rates, bytes_each * plane.wire_share)
    result = replace(basic, model=CongestionModel.DENSE, max_load=load, flows=flows, lost=lost)
    return _with_loads(result, plane, rates.load, options)


def judge_messages(
    plane: HostNetwork, traffic: Messages, options: Options, basic: CongestionResult, *, follow: bool = True
) -> JudgedMessages:
    """The congestion of messages, each of one queue pair. `basic` is the result of the plane without them. Without
    `follow` only the loads."""
    drawn = _draw(plane, traffic, options.seed)
    flows = drawn.flows
    if not len(flows):
        return JudgedMessages(replace(basic, model=CongestionModel.IDLE, lost=len(traffic)), drawn, None)
    if plane.is_sprayed:
        return JudgedMessages(_spread(plane, traffic, options, basic), drawn, None)
    chosen = hash_spread(plane, drawn)
    load = offered_load(plane.ports, flows)
    result = replace(
        basic,
        max_load=round(_ideal_load(plane, flows), 4),
        drawn_load=round(float(load.max()), 4),
        lost=int((~drawn.arrived).sum()),
        single_path=not len(chosen.switch),
        collisions=worst_collisions(chosen),
        polarised=polarised(plane, chosen),
        draws=_draws(plane, traffic, options) if options.draws > 1 else None,
    )
    result = _with_loads(result, plane, load, options)
    if not follow:
        return JudgedMessages(replace(result, model=CongestionModel.SHARED), drawn, None)
    verdict = judge(plane.ports, flows, finite=len(flows) <= options.most_finite)
    ends = zip(flows.source.tolist(), flows.target.tolist(), strict=True)
    named = [(plane.adapters[a].name, plane.adapters[b].name) for a, b in ends]
    return JudgedMessages(with_verdict(result, verdict, named), drawn, verdict)


def _with_loads(result: CongestionResult, plane: HostNetwork, load: Floats, options: Options) -> CongestionResult:
    switches, tiers, links = loads_of(plane, load, each=options.each_link)
    return replace(result, loads=switches, tier_loads=tiers, link_loads=links)


def _draw(plane: HostNetwork, traffic: Messages, seed: int) -> Hashed:
    return hashed_flows(plane, traffic.source, traffic.target, traffic.bytes * plane.wire_share, traffic.start_ns, seed)


def _draws(plane: HostNetwork, traffic: Messages, options: Options) -> dict[str, float]:
    """The distribution of the highest load over several draws of the hashes."""
    seeds = range(options.seed, options.seed + options.draws)
    loads = [float(offered_load(plane.ports, _draw(plane, traffic, seed).flows).max(initial=0.0)) for seed in seeds]
    marks = dict(zip(("p50", "p99", "max"), np.percentile(loads, [50, 99, 100]).tolist(), strict=True))
    return {"count": len(loads), "mean": round(float(np.mean(loads)), 4)} | {
        name: round(mark, 4) for name, mark in marks.items()
    }


def _ideal_load(plane: HostNetwork, flows: Flows) -> float:
    """The highest load of any port, NICs included, if flows spread evenly over all next hops."""
    _, nic, count = np.unique(flows.source, return_inverse=True, return_counts=True)
    rate = plane.line_rate[flows.source] / count[nic]
    table = np.zeros((plane.network.switches, plane.columns), np.float32)
    away = plane.leaf[flows.source] != plane.leaf[flows.target]
    np.add.at(table, (plane.leaf[flows.source[away]], plane.column[flows.target[away]]), rate[away])
    loads = split_loads(plane.network, plane.hops, table, plane.announces) / plane.link_rate
    received = np.bincount(flows.target, weights=rate, minlength=len(plane.adapters)) / plane.line_rate
    return float(max(1.0, loads.max(initial=0.0), received.max(initial=0.0)))
