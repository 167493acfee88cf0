"""Trimming: a packet for which there is no room arrives without payload, and is repeated at once."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.results import PacketsResult
from fabricgen.simulate.scenario import check_scenario
from tests.simulate.packets.running import result, star
from tests.simulate.packets.test_scenario_file import written

TIMEOUT_NS = 1_000_000
SMALL = {
    "buffer_bytes": 400_000, "pg_reserve_bytes": 0, "pg_headroom_bytes": 0, "alpha": 8, "trims": True,
    "egress_pool_bytes": 300_000, "egress_static_bytes": 100_000,
}  # fmt: skip


def incast(recovery: str = "in-order-placement", senders: int = 8, **more: Any) -> dict[str, Any]:
    """Hosts send to one over a small lossy buffer that trims."""
    given: dict[str, Any] = {
        "classes": [{"priority": 3, "lossless": False}],
        "switch_defaults": SMALL,
        "transport": {"ack_lossless": True, "recovery": recovery},
        "trimming": {"bytes": 100, "priority": 6},
    }  # fmt: skip
    return star(senders, 200_000, **{**given, **more})


def last_ns(found: PacketsResult) -> int:
    """When all flows are complete."""
    assert found.collective_ns is not None
    return found.collective_ns


def test_an_incast_completes_without_timeouts() -> None:
    """1.6 MB over 100 Gb/s take 134 us; senders without congestion control trim most packets, whose headers take as
    long again. Each trimmed packet is repeated once."""
    found = result(incast())
    assert found.drops == 0 < found.trimmed
    assert found.retransmissions == found.trimmed
    assert last_ns(found) < 0.4 * TIMEOUT_NS
    dropping = incast()
    del dropping["trimming"]
    lossy = result(dropping)
    assert lossy.trimmed == 0 < lossy.drops
    assert last_ns(lossy) > TIMEOUT_NS


def test_lost_headers_are_repeated_after_a_timeout() -> None:
    """Forty hosts trim faster than the link sends headers: their queue overflows, and the timer repeats their data."""
    flows = [{"src": f"h{host}", "dst": "h40", "bytes": 20_000, "start_ns": 0} for host in range(40)]
    found = result(incast(senders=40, flows=flows, switch_defaults={**SMALL, "egress_static_bytes": 15_000}))
    assert found.trimmed > 0 < found.drops
    assert found.finished == 40
    assert last_ns(found) > TIMEOUT_NS


def test_adapters_that_go_back_repeat_more() -> None:
    """A sender that goes back repeats more than what was trimmed, and all flows complete nevertheless."""
    placed, back = (result(incast(recovery, 2)) for recovery in ("in-order-placement", "go-back-n"))
    assert placed.finished == back.finished == 2
    assert placed.retransmissions == placed.trimmed
    assert back.retransmissions > 1.5 * back.trimmed


def test_small_packets_stay_whole() -> None:
    """A switch that trims to more than a full packet only moves packets to the other class; some have no room there."""
    found = result(incast(trimming={"bytes": 2000, "priority": 6}))
    assert found.trimmed > found.drops == found.retransmissions


@pytest.mark.parametrize("key", ["compat", "credits"])
def test_rules_without_trimming(tmp_path: Path, key: str) -> None:
    tree = {**incast("go-back-n"), key: "hpcc" if key == "compat" else {"buffer_bytes": 100_000}}
    assert "trimming" in {one.path for one in check_scenario(written(tmp_path, tree))}
