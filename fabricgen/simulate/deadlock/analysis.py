"""The verdict on a plane: no cyclic buffer dependency, with an order of channels as proof, or a cycle."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.results import Claim, Cycle, DeadlockResult, FailureSummary, RoutesModel, Verdict
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.routing.routes import Routes
from fabricgen.simulate.deadlock.core.state import Ground, State
from fabricgen.simulate.deadlock.failures.failure_sets import (
    NOTHING,
    Failure,
    FailureSet,
    cables_that_fail,
    links_that_fail,
    switch_failure,
)
from fabricgen.simulate.deadlock.failures.judge import FailureJudge
from fabricgen.simulate.deadlock.failures.verdict import DepthVerdict, Failures, FoundCycle
from fabricgen.simulate.plane.coverage import covers
from fabricgen.simulate.plane.hosts import HostTraffic, host_traffic
from fabricgen.simulate.plane.lossless import LosslessLinks, lossless_links
from fabricgen.simulate.plane.names import planes, require_plane
from fabricgen.simulate.plane.steering import Turns, steering


@dataclass(frozen=True, slots=True)
class ChannelOrder:
    """A certificate for one dependency graph: channel i is link `links[i]` on priority `priority[i]`, and every
    dependency goes from an earlier to a later channel. If several priorities have equal graphs, it holds for each of
    `stands_for`."""

    links: NDArray[np.int64]
    priority: NDArray[np.int64]
    stands_for: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict is based on. `orders` are those of the state as configured, None if it has a cycle. `cycle_links`
    are the links of each reported cycle. `failures` are the verdicts by depth, then those on whole cables and on
    maintenance sets. `turns` are those of lists of uSIDs."""

    fabric: RoutedFabric
    routes: Routes
    traffic: HostTraffic
    lossless: LosslessLinks
    orders: tuple[ChannelOrder, ...] | None
    cycle_links: tuple[tuple[int, ...], ...]
    failures: tuple[DepthVerdict, ...] = ()
    turns: Turns | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneDeadlock(DeadlockResult):
    """A plane's verdict with its evidence, for findings and certificates."""

    evidence: Evidence = field(compare=False, repr=False)


def analyse_deadlock(
    bundle: Bundle,
    plane: str | None = None,
    failures: Failures = Failures(),  # noqa: B008 (a frozen value)
) -> list[PlaneDeadlock]:
    """The verdicts on the fabric as configured and after `failures`, one per RoCE plane or only of `plane`, worst
    first.

    Loose files are one plane. Raises UnreadableInputError if a file is not JSON, UsageError for an unknown plane.
    """
    require_plane(bundle, plane)
    chosen = [(name, switches) for name, switches in planes(bundle) if plane in (None, name)]
    found = [_analyse(bundle, name, switches, failures) for name, switches in chosen]
    return sorted(found, key=from_worst)


_WORST = (Verdict.CYCLIC, Verdict.UNKNOWN, Verdict.FREE)


def from_worst(result: DeadlockResult) -> tuple[int, bool, bool, str]:
    """The sort key of verdicts; of equal verdicts, planes with lossless traffic come first."""
    return _WORST.index(result.verdict), result.claim is Claim.PROVED, not result.priorities, result.name


def _analyse(bundle: Bundle, name: str, switches: list[str], failures: Failures) -> PlaneDeadlock:
    fabric = read_fabric(bundle, switches)
    traffic = host_traffic(bundle, fabric)
    lossless = lossless_links(fabric)
    steered = steering(bundle, fabric)
    turns = steered.turns if steered else None
    base = ground_of(fabric, traffic, lossless, turns).converged()
    judge = FailureJudge(base, failures)
    judged = _failures(bundle, fabric, judge, failures)
    cycles = [FoundCycle(NOTHING, priority, links, base.witnesses(links)) for priority, links in base.buffers.cycles()]
    worst = [one.first_cyclic for one in judged if one.first_cyclic]
    if not cycles and worst:
        cycles = [found for failed in worst[:1] for found in judge.cycles_after(failed)]
    counted = [one.summary for one in judged if not one.name]
    links = tuple(found.links for found in cycles)
    covered = covers(bundle, fabric, base.routes)
    free = Verdict.FREE if covered.is_complete else Verdict.UNKNOWN
    return PlaneDeadlock(
        verdict=Verdict.CYCLIC if cycles else free,
        claim=_claim(base, judged) if lossless.priorities or not covered.is_complete else Claim.PROVED,
        model=RoutesModel.BGP,
        priorities=lossless.priorities,
        channels=sum(one.graph.channels * one.copies for one in base.buffers.graphs),
        dependencies=sum(len(one.graph.successors) * one.copies for one in base.buffers.graphs),
        failures=counted[-1] if counted else _without_failures(base),
        cycles=tuple(_cycle(fabric, found) for found in cycles),
        name=name,
        covers=covered,
        evidence=Evidence(fabric, base.routes, traffic, lossless, _orders(base), links, tuple(judged), turns),
    )


def _without_failures(base: State) -> FailureSummary:
    return FailureSummary(0, 1, int(base.buffers.is_cyclic), int(base.is_disconnected))


def cycles_of(verdict: PlaneDeadlock) -> Iterator[FoundCycle]:
    """The cycles of a verdict, each set of links once. If the state as configured is cyclic, also further cycles
    without common dependencies."""
    evidence = verdict.evidence
    failed = {one.first_cyclic.names: one.first_cyclic for one in evidence.failures if one.first_cyclic}
    seen = set()
    for cycle, links in zip(verdict.cycles, evidence.cycle_links, strict=True):
        if links not in seen:
            seen.add(links)
            yield FoundCycle(failed.get(cycle.failed_links, NOTHING), cycle.priority, links, cycle.witnesses)
    if evidence.orders is not None:
        return
    base = ground_of(evidence.fabric, evidence.traffic, evidence.lossless, evidence.turns).converged()
    for priority, links in base.buffers.disjoint_cycles():
        if links not in seen:
            seen.add(links)
            yield FoundCycle(NOTHING, priority, links, base.witnesses(links))


def ground_of(
    fabric: RoutedFabric, traffic: HostTraffic, lossless: LosslessLinks, turns: Turns | None = None
) -> Ground:
    """The input of the verdict on a fabric."""
    return Ground(
        network=fabric.network,
        policy=fabric.policy,
        destinations=tuple(fabric.destinations[column] for column in traffic.columns),
        host_columns=traffic.host_columns,
        discards=fabric.discards,
        sources=traffic.sources,
        complete=traffic.complete,
        witness=traffic.witness,
        lossless=lossless,
        turns=turns,
    )


def _failures(bundle: Bundle, fabric: RoutedFabric, judge: FailureJudge, failures: Failures) -> list[DepthVerdict]:
    """The verdicts by depth, then those on whole cables and on maintenance sets."""
    if not failures.depth:
        return []
    links = links_that_fail(bundle, fabric)
    cables = cables_that_fail(bundle, links)
    switches = [switch_failure(fabric, number) for number in range(len(fabric.names))] if failures.switches else []
    found = [judge.of_depth([*links, *switches], depth) for depth in range(1, failures.depth + 1)]
    if cables:
        found.append(replace(judge.of_depth(cables, 1), name="whole cables"))
    named = maintenance_sets(bundle, fabric, [*links, *cables])
    return found + [replace(judge.of_set(title, members), is_planned=True) for title, members in named]


def _claim(base: State, judged: Sequence[DepthVerdict]) -> Claim:
    """Proved; possible if next hops depend on history; observed if only a sample was judged."""
    if base.routes.ambiguous_sets or any(one.ambiguous_sets for one in judged):
        return Claim.POSSIBLE
    sampled = any(one.summary.cyclic_bound and not one.first_cyclic for one in judged)
    return Claim.OBSERVED if sampled else Claim.PROVED


def _orders(base: State) -> tuple[ChannelOrder, ...] | None:
    if base.buffers.is_cyclic:
        return None
    return tuple(
        ChannelOrder(one.link[peeled.order], one.priority[peeled.order], one.stands_for)
        for one, peeled in zip(base.buffers.graphs, base.buffers.peeled, strict=True)
    )


def _cycle(fabric: RoutedFabric, found: FoundCycle) -> Cycle:
    ports = tuple((fabric.names[fabric.network.source[link]], fabric.port(link)) for link in found.links)
    return Cycle(found.priority, ports, found.failed.names, found.witnesses)


# Maintenance sets: switches and links that the inventory takes out of service together.


def maintenance_sets(
    bundle: Bundle, fabric: RoutedFabric, failures: Sequence[Failure]
) -> Iterator[tuple[str, FailureSet]]:
    """(name, set) for every set of the bundle with members in this plane. Names are shell patterns."""
    for one in bundle.wiring.checks.maintenance if bundle.wiring else ():
        members = [
            switch_failure(fabric, number)
            for number, name in enumerate(fabric.names)
            if any(fnmatchcase(name, pattern) for pattern in one.switches)
        ]
        members += [
            failure
            for failure in failures
            if failure.switch < 0 and any(fnmatchcase(failure.name, pattern) for pattern in one.links)
        ]
        if members:
            yield f"maintenance {one.name}", FailureSet(tuple(members))
