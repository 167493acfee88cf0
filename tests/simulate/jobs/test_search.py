"""The search for placements beside all assignments of hosts, and its promises."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricgen.simulate.jobs.evaluation import Evaluation
from fabricgen.simulate.jobs.loads import even_loads, line_ns
from fabricgen.simulate.jobs.options import JobsOptions
from fabricgen.simulate.jobs.places import HostClasses
from fabricgen.simulate.jobs.search import drawn_score, propose, search
from fabricgen.simulate.jobs.sharing import progress
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.workload import PlacedJob, mix_of
from tests.examples import examples
from tests.simulate.jobs.small_fabrics import PLANE, placed, small_plane, small_site

PATTERNS = ("ring-all-reduce", "all-to-all", "tree-all-reduce", "pipeline")


def assignments(hosts: list[int], sizes: list[int]) -> Iterator[list[list[int]]]:
    """Every way to give jobs of some sizes different hosts."""
    if not sizes:
        yield []
        return
    for own in combinations(hosts, sizes[0]):
        left = [host for host in hosts if host not in own]
        yield from ([list(own), *others] for others in assignments(left, sizes[1:]))


def worst_of(plane: HostNetwork, jobs: list[PlacedJob]) -> float:
    """The worst slowdown against line rate, computed from all ports of the plane."""
    mix = mix_of(plane.adapters, jobs, 0)
    loads = even_loads(plane, mix)
    sends = loads.flow_bytes > 0
    return float(max(1.0, *(1.0 / (progress(loads, sends)[sends] * line_ns(plane, mix)[sends]))))


def test_the_best_of_all_is_that_of_every_assignment_of_hosts() -> None:
    """Hosts of a class are interchangeable: counting them loses nothing."""
    plane = small_plane(3, 2, 1)
    jobs = [placed("a", [0, 2], "ring-all-reduce"), placed("b", [1, 4], "all-to-all")]
    places = HostClasses(plane, small_site(plane), jobs)
    evaluation = Evaluation(plane, places, 0)
    found = search(evaluation, places, 10_000)
    assert found.exhaustive
    every = [
        worst_of(plane, [placed("a", a), placed("b", b, "all-to-all")]) for a, b in assignments(list(range(6)), [2, 2])
    ]
    assert evaluation.score(found.best[0])[0] == pytest.approx(min(every), abs=1e-3)
    assert evaluation.score(places.given())[0] == pytest.approx(worst_of(plane, jobs), abs=1e-3)


cases = st.tuples(
    st.integers(2, 3),  # leaves
    st.integers(2, 4),  # hosts of a leaf
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from(PATTERNS)), min_size=1, max_size=3),
    st.integers(0, 1000),
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(cases)
def test_exchanges_find_the_best_of_all_or_nearly(
    case: tuple[int, int, list[tuple[int, str]], int],
) -> None:
    leaves, hosts, sizes, seed = case
    order = np.random.default_rng(seed).permutation(leaves * hosts).tolist()
    jobs, first = [], 0
    for number, (size, pattern) in enumerate(sizes):
        size = min(size, len(order) - first)
        if size:
            jobs.append(placed(f"job{number}", order[first : first + size], pattern))
        first += size
    plane = small_plane(leaves, hosts, 1)
    places = HostClasses(plane, small_site(plane), jobs)
    evaluation = Evaluation(plane, places, 0)
    best = search(evaluation, places, 100_000)
    assert best.exhaustive
    few = search(Evaluation(plane, places, 0), places, max(2, best.evaluated - 1)) if best.evaluated > 2 else best
    given = evaluation.score(places.given())
    assert evaluation.score(few.best[0]) <= given
    assert evaluation.score(few.best[0])[0] <= evaluation.score(best.best[0])[0] * 1.34 + 1e-9


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 1000))
def test_a_proposal_is_better_on_draws_that_the_search_did_not_use(seed: int) -> None:
    plane, order = small_plane(4, 4, 2), np.random.default_rng(seed).permutation(16).tolist()
    jobs = [placed("a", order[:6]), placed("b", order[6:10], "all-to-all"), placed("c", order[10:13])]
    site, options = small_site(plane), JobsOptions(seed=seed, draws=3, search=True)
    found = propose(plane, site, jobs, PLANE, options)
    assert found.first_seed == seed + 3 and found.draws == 8
    assert found == propose(plane, site, jobs, PLANE, options)
    given = drawn_score(plane, jobs, 1, seed, range(seed + 3, seed + 11))
    assert found.given == given
    assert found.proposed.worst.mean <= given.worst.mean * (1 + 1e-9)
    assert bool(found.jobs_file) == (found.moved > 0 or found.proposed != found.given)
    if found.jobs_file:
        assert found.proposed.worst.mean < given.worst.mean or found.proposed.mean_ns.mean < given.mean_ns.mean


def test_pinned_jobs_stay_and_keep_their_hosts() -> None:
    plane = small_plane(3, 4, 1)
    jobs = [placed("a", [0, 4, 8], pinned=True), placed("b", [1, 5, 9]), placed("c", [2, 6], rails=(0,))]
    places = HostClasses(plane, small_site(plane), jobs)
    assert places.movable == [1]
    found = propose(plane, small_site(plane), jobs, PLANE, JobsOptions(draws=2, search=True))
    assert "hosts: ['h[0,4,8]']" in found.jobs_file and "hosts: ['h[2,6]']" in found.jobs_file
    alone = propose(plane, small_site(plane), jobs[:1], PLANE, JobsOptions(draws=2, search=True))
    assert not alone.jobs_file and "pinned" in alone.reason


def test_the_bound_holds() -> None:
    plane = small_plane(8, 8, 2)
    jobs = [placed(f"j{number}", list(range(number, 64, 8))) for number in range(8)]
    places = HostClasses(plane, small_site(plane), jobs)
    found = search(Evaluation(plane, places, 0), places, 60)
    assert not found.exhaustive and found.evaluated <= 61
    assert all(len(set(row)) <= 2 and sum(row) == 8 for row in found.best[0])  # greedy: each job below one leaf
