"""Limits of work and memory, and the defaults of options and verdicts."""

from fabricgen import spread
from fabricgen.simulate.deadlock import Failures, transient_findings
from fabricgen.simulate.deadlock.core import dependencies, peel
from fabricgen.simulate.deadlock.failures import bounces, judge, orbits, sweep, symmetry_search
from fabricgen.simulate.deadlock.failures.failure_sets import Failure
from fabricgen.simulate.deadlock.failures.sample_bound import upper_bound
from fabricgen.simulate.deadlock.failures.verdict import DepthVerdict, FailureSummary
from fabricgen.simulate.deadlock.infiniband import virtual_lanes
from fabricgen.units import listed

MIB = 2**20


def test_memory_stays_small() -> None:
    """In bytes: a pair of failures is one bit, a word 8 bytes, and a dependency of virtual lanes 8 bytes."""
    assert bounces._MOST_FAILURES**2 // 8 == 128 * MIB
    assert bounces._SWEPT_AT_ONCE * 8 == 32 * MIB
    assert virtual_lanes._MERGE_AT * 8 == 32 * MIB
    assert dependencies._WORDS_PER_PASS * 64 == 512
    assert peel._CHANNELS_PER_PASS == 4096


def test_work_is_limited() -> None:
    assert (judge.MOST_SETS, judge.MOST_WORK, judge.MOST_CONVERGED_WORK) == (50_000, 1024**3, MIB)
    assert judge.MOST_ORBITS == 2_000
    assert (judge.SAMPLE, judge._FEW_SETS) == (5_000, 8)
    assert (bounces._MOST_WORK, bounces._ROUNDS) == (8 * 1024**3, 8)
    assert (orbits._MOST_WORK, orbits._MOST_MISSES, orbits._MOST_SYMMETRIES) == (64 * MIB, 8, 24)
    assert (symmetry_search._MOST_WORK, symmetry_search._TRIES) == (16 * MIB, 4)
    assert peel._STARTS == 1024
    assert (sweep._BATCH, spread._CONNECT_TIMEOUT_S) == (256, 10)


def test_flags_of_verdicts_are_distinct_bits() -> None:
    assert (sweep.CYCLIC, sweep.DISCONNECTED, sweep.AMBIGUOUS) == (0b001, 0b010, 0b100)


def test_defaults() -> None:
    """Without options nothing fails, and a failure of links does not include a switch."""
    nothing = Failures()
    assert (nothing.depth, nothing.switches, nothing.seed) == (0, False, 0)
    assert Failure("a link", (0, 1)).switch == -1
    verdict = DepthVerdict(FailureSummary(1, 2), "each")
    assert (verdict.ambiguous_sets, verdict.is_planned) == (0, False)
    assert transient_findings.TTL == 64
    assert upper_bound(0, 58) > 0.05 > upper_bound(0, 59), "59 draws without a hit: at most 5 %, with 95 % confidence"


def test_lists_of_names_show_five() -> None:
    assert listed(list("abcde")) == "a, b, c, d, e"
    assert listed(list("abcdef")) == "a, b, c, d, e and 1 more"
