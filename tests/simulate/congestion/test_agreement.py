"""The two verbs agree: the same bundle, pattern and hashes in the congestion model and in packets.

`python -m benchmarks.agreement` compares 200 bundles; these are some of them, of all designs, with and without ECN,
with pauses, and with ACKs that wait behind data.
"""

from pathlib import Path

import pytest

from benchmarks.agreement import agreement
from fabricgen.results import CongestionResult, TreeKind, VictimLabel
from fabricgen.simulate.congestion.analysis import analyse_scenario
from fabricgen.simulate.scenario import parse_scenario
from tests.simulate.packets.running import result, star

SEEDS = (7, 25, 45, 49, 57, 87, 96, 104, 120, 163)
ERROR = 0.1  # of a completion time; flows of 16 KiB are a few packets


@pytest.mark.parametrize("seed", SEEDS)
def test_victims_pauses_roots_and_times(seed: int, tmp_path: Path) -> None:
    found = agreement(seed, tmp_path)
    assert not found.differences, found
    assert not found.brief
    assert max(found.errors) < ERROR


def incast_with_a_flow_back(*, acks_wait: bool) -> CongestionResult:
    """Two senders to h2, which itself sends to h3: the ACKs of h3 share the port to h2 with the data. The times are
    those of packets."""
    flows = [("h0", "h2", 1_000_000), ("h1", "h2", 1_000_000), ("h2", "h3", 200_000)]
    tree = star(
        3,
        flows=[{"src": src, "dst": dst, "bytes": size, "start_ns": 0} for src, dst, size in flows],
        transport={"ack_lossless": acks_wait},
        switch_defaults={"buffer_bytes": 16 << 20},
    )
    congestion = analyse_scenario(parse_scenario(tree))
    for its, flow in zip(congestion.flows, result(tree).flows, strict=True):
        assert flow.fct_ns
        assert its.fct_ns == pytest.approx(flow.fct_ns, rel=0.05)
    return congestion


def test_a_late_acknowledgement_makes_a_victim_of_the_port_that_delays_it() -> None:
    late = incast_with_a_flow_back(acks_wait=True)
    assert [flow.label for flow in late.flows] == ["", "", VictimLabel.LATE_ACK]
    assert [(tree.root, tree.kind, tree.victims) for tree in late.trees] == [(("s", "h2"), TreeKind.UNFAIR_SHARE, 1)]


def test_acknowledgements_of_another_class_do_not_wait() -> None:
    assert not incast_with_a_flow_back(acks_wait=False).victims
