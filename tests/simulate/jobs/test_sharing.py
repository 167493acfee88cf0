"""Times of jobs that share ports: laws, a case by hand, and flow by flow."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.simulate.bandwidth.times import drawn
from fabricgen.simulate.jobs.loads import drawn_loads, even_loads, hashed_mix, line_ns
from fabricgen.simulate.jobs.sharing import JobLoads, jain, together_ns
from fabricgen.simulate.max_min import max_min_times_ns
from fabricgen.simulate.plane.ports import latency_ns
from fabricgen.simulate.workload import mix_of
from tests.examples import examples
from tests.simulate.jobs.small_fabrics import placed, small_plane


def loads(needed: list[list[float]], flow_bytes: list[float], start_ns: list[float] | None = None) -> JobLoads:
    jobs = len(flow_bytes)
    return JobLoads(
        np.array(needed, float), np.array(flow_bytes, float), np.zeros(jobs), np.array(start_ns or [0.0] * jobs)
    )


def test_two_jobs_on_one_port_share_it_by_hand() -> None:
    """Equal flows get half each; when the shorter job ends, the longer one has the port alone."""
    assert together_ns(loads([[100, 300]], [1, 3])).tolist() == [200, 400]
    # the second starts when the first has 40 ns left: both run at half speed until the first ends at 140
    assert together_ns(loads([[100, 100]], [1, 1], [0, 60])).tolist() == [140, 140]


def test_what_a_job_cannot_use_is_left_to_others() -> None:
    """Job 0 is limited by another port to a quarter of the shared one, so job 1 has three quarters."""
    assert together_ns(loads([[100, 300], [400, 0]], [1, 3])).tolist() == pytest.approx([400, 400])


matrices = st.integers(1, 4).flatmap(
    lambda jobs: st.tuples(
        st.lists(
            st.lists(st.one_of(st.just(0.0), st.floats(1, 100)), min_size=jobs, max_size=jobs), min_size=1, max_size=5
        ),
        st.lists(st.floats(1, 10), min_size=jobs, max_size=jobs),
        st.lists(st.floats(0, 50), min_size=jobs, max_size=jobs),
    )
)


@settings(max_examples=examples(150), deadline=None)
@given(matrices)
def test_no_job_is_faster_than_alone_and_no_port_is_overloaded(
    case: tuple[list[list[float]], list[float], list[float]],
) -> None:
    needed, flow_bytes, starts = case
    sends = np.array(needed).any(axis=0)
    found = loads(needed, (np.array(flow_bytes) * sends).tolist(), starts)
    times = together_ns(found)
    assert (times >= found.alone_ns * (1 - 1e-9)).all()
    busy = found.needed.sum(axis=1)  # a port that works all the time needs the sum
    last = (times + found.start_ns)[sends].max(initial=0.0) - found.start_ns[sends].min(initial=1e9)
    assert not sends.any() or last >= busy.max() * (1 - 1e-9)
    assert together_ns(found.reduced()) == pytest.approx(times)


def test_jain() -> None:
    assert jain(np.array([0.5, 0.5])) == 1
    assert jain(np.array([1.0, 0.0])) == pytest.approx(0.5)


def test_a_job_alone_has_the_time_of_compare() -> None:
    plane = small_plane(4, 4, 2)
    mix = mix_of(plane.adapters, [placed("a", [0, 5, 10, 15, 1, 6])], 0)
    for seed in range(5):
        found = drawn_loads(plane, mix, seed)
        assert found.alone_ns[0] == pytest.approx(drawn(plane, mix.messages, seed).time_ns)
    assert even_loads(plane, mix).alone_ns[0] >= line_ns(plane, mix)[0]


@pytest.mark.parametrize("seed", range(12))
def test_rings_have_the_times_of_fair_sharing_flow_by_flow(seed: int) -> None:
    """Where each flow shares at every moment what is left. Rings of equal flows differ little from jobs whose flows
    progress together."""
    plane = small_plane(4, 4, 3)
    order = np.random.default_rng(seed).permutation(16).tolist()
    jobs = [placed("a", order[:6]), placed("b", order[6:11], size_bytes=3 << 20), placed("c", order[11:])]
    mix = mix_of(plane.adapters, jobs, seed)
    flows = hashed_mix(plane, mix, seed).flows
    ports = replace(plane.ports, ack_bytes=0.0)
    exact = max_min_times_ns(ports, flows) + latency_ns(plane.ports, flows)
    expected = [exact[mix.owner == job].max() for job in range(3)]
    assert together_ns(drawn_loads(plane, mix, seed)) == pytest.approx(expected, rel=0.15)
