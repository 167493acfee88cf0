"""A search for a better placement of jobs: few placements are all compared, of many a greedy one and the given one are
improved by exchanges of hosts. Draws of hashes then choose among the best, and others compare it with the given one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabricgen.results import PlacementScore, ProposedPlacement
from fabricgen.simulate.bandwidth.times import spread_of
from fabricgen.simulate.jobs.evaluation import Evaluation, Score
from fabricgen.simulate.jobs.exchanges import all_placements, greedy, neighbours
from fabricgen.simulate.jobs.loads import drawn_loads, line_ns
from fabricgen.simulate.jobs.options import JobsOptions
from fabricgen.simulate.jobs.places import Counts, HostClasses
from fabricgen.simulate.jobs.sharing import together_ns
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.workload import PlacedJob, PlaneSite, jobs_text, mix_of

_LEAST_DRAWS = 8  # that compare a proposal with the given placement
_GAIN = 1e-3  # of the worst slowdown or the mean time; smaller gains are ignored
_FINALISTS = 3


@dataclass(frozen=True)
class FoundPlacements:
    """The placements with the best scores, the best first."""

    best: tuple[Counts, ...]
    evaluated: int
    exhaustive: bool


def propose(
    plane: HostNetwork, site: PlaneSite, every: Sequence[PlacedJob], name: str, options: JobsOptions
) -> ProposedPlacement:
    """A better placement of the jobs that may move on the plane of a name, or why nothing is proposed. `every` are the
    jobs of all planes, whose hosts are not free."""
    placed = [one for one in every if name in one.planes]
    places = HostClasses(plane, site, placed, [one for one in every if name not in one.planes])
    found = search(Evaluation(plane, places, options.seed), places, options.most_evaluated)
    pairs = options.queue_pairs or plane.queue_pairs
    seen = range(options.seed, options.seed + max(1, options.draws))
    unseen = range(seen.stop, seen.stop + max(options.draws, _LEAST_DRAWS))
    candidates = [tuple(placed), *(_placed_as(placed, places, counts) for counts in found.best)]
    chosen = min(candidates, key=lambda one: _key(drawn_score(plane, one, pairs, options.seed, seen)))
    given = drawn_score(plane, placed, pairs, options.seed, unseen)
    proposed = drawn_score(plane, chosen, pairs, options.seed, unseen)
    better = _is_better(proposed, given)
    reason = "" if better else _why_not(places, found)
    return ProposedPlacement(
        given=given,
        proposed=proposed if better else given,
        draws=len(unseen),
        first_seed=unseen.start,
        evaluated=found.evaluated,
        exhaustive=found.exhaustive,
        moved=_moved(placed, chosen) if better else 0,
        jobs_file=jobs_text(_all_of(every, chosen)) if better else "",
        reason=reason,
    )


def search(evaluation: Evaluation, places: HostClasses, most: int) -> FoundPlacements:
    """The best placements by evenly spread load, of `most` at most."""
    if not places.movable:
        return FoundPlacements((), 0, exhaustive=True)
    given = places.given()

    def rank(counts: Counts) -> tuple[Score, int, Counts]:
        return evaluation.score(counts), places.moves(counts), counts

    everything = all_placements(places, most)
    if everything is not None:
        best = sorted(everything, key=rank)
        return FoundPlacements(tuple(best[:_FINALISTS]), evaluation.evaluated, exhaustive=True)
    starts = [start for start in (greedy(places), given) if start is not None]
    improved = [_improved(evaluation, places, start, most * (number + 1) // 2) for number, start in enumerate(starts)]
    best = sorted({*improved, *starts}, key=rank)
    return FoundPlacements(tuple(best[:_FINALISTS]), evaluation.evaluated, exhaustive=False)


def drawn_score(plane: HostNetwork, placed: Sequence[PlacedJob], pairs: int, seed: int, seeds: range) -> PlacementScore:
    """The score of a placement over draws of hashes, with the starts of the jobs."""
    mix = mix_of(plane.adapters, placed, seed)
    line = line_ns(plane, mix)
    split = mix.split(pairs)
    times = [together_ns(drawn_loads(plane, split, one)) for one in seeds]
    sends = line > 0
    worst = [float((one[sends] / line[sends]).max(initial=1.0)) for one in times]
    return PlacementScore(spread_of(worst), spread_of([float(one.mean()) for one in times]))


def _key(score: PlacementScore) -> tuple[float, float]:
    return round(score.worst.mean, 6), score.mean_ns.mean


def _is_better(proposed: PlacementScore, given: PlacementScore) -> bool:
    """Whether the worst slowdown is smaller, or not larger with a smaller mean time."""
    if proposed.worst.mean < given.worst.mean * (1 - _GAIN):
        return True
    is_no_worse = proposed.worst.mean <= given.worst.mean * (1 + 1e-9)
    return is_no_worse and proposed.mean_ns.mean < given.mean_ns.mean * (1 - _GAIN)


def _why_not(places: HostClasses, found: FoundPlacements) -> str:
    if not places.movable:
        return "every job is pinned, or shares hosts with another one"
    how = "all placements" if found.exhaustive else "the placements that the search compared"
    return f"none of {how} is better on new draws"


def _placed_as(placed: Sequence[PlacedJob], places: HostClasses, counts: Counts) -> tuple[PlacedJob, ...]:
    hosts = places.hosts_of(counts)
    return tuple(replace(one, hosts=own) for one, own in zip(placed, hosts, strict=True))


def _all_of(every: Sequence[PlacedJob], chosen: Sequence[PlacedJob]) -> list[PlacedJob]:
    moved = {one.name: one for one in chosen}
    return [moved.get(one.name, one) for one in every]


def _moved(placed: Sequence[PlacedJob], chosen: Sequence[PlacedJob]) -> int:
    return sum(len(set(new.hosts) - set(old.hosts)) for old, new in zip(placed, chosen, strict=True))


def _improved(evaluation: Evaluation, places: HostClasses, start: Counts, most: int) -> Counts:
    """A placement that no exchange improves, or the best when `most` placements have been compared in all."""
    best, score = start, evaluation.score(start)
    found = True
    while found:
        found = False
        for other in neighbours(places, best):
            if evaluation.evaluated >= most:
                return best
            if (its := evaluation.score(other)) < score:
                best, score, found = other, its, True
                break
    return best
