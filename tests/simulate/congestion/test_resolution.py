"""Flows of a few packets near the limit of victims: the verdict names them, because their packets' order decides."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.agreement import agreement
from benchmarks.random_bundles import random_case
from fabricgen.bundle.read import open_bundle
from fabricgen.simulate.congestion.analysis import CongestionOptions, analyse_congestion
from fabricgen.simulate.congestion.resolution import FEW, undecided, undecided_words

SEED = 34  # all-to-all of 256 KiB: six packets for each flow, and five victims that a fluid does not have


def is_undecided(factor: float, packets: int) -> bool:
    return bool(undecided(np.array([factor]), np.array([packets]))[0])


@pytest.mark.parametrize(
    ("factor", "packets", "expected"),
    [(1.29, 6, True), (1.11, 6, True), (1.31, 6, False), (1.09, 6, False), (1.2, FEW, True), (1.2, FEW + 1, False)],
)
def test_half_a_packet_around_the_limit(factor: float, packets: int, expected: bool) -> None:
    assert is_undecided(factor, packets) == expected


@given(st.floats(0.5, 3), st.integers(1, FEW - 1))
def test_more_packets_decide_more(factor: float, packets: int) -> None:
    assert is_undecided(factor, packets) or not is_undecided(factor, packets + 1)


def test_words_count_the_flows_and_their_packets() -> None:
    packets = np.array([4.0, 6.0, 9.0])
    assert undecided_words(np.array([False] * 3), packets) == ""
    assert "2 flows of at most 6 packets" in undecided_words(np.array([True, True, False]), packets)


def test_packets_decide_where_nothing_pauses(tmp_path: Path) -> None:
    """Each flow of a few packets is followed packet by packet, so both simulators have the same victims."""
    found = agreement(SEED, tmp_path)
    assert not found.differences
    assert found.undecided == 0
    case = random_case(SEED, tmp_path / "again")
    options = CongestionOptions(pattern=case.pattern, size_bytes=case.size_bytes, seed=case.seed)
    [result] = analyse_congestion(open_bundle([case.bundle]), options)
    assert "the order of packets" not in result.reason
