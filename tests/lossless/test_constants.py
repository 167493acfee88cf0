"""Numbers of the plan and their sources."""

from fabricgen.inventory import traffic
from fabricgen.lossless import classes, congestion, hosts, plan


def test_classes() -> None:
    """Eight priorities (IEEE 802.1Q); CS7 for the network's own class, CS6 for BGP (RFC 2474: class x 8)."""
    assert list(classes.TRAFFIC_CLASSES) == list(range(8))
    assert (classes.CONTROL_CLASS, classes.CONTROL_DSCP, classes.ROUTING_DSCP) == (7, 7 * 8, 6 * 8)
    assert traffic.LOSSLESS_SHARE_PERCENT == 80


def test_thresholds_of_ecn_are_2_6_and_5_2_us_at_400g() -> None:
    assert congestion.ECN_REFERENCE_MBPS == 400_000
    assert (congestion.REFERENCE_MIN_BYTES, congestion.REFERENCE_MAX_BYTES) == (128 * 1024, 256 * 1024)
    us = [size * 8 / congestion.ECN_REFERENCE_MBPS for size in (131_072, 262_144)]
    assert [round(one, 1) for one in us] == [2.6, 5.2]
    assert congestion.MARK_PROBABILITY_PERCENT == 5


def test_watchdog() -> None:
    """sonic-utilities pfcwd/main.py start_default."""
    assert (congestion.WATCHDOG_STEP_MS, congestion.WATCHDOG_PORTS_PER_STEP) == (200, 32)
    assert (congestion.WATCHDOG_MAX_POLL_MS, congestion.WATCHDOG_MAX_DETECTION_MS) == (1000, 5000)


def test_hosts_and_buffers() -> None:
    """RFC 3168: ECT(0) is binary 10. Alpha is 2 to the power of dynamic_th."""
    assert (hosts.ECT0, hosts.STALL_MS) == (2, 100)
    assert (plan.SMALL_PACKET_PERCENT, plan.DEFAULT_DYNAMIC_TH) == (50, 0)
