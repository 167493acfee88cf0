"""The bandwidth of a pattern under all sets of one or two failures, after BGP has converged."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.results import Outage, OutageResult, Spread
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.simulate.bandwidth.analysis import MOST_MESSAGES, gpus_of_node
from fabricgen.simulate.bandwidth.bus import bus_bytes
from fabricgen.simulate.bandwidth.failures import BandwidthJudge, FailingPart
from fabricgen.simulate.bandwidth.times import drawn, spread_of
from fabricgen.simulate.deadlock.analysis import ground_of
from fabricgen.simulate.deadlock.failures.failure_sets import links_that_fail, switch_failure
from fabricgen.simulate.deadlock.failures.sample_bound import upper_bound
from fabricgen.simulate.jobs.losses import JobLosses
from fabricgen.simulate.outages.options import OutageOptions
from fabricgen.simulate.outages.sets import JudgedSet, Sets
from fabricgen.simulate.patterns import Everyone, Messages, make_job, make_traffic, uses_storage
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.hosts import host_traffic
from fabricgen.simulate.plane.lossless import lossless_links
from fabricgen.simulate.plane.names import infiniband_planes, planes_for
from fabricgen.simulate.plane.reading import network_of
from fabricgen.simulate.plane.rerouting import converged
from fabricgen.simulate.workload import JobPlanes, Mix, mix_of

_WITH_JOBS = 16  # sets, the worst, whose jobs are listed
_LISTS = "after a failure hosts choose among the lists of uSIDs that are left: use --balance for the paths of BGP"
_NEW_ROUTES = "after a failure the subnet manager computes new routes"

_GAIN = 0.01  # of the bandwidth; less is not worth a setting


def analyse_outages(
    bundle: Bundle,
    options: OutageOptions,
    plane: str | None = None,
    jobs: JobPlanes | None = None,
) -> list[OutageResult]:
    """One result per plane that the pattern runs on, or that has some of `jobs`. Raises UsageError for an unknown
    plane."""
    if jobs is not None:
        return [*_of_jobs(bundle, jobs, options)]
    found = []
    for name, switches in planes_for(bundle, plane, to_storage=uses_storage(options.pattern)):
        fabric = read_fabric(bundle, switches)
        found.append(_judged(bundle, fabric, name, options))
    found += [
        replace(_empty(name, options), reason=_NEW_ROUTES)
        for name in infiniband_planes(bundle, plane, to_storage=uses_storage(options.pattern))
    ]
    return found


def _of_jobs(bundle: Bundle, jobs: JobPlanes, options: OutageOptions) -> Iterator[OutageResult]:
    for name, network in jobs.networks.items():
        placed, empty = jobs.on(name), _empty(name, options)
        if not placed:
            continue
        if name not in jobs.fabrics:
            yield replace(empty, reason=_NEW_ROUTES)
            continue
        if network.lists:
            yield replace(empty, reason=_LISTS)
            continue
        mix = mix_of(network.adapters, placed, options.seed)
        if not len(mix):
            yield replace(empty, reason="the jobs send no traffic over the network")
            continue
        yield _after_failures(bundle, jobs.fabrics[name], network, options, mix.messages, mix)


def _empty(name: str, options: OutageOptions) -> OutageResult:
    return OutageResult(name, options.pattern, options.depth, options.switches)


def _judged(bundle: Bundle, fabric: RoutedFabric, name: str, options: OutageOptions) -> OutageResult:
    network = network_of(bundle, fabric, name, options.hash_model, options.queue_pairs, options.balance)
    empty = _empty(name, options)
    if not network.adapters:
        return replace(empty, reason="the files contain no hosts")
    if network.unjudged or network.lists:
        return replace(empty, reason=network.unjudged or _LISTS)
    job = make_job(network.adapters, options.placement, options.seed)
    traffic = make_traffic(options.pattern, job, network.adapters, options.size_bytes, options.seed)
    if not len(traffic):
        return replace(empty, reason=f"{options.pattern} sends no traffic over the network")
    if len(traffic) > MOST_MESSAGES:
        return replace(empty, reason=f"{len(traffic)} messages are too many, the most are {MOST_MESSAGES}")
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    bus = bus_bytes(options.pattern, job, options.size_bytes, gpus_of_node(bundle, network, job))
    return _after_failures(bundle, fabric, network, options, messages, bus)


def _after_failures(
    bundle: Bundle,
    fabric: RoutedFabric,
    network: HostNetwork,
    options: OutageOptions,
    messages: Messages,
    of: float | Mix | None,
) -> OutageResult:
    """`of` is the bus bandwidth of a pattern in bytes, or the jobs that send the messages."""
    empty = _empty(network.name, options)
    failures = links_that_fail(bundle, fabric)
    if options.switches:
        failures += [switch_failure(fabric, number) for number in range(len(fabric.names))]
    if len(failures) < options.depth:
        return replace(empty, reason="the plane has fewer links between switches")
    ground = ground_of(fabric, host_traffic(bundle, fabric), lossless_links(fabric))
    judge = BandwidthJudge(network, messages, converged(bundle, fabric, network))
    if not len(judge.messages):
        return replace(empty, reason="no message of the pattern has a path")
    sets = Sets(judge, ground, failures, options)
    if isinstance(of, Mix):
        return _result(empty, sets, None, JobLosses(judge, of))[0]
    result, worst = _result(empty, sets, of)
    return replace(result, weighted_share=_weighted(judge, worst))


def _weighted(judge: BandwidthJudge, worst: Sequence[FailingPart]) -> float | None:
    """The share of the bandwidth that weighted ECMP leaves after a set of failures; None if it leaves no more."""
    plane = judge.plane
    if plane.announces is not None or not worst:
        return None
    every = np.ones(plane.network.switches, bool)
    share = BandwidthJudge(replace(plane, announces=every), judge.messages, judge.reroute).outcome(worst).share
    return round(share, 6) if share > judge.outcome(worst).share + _GAIN else None


def _result(
    empty: OutageResult, sets: Sets, bus: float | None, losses: JobLosses | None = None
) -> tuple[OutageResult, Sequence[FailingPart]]:
    """The result, and what fails in its worst set."""
    judge, options = sets.judge, sets.options
    how, judged = sets.judged()
    outcomes = tuple(
        Outage(
            names=one.names,
            sets=one.size,
            share=round(one.share, 6),
            time_ns=round(judge.base_ns / one.share, 3) if one.share else None,
            bus_gbytes=None if bus is None else round(bus / judge.base_ns * one.share, 3),
            cut_off=one.cut_off,
        )
        for one in sorted((one for one in judged if not one.stops), key=lambda one: (one.share, one.names))
    )
    if losses is not None:
        outcomes = _with_jobs(outcomes, judged, sets, losses)
    seeds = range(options.seed, options.seed + options.draws)
    worst = next((one for one in judged if outcomes and one.names == outcomes[0].names), None)
    parts = sets.parts(worst.members) if worst and worst.share else []
    left = judge.after(parts) if parts else None
    result = replace(
        empty,
        sets=sets.all.count,
        judged=len(judged),
        how=how,
        time_ns=round(judge.base_ns, 3),
        bus_gbytes=None if bus is None else round(bus / judge.base_ns, 3),
        worst=outcomes[0] if outcomes else None,
        median=_median(outcomes),
        stopping=sum(one.size for one in judged if one.stops),
        worse_sets=round(upper_bound(0, len(judged)), 6) if how == "sample" else 0.0,
        drawn=_drawn(judge.plane, judge.messages, bus, seeds),
        worst_drawn=_drawn(left.plane, left.sent, bus, seeds) if left else None,
        outcomes=outcomes,
        stopped_jobs=_stopped(judged, sets, losses) if losses is not None else (),
    )
    return result, parts


def _with_jobs(
    outcomes: Sequence[Outage], judged: Sequence[JudgedSet], sets: Sets, losses: JobLosses
) -> tuple[Outage, ...]:
    """The outcomes, the worst of them with the jobs that they hit."""
    members = {one.names: one.members for one in judged}
    return tuple(
        replace(one, jobs=losses.after(sets.parts(members[one.names]))) if number < _WITH_JOBS else one
        for number, one in enumerate(outcomes)
    )


def _stopped(judged: Sequence[JudgedSet], sets: Sets, losses: JobLosses) -> tuple[tuple[str, int], ...]:
    """(job, sets after which one of its GPUs has no port)."""
    found: Counter[str] = Counter()
    for one in judged:
        if one.stops:
            found.update(dict.fromkeys(losses.stopped_by(sets.parts(one.members)), one.size))
    return tuple(sorted(found.items()))


def _median(outcomes: Sequence[Outage]) -> Outage | None:
    """The outage in the middle of all sets; of an even number the worse one."""
    half = (sum(one.sets for one in outcomes) + 1) // 2
    for one in outcomes:
        half -= one.sets
        if half <= 0:
            return one
    return None


def _drawn(plane: HostNetwork, messages: Messages, bus: float | None, seeds: range) -> Spread | None:
    if bus is None:
        return None
    times = [drawn(plane, messages, seed).time_ns for seed in seeds]
    return spread_of([bus / time if time else 0.0 for time in times])
