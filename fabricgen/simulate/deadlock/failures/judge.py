"""The verdict on every set of failures: by one proof for all sets if possible, otherwise set by set.

The methods in order: spare parts of the fabric (`shortest_paths`): if more disjoint parts carry all traffic on shortest
paths than failures can touch, packets keep old next hops. The graph of all possible next hops (`possible_routes`): if
it has no cycle, no failures cause one. Single failures and pairs under local repair, many at a time (`bounces`). Each
set by itself (`sweep`). If there are too many sets, or many after each of which routes must be computed: one set of
each orbit of singles or pairs (`orbits`), or a random sample if the fabric has too little symmetry."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import FailureOrbit, FailureSummary
from fabricgen.routing import bits
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.network import Network
from fabricgen.routing.possible import possible_routes
from fabricgen.simulate.deadlock.core.state import State
from fabricgen.simulate.deadlock.failures.bounces import Bounces, bounces
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet, SetsOf
from fabricgen.simulate.deadlock.failures.orbits import Orbits
from fabricgen.simulate.deadlock.failures.repair import Repaired, repaired_witnesses
from fabricgen.simulate.deadlock.failures.sample_bound import upper_bound
from fabricgen.simulate.deadlock.failures.shortest_paths import ShortestPaths, spares
from fabricgen.simulate.deadlock.failures.sweep import (
    AMBIGUOUS,
    CYCLIC,
    DISCONNECTED,
    SetJudge,
    Verdicts,
    sweep,
)
from fabricgen.simulate.deadlock.failures.verdict import DepthVerdict, Failures, FoundCycle
from fabricgen.vocabulary import Repair

MOST_SETS = 50_000  # judged one by one
MOST_WORK = 1 << 30  # sets times links; above it, symmetry is used
MOST_CONVERGED_WORK = 1 << 20  # the same, if the routes after each set must be computed: some seconds
MOST_ORBITS = 2_000
SAMPLE = 5_000  # drawn if there are more sets
_FEW_SETS = 8  # judged without the graph of all possible next hops


class FailureJudge:
    """The judge of one plane's failures. Detours and orbits are kept from one depth to the next."""

    def __init__(self, base: State, failures: Failures) -> None:
        self.ground, self.options = base.ground.expecting(base.routes.reached), failures
        self.base, self.repairs = base, failures.repair is Repair.LOCAL
        self._bounces: tuple[tuple[Failure, ...], Bounces | None] | None = None
        self._orbits: tuple[tuple[Failure, ...], Orbits] | None = None

    @cached_property
    def sets(self) -> SetJudge:
        """The judge of single sets, with what the graph of all possible next hops proves for every set."""
        ground, is_cyclic = self.ground, self.base.buffers.is_cyclic
        routes = possible_routes(ground.network, ground.policy, ground.destinations)
        possible = State(ground, routes, forwarding(ground.network, routes, ground.discards))
        exact = not is_cyclic and bool((possible.hops == self.base.hops).all())
        free = exact or not (is_cyclic or possible.buffers.is_cyclic)
        return SetJudge(ground, self.repairs, free, exact, self.base)

    @cached_property
    def paths(self) -> ShortestPaths:
        """The shortest paths of the state as configured."""
        return ShortestPaths(self.base)

    def of_depth(self, failures: Sequence[Failure], depth: int) -> DepthVerdict:
        """The verdict on all sets of `depth` of these failures."""
        sets = SetsOf(failures, depth)
        summary = FailureSummary(depth, sets.count)
        has_spares = self._has_spares(failures, depth)
        if has_spares and not self.repairs:
            return DepthVerdict(summary, "spares")
        if has_spares and depth < 3 and (around := self._around(failures)) is not None:
            verdict = self._of_bounces(failures, around, summary)
            if verdict is not None:
                return self._with_orbits(failures, verdict, has_spares)
        many = depth < 3 and self._are_many(sets.count)
        if many and (found := self.of_orbits(failures, summary, has_spares)) is not None:
            return found
        if depth > 1 and sets.count > MOST_SETS:
            drawn = sets.sample(SAMPLE, self.options.seed)
            return self._judged(drawn, replace(summary, sampled=SAMPLE), "sample")
        return self._with_orbits(failures, self._judged(sets.all(), summary, "each"), has_spares)

    def _are_many(self, count: int) -> bool:
        """Whether to judge this many sets by symmetry takes less time."""
        work = count * self.ground.network.links
        if count > MOST_SETS or work > MOST_WORK:
            return True
        return work > MOST_CONVERGED_WORK and not self.sets.only_loss_matters

    def _with_orbits(self, failures: Sequence[Failure], verdict: DepthVerdict, has_spares: bool) -> DepthVerdict:
        """The verdict on all sets, with the orbits of the cyclic ones if symmetry gives the same counts."""
        if verdict.first_cyclic is None or verdict.summary.depth > 2:
            return verdict
        again = self.of_orbits(failures, verdict.summary, has_spares)
        if again is None or replace(again.summary, orbits=()) != verdict.summary:
            return verdict
        return replace(verdict, summary=replace(again.summary, each=True))

    def _around(self, failures: Sequence[Failure]) -> Bounces | None:
        """The detours of these failures."""
        if self._bounces is None or self._bounces[0] != tuple(failures):
            self._bounces = tuple(failures), bounces(self.base, failures)
        return self._bounces[1]

    def _of_bounces(self, failures: Sequence[Failure], around: Bounces, summary: FailureSummary) -> DepthVerdict | None:
        """One or two failures under local repair, if the state after BGP has converged is free."""
        if summary.depth == 1:
            alone = np.flatnonzero(around.singles())
            first = FailureSet((failures[alone[0]],)) if len(alone) else None
            return DepthVerdict(replace(summary, cyclic_sets=len(alone)), "bounces", first_cyclic=first)
        pairs = around.pairs()
        if pairs is None:
            return None
        sets = [FailureSet((failures[a], failures[b])) for a, b in pairs.undecided.tolist()]
        closing = sweep(self.sets, [(one.dead, ()) for one in sets], self.options.spread) & CYCLIC != 0
        found = [tuple(pair) for pair in pairs.undecided[closing].tolist()]
        rows = np.flatnonzero(pairs.cyclic.any(axis=1))
        least = min(
            [*found, *((row, bits.columns_of(pairs.cyclic[row])[0]) for row in rows[:1].tolist())], default=None
        )
        first = FailureSet((failures[least[0]], failures[least[1]])) if least else None
        count = len(found) + bits.count(pairs.cyclic)
        return DepthVerdict(replace(summary, cyclic_sets=count), "bounces", first_cyclic=first)

    def of_orbits(self, failures: Sequence[Failure], summary: FailureSummary, has_spares: bool) -> DepthVerdict | None:
        """One or two failures, one set of each orbit; None if there is too little symmetry."""
        if self._orbits is None or self._orbits[0] != tuple(failures):
            self._orbits = tuple(failures), Orbits(self.ground, failures, MOST_ORBITS)
        known = self._orbits[1]
        orbits = known.singles() if summary.depth == 1 else known.pairs()
        if orbits is None:
            return None
        sets = [FailureSet(tuple(failures[number] for number in one.members)) for one in orbits]
        verdicts = np.zeros(len(sets), np.uint8) if has_spares else self._converged(sets)
        if self.repairs:
            verdicts |= self._repaired(sets)
        size = [one.size for one in orbits]
        count = {flag: _total(size, verdicts & flag != 0) for flag in (CYCLIC, DISCONNECTED, AMBIGUOUS)}
        parts = tuple(
            FailureOrbit(one.names, orbit.size, bool(flags & CYCLIC), bool(flags & DISCONNECTED))
            for one, orbit, flags in zip(sets, orbits, verdicts.tolist(), strict=True)
        )
        summary = replace(summary, cyclic_sets=count[CYCLIC], unreachable_sets=count[DISCONNECTED], orbits=parts)
        first = {flag: _first(sets, verdicts, flag) for flag in (CYCLIC, DISCONNECTED)}
        return DepthVerdict(summary, "orbits", count[AMBIGUOUS], first[CYCLIC], first[DISCONNECTED])

    def _converged(self, sets: Sequence[FailureSet]) -> Verdicts:
        """The verdicts on sets in the state after BGP has converged."""
        found = np.zeros(len(sets), np.uint8)
        only_loss_matters = not self.base.buffers.is_cyclic and self.paths.are_decisive
        left = [
            number for number, one in enumerate(sets) if not only_loss_matters or self.paths.lost(one.dead, one.gone)
        ]
        if len(left) > _FEW_SETS:
            judge = replace(self.sets, repair=False)
            found[left] = sweep(judge, [(sets[one].dead, sets[one].gone) for one in left], self.options.spread)
        else:
            judge = SetJudge(self.ground, repair=False, free=False, exact=False, configured=self.base)
            found[left] = [judge.verdict(sets[one].dead, sets[one].gone) for one in left]
        return found

    def _repaired(self, sets: Sequence[FailureSet]) -> Verdicts:
        """CYCLIC for sets that close a cycle under local repair; each set counts as one failure."""
        around = bounces(self.base, [_as_one(each) for each in sets])
        if around is not None:
            return np.where(around.singles(), CYCLIC, 0).astype(np.uint8)
        closing = [Repaired.of(self.base, one.dead).buffers.is_cyclic for one in sets]
        return np.where(np.array(closing, bool), CYCLIC, 0).astype(np.uint8)

    def of_set(self, name: str, members: FailureSet) -> DepthVerdict:
        """The verdict on one named set."""
        return replace(self._judged([members], FailureSummary(len(members.failures), 1), "each"), name=name)

    def cycles_after(self, failed: FailureSet) -> Iterator[FoundCycle]:
        """The shortest cycles after a set of failures, one for each priority."""
        if self.repairs and (around := bounces(self.base, [_as_one(failed)])) is not None:
            links = around.shortest_cycle(0)
            for priority in self.base.buffers.graphs[0].stands_for if links else ():
                yield FoundCycle(failed, priority, links, repaired_witnesses(self.base, failed.dead, links))
            if links:
                return
        ground, kept = self.ground.after(failed.dead, failed.gone)
        state = ground.converged()
        for priority, links in state.buffers.cycles():
            yield FoundCycle(failed, priority, tuple(kept[list(links)].tolist()), state.witnesses(links))
        if not self.repairs or state.buffers.is_cyclic:
            return
        for priority, links in Repaired.of(self.base, failed.dead).buffers.cycles():
            yield FoundCycle(failed, priority, links, repaired_witnesses(self.base, failed.dead, links))

    def _has_spares(self, failures: Sequence[Failure], depth: int) -> bool:
        if self.base.buffers.is_cyclic or not self.paths.are_decisive:
            return False
        parts = _most_parts(self.ground.network, failures)
        return spares(self.paths, depth * parts + 1) > depth * parts

    def _judged(self, sets: list[FailureSet], summary: FailureSummary, how: str) -> DepthVerdict:
        verdicts = sweep(self.sets, [(one.dead, one.gone) for one in sets], self.options.spread)
        counts = {flag: int((verdicts & flag != 0).sum()) for flag in (CYCLIC, DISCONNECTED, AMBIGUOUS)}
        summary = replace(summary, cyclic_sets=counts[CYCLIC], unreachable_sets=counts[DISCONNECTED])
        if summary.sampled is not None:
            proved = self.sets.free and not self.repairs
            bounds = [upper_bound(counts[flag], summary.sampled) for flag in (CYCLIC, DISCONNECTED)]
            summary = replace(summary, cyclic_bound=0.0 if proved else bounds[0], unreachable_bound=bounds[1])
        first = {flag: _first(sets, verdicts, flag) for flag in (CYCLIC, DISCONNECTED)}
        return DepthVerdict(summary, how, counts[AMBIGUOUS], first[CYCLIC], first[DISCONNECTED])


def _most_parts(network: Network, failures: Sequence[Failure]) -> int:
    """The most parts that one failure can touch: one for each link of a cable, and only one between two switches."""
    several = [one.links for one in failures if one.switch < 0 and len(one.links) > 2]
    if not several:
        return 1
    links = np.concatenate(several)
    ends = np.sort(np.stack([network.source[links], network.target[links]]).astype(np.int64), axis=0)
    failure = np.repeat(np.arange(len(several)), [*map(len, several)])
    distinct = np.unique((failure * network.switches + ends[0]) * network.switches + ends[1])
    return int(np.bincount(distinct // network.switches**2).max())


def _as_one(failed: FailureSet) -> Failure:
    """A set of failures as a single failure."""
    return Failure(" and ".join(failed.names), tuple(failed.dead.tolist()))


def _total(sizes: Sequence[int], chosen: NDArray[np.bool_]) -> int:
    """The sum of the chosen sizes, as an unbounded integer."""
    return sum(size for size, taken in zip(sizes, chosen.tolist(), strict=True) if taken)


def _first(sets: Sequence[FailureSet], verdicts: Verdicts, flag: int) -> FailureSet | None:
    found = np.flatnonzero(verdicts & flag)
    return sets[found[0]] if len(found) else None
