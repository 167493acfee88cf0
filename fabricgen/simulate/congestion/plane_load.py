"""The congestion of one plane under a pattern."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.results import Collisions, CongestionModel, CongestionResult, LinkFairness, SwitchLoad, TierLoad
from fabricgen.simulate.congestion.collisions import expected_fullest, expected_used
from fabricgen.simulate.congestion.dense import dense_flows, dense_rates, leaf_demand, message_demand
from fabricgen.simulate.congestion.flow_rows import with_verdict
from fabricgen.simulate.congestion.options import CongestionOptions
from fabricgen.simulate.congestion.tiers import oversubscribed, rail_bytes
from fabricgen.simulate.congestion.verdict import CongestionVerdict, judge, offered_load
from fabricgen.simulate.patterns import Everyone, Messages, Traffic, make_job, make_traffic, uses_storage
from fabricgen.simulate.plane.balance import repeating_nics, spreading
from fabricgen.simulate.plane.hashing import Hashed, hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT, Floats, Flows, Ints
from fabricgen.simulate.plane.spreading import split_loads
from fabricgen.units import counted
from fabricgen.vocabulary import Role


@dataclass(frozen=True)
class JudgedMessages:
    """The result of messages, their flows on the paths of the first draw, and the verdict on them; None if no flow
    arrives."""

    result: CongestionResult
    drawn: Hashed
    verdict: CongestionVerdict | None


def empty_result(plane: HostNetwork, options: CongestionOptions) -> CongestionResult:
    """What is known of a plane without its traffic."""
    return CongestionResult(
        pattern=options.pattern,
        model=CongestionModel.SKIPPED,
        name=plane.name,
        seed=options.seed,
        balance=spreading(plane),
        repeating=repeating_nics(plane),
        links=plane.network.links // 2 + len(plane.adapters),
        oversubscribed=oversubscribed(plane) if plane.adapters else (),
        lossless=bool((plane.ports.pool >= 0).any()),
    )


def judge_plane(plane: HostNetwork, options: CongestionOptions) -> CongestionResult:
    """The congestion of a plane under a pattern."""
    basic = empty_result(plane, options)
    if not plane.adapters or plane.unjudged:
        return replace(basic, reason=plane.unjudged or "the files contain no hosts")
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
    return judge_messages(plane, traffic.split(pairs), options, basic, follow=options.follow).result


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


def _dense(
    plane: HostNetwork, traffic: Everyone, options: CongestionOptions, basic: CongestionResult
) -> CongestionResult:
    demand = leaf_demand(plane, traffic)
    rates = dense_rates(plane, demand)
    flows = dense_flows(plane, demand, rates, traffic.bytes_each * plane.wire_share)
    load = round(float(rates.load.max(initial=1.0)), 4)
    result = replace(basic, model=CongestionModel.DENSE, max_load=load, flows=flows, single_path=True)
    return _with_loads(result, plane, rates.load, options)


def _spread(
    plane: HostNetwork, traffic: Messages, options: CongestionOptions, basic: CongestionResult
) -> CongestionResult:
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
    fairness = fairness_of(plane, [DrawnLoad(rates.load)])
    result = replace(basic, model=CongestionModel.DENSE, max_load=load, flows=flows, lost=lost, fairness=fairness)
    return _with_loads(result, plane, rates.load, options)


def judge_messages(
    plane: HostNetwork, traffic: Messages, options: CongestionOptions, basic: CongestionResult, *, follow: bool = True
) -> JudgedMessages:
    """The congestion of messages, each of one queue pair. `basic` is the result of the plane without them. Without
    `follow` only the loads."""
    drawn = _draw(plane, traffic, options.seed)
    flows = drawn.flows
    if not len(flows):
        return JudgedMessages(replace(basic, model=CongestionModel.IDLE, lost=len(traffic)), drawn, None)
    if plane.is_sprayed:
        return JudgedMessages(_spread(plane, traffic, options, basic), drawn, None)
    chosen, first = hash_spread(plane, drawn), DrawnLoad.of(plane, flows)
    result = replace(
        basic,
        max_load=round(_ideal_load(plane, flows), 4),
        drawn_load=round(float(first.load.max()), 4),
        lost=int((~drawn.arrived).sum()),
        single_path=not len(chosen.switch),
        collisions=worst_collisions(chosen),
        polarised=polarised(plane, chosen),
    )
    others = range(options.seed + 1, options.seed + options.draws)
    loads = [first, *(DrawnLoad.of(plane, _draw(plane, traffic, seed).flows) for seed in others)]
    result = replace(_with_loads(result, plane, first.load, options), fairness=fairness_of(plane, loads))
    if others:
        result = replace(result, draws=_draws([one.load for one in loads]))
    if not follow:
        return JudgedMessages(replace(result, model=CongestionModel.SHARED), drawn, None)
    verdict = judge(plane.ports, flows, finite=len(flows) <= options.most_finite)
    ends = zip(flows.source.tolist(), flows.target.tolist(), strict=True)
    named = [(plane.adapters[a].name, plane.adapters[b].name) for a, b in ends]
    return JudgedMessages(with_verdict(result, verdict, named), drawn, verdict)


def _with_loads(
    result: CongestionResult, plane: HostNetwork, load: Floats, options: CongestionOptions
) -> CongestionResult:
    switches, tiers, links = loads_of(plane, load, each=options.each_link)
    return replace(result, loads=switches, tier_loads=tiers, link_loads=links)


def _draw(plane: HostNetwork, traffic: Messages, seed: int) -> Hashed:
    return hashed_flows(plane, traffic.source, traffic.target, traffic.bytes * plane.wire_share, traffic.start_ns, seed)


def _draws(drawn: Sequence[Floats]) -> dict[str, float]:
    """The distribution of the highest load over several draws of the hashes."""
    loads = [float(load.max(initial=0.0)) for load in drawn]
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


# How evenly a draw of hashes spreads flows: the fullest link of the busiest switch, and polarised tiers.

_MOST_FLOWS = 4096  # above this, links fill evenly and the polynomial is long
_MOST_LINKS = 1 << 16  # of one switch
_FEW_LINKS = 8  # with fewer links a draw does not show polarisation


@dataclass(frozen=True)
class HashSpread:
    """Per group of next hops that a switch selects from: `flows` over `links`, of which `used` have a flow, and the
    number of flows on the `fullest`."""

    switch: Ints
    flows: Ints
    links: Ints
    used: Ints
    fullest: Ints


def hash_spread(plane: HostNetwork, drawn: Hashed) -> HashSpread:
    """The spread at every switch."""
    taken = drawn.choices > 1
    link, number, first = (
        table[taken].astype(np.int64) for table in (drawn.flows.path[:, 1:], drawn.choices, drawn.group)
    )
    group, example, where = np.unique(first * _MOST_LINKS + number, return_index=True, return_inverse=True)
    pair, load = np.unique(where * plane.network.links + link, return_counts=True)
    owner = pair // max(plane.network.links, 1)
    fullest = np.zeros(len(group), np.int64)
    np.maximum.at(fullest, owner, load)
    switch = plane.network.source[link[example]].astype(np.int64)
    flows, used = np.bincount(where, minlength=len(group)), np.bincount(owner, minlength=len(group))
    return HashSpread(switch, flows, number[example], used, fullest)


def worst_collisions(found: HashSpread) -> Collisions | None:
    """The switches with the most flows per link, with the collisions that chance gives them."""
    if not len(found.switch):
        return None
    per_link = found.flows / found.links
    equal = (per_link == per_link.max()) & (found.flows == found.flows[np.argmax(per_link)])
    flows, links = int(found.flows[equal][0]), int(found.links[equal][0])
    groups = int(equal.sum())
    expected = expected_fullest(flows, links, groups) if flows <= _MOST_FLOWS else flows / links
    return Collisions(flows, links, groups, round(expected, 3), int(found.fullest[equal].max()))


def polarised(plane: HostNetwork, found: HashSpread) -> dict[str, tuple[int, float]]:
    """Tier -> (links used, links that independent hashes would use on average), for tiers with enough links."""
    tiers = np.array([plane.tier.get(int(switch), "switch") for switch in found.switch])
    answer = {}
    for tier in sorted(set(tiers.tolist())):
        here = tiers == tier
        if found.links[here].sum() >= _FEW_LINKS:
            expected = sum(map(expected_used, found.flows[here].tolist(), found.links[here].tolist()))
            answer[tier] = (int(found.used[here].sum()), round(expected, 1))
    return answer


# The loads of ports: each port, the ports of each switch, and those of each tier, by the tier that they lead to.

_DIGITS = 4
_TIERS = (Role.LEAF, Role.SPINE, Role.CORE, Role.HOST, "")
_NUMBER = {tier: index for index, tier in enumerate(_TIERS)}


Row = tuple[int, int, int, float, float]  # switch or tier, tier that the ports lead to, ports, mean and highest load


def loads_of(
    plane: HostNetwork, load: Floats, *, each: bool
) -> tuple[tuple[SwitchLoad, ...], tuple[TierLoad, ...], tuple[tuple[str, str, float], ...]]:
    """The rows of the switches and of the tiers, in their order; with `each` also (node, port, load) of every port with
    load, those by which hosts send included. `load` is that of every port of the plane over its capacity; it may end
    with the links between switches."""
    network = plane.network
    tier = np.array(
        [_NUMBER.get(plane.tier.get(index, ""), len(_TIERS) - 1) for index in range(network.switches)], dtype=np.int64
    )
    switch, toward = network.source.astype(np.int64), tier[network.target]
    of_ports = load[: network.links]
    if len(load) > network.links:  # the ports of leaves towards hosts follow those by which hosts send
        first = network.links + len(plane.adapters)
        switch = np.concatenate([switch, plane.leaf])
        toward = np.concatenate([toward, np.full(len(plane.leaf), _NUMBER[Role.HOST])])
        of_ports = np.concatenate([of_ports, load[first : first + len(plane.adapters)]])
    switches = tuple(
        SwitchLoad(plane.names[near], str(_TIERS[far]), ports, mean, most)
        for near, far, ports, mean, most in _rows(switch, toward, of_ports)
    )
    tiers = tuple(
        TierLoad(str(_TIERS[near]), str(_TIERS[far]), ports, mean, most)
        for near, far, ports, mean, most in _rows(tier[switch], toward, of_ports)
    )
    return switches, tiers, tuple(_each(plane, load)) if each else ()


@dataclass(frozen=True)
class DrawnLoad:
    """The load of each port over its capacity, the links between switches first, and the flows on each of these links;
    None where packets of a flow spread."""

    load: Floats
    flows: Ints | None = None

    @staticmethod
    def of(plane: HostNetwork, flows: Flows) -> "DrawnLoad":
        """Those of flows on their paths."""
        links = plane.network.links
        crossed = flows.path[(flows.path != NO_PORT) & (flows.path < links)]
        return DrawnLoad(offered_load(plane.ports, flows), np.bincount(crossed, minlength=links))


def fairness_of(plane: HostNetwork, draws: Sequence[DrawnLoad]) -> tuple[LinkFairness, ...]:
    """The fairness of the parallel links between switches in each draw."""
    network = plane.network
    tier = np.array(
        [_NUMBER.get(plane.tier.get(index, ""), len(_TIERS) - 1) for index in range(network.switches)], dtype=np.int64
    )
    switch, far_end = network.source.astype(np.int64), network.target.astype(np.int64)
    # A switch selects among all links upwards, and downwards among those to one switch.
    upwards = tier[far_end] > tier[switch]
    far = np.where(upwards, network.switches + tier[far_end], far_end)
    named, group = np.unique(switch * (network.switches + len(_TIERS)) + far, return_inverse=True)
    count = np.bincount(group)
    indexes: dict[tuple[int, int, int], list[float]] = {}
    ratios: dict[tuple[int, int, int], list[float]] = {}
    flows: dict[tuple[int, int, int], Counter[int]] = {}
    for draw in draws:
        own = draw.load[: network.links]
        crossing = None if draw.flows is None else np.bincount(group, weights=draw.flows)
        total, squares = np.bincount(group, weights=own), np.bincount(group, weights=own * own)
        most = np.zeros(len(count))
        np.maximum.at(most, group, own)
        for one in np.flatnonzero((count > 1) & (total > 0)).tolist():
            node, toward = divmod(int(named[one]), network.switches + len(_TIERS))
            toward = toward - network.switches if toward >= network.switches else int(tier[toward])
            key = int(tier[node]), toward, int(count[one])
            indexes.setdefault(key, []).append(float(total[one] ** 2 / (count[one] * squares[one])))
            ratios.setdefault(key, []).append(float(most[one] * count[one] / total[one]))
            if crossing is not None:
                flows.setdefault(key, Counter())[int(crossing[one])] += 1
    return tuple(
        LinkFairness(
            str(_TIERS[near]), str(_TIERS[far]), round(len(found) / len(draws)), links,
            round(float(np.mean(found)), _DIGITS), round(min(found), _DIGITS),
            round(float(np.mean(ratios[near, far, links])), _DIGITS), round(max(ratios[near, far, links]), _DIGITS),
            len(draws), tuple(sorted(flows.get((near, far, links), {}).items())),
        )
        for (near, far, links), found in sorted(indexes.items())
    )  # fmt: skip


def _rows(near: Ints, toward: Ints, load: Floats) -> Iterator[Row]:
    group = near * len(_TIERS) + toward
    count, total = np.bincount(group), np.bincount(group, weights=load)
    most = np.zeros(len(count))
    np.maximum.at(most, group, load)
    for one in np.flatnonzero(count).tolist():
        ports = int(count[one])
        mean, highest = round(float(total[one]) / ports, _DIGITS), round(float(most[one]), _DIGITS)
        yield *divmod(one, len(_TIERS)), ports, mean, highest


def _each(plane: HostNetwork, load: Floats) -> Iterator[tuple[str, str, float]]:
    for port in np.flatnonzero(load > 0).tolist():
        yield *plane.ports.name_of(port), round(float(load[port]), _DIGITS)
