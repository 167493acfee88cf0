"""The mechanisms of a run without compat, each compared with arithmetic by hand."""

from typing import Any

import numpy as np
import pytest

from fabricgen.results import PacketsResult
from tests.simulate.packets.running import finished, result, ring, star

MTU, PAUSE = 1048, 64
QUANTA_NS = 65_535 * 512 / 100  # the longest pause at 100 Gb/s


def bound_bytes(delay_ns: int, gbps: float, response_ns: int = 0) -> float:
    """The bytes that arrive after the decision to pause: round trip and response at line rate, a packet under way at
    either end, the pause frame."""
    return (2 * delay_ns + response_ns) * gbps / 8 + 2 * MTU + PAUSE


@pytest.mark.parametrize(("delay_ns", "gbps", "response_ns"), [(1000, 100, 0), (500, 100, 0), (200, 400, 0),
                                                               (1000, 100, 400), (300, 400, 180)])  # fmt: skip
def test_headroom_bound_is_tight(delay_ns: int, gbps: int, response_ns: int) -> None:
    bound = bound_bytes(delay_ns, gbps, response_ns)

    def drops(share: float) -> int:
        tree = star(8, switch_defaults={"pg_headroom_bytes": int(bound * share)}, pfc={"response_ns": response_ns})
        tree["links"] = [{**link, "speed_gbps": gbps, "delay_ns": delay_ns} for link in tree["links"]]
        return result(tree).drops

    assert drops(1.01) == 0
    assert drops(0.95) > 0


@pytest.mark.parametrize(("senders", "alpha"), [(8, 0.125), (3, 1.0), (1, 2.0), (16, 0.0625)])
def test_groups_settle_at_the_dynamic_threshold(senders: int, alpha: float) -> None:
    """T = aB'/(1+aN). The receiver pauses its switch, so the groups fill up and stay full."""
    tree = star(
        senders,
        4_000_000,
        switch_defaults={"alpha": alpha},
        storms=[{"host": f"h{senders}", "at_ns": 0, "until_ns": 10**9}],
    )
    tree["stop_ns"] = 3_000_000
    network = finished(tree).network
    limit = int(network.run.pools["limit"][-1])
    threshold = alpha * limit / (1 + alpha * senders)
    into_switch = [port for port, end in enumerate(network.ports) if end[0] == "s" and end[1] != f"h{senders}"]
    shared = network.run.groups["used"][into_switch, 0] - 4096
    assert shared == pytest.approx(threshold, abs=MTU)


def test_a_pause_ends_after_its_quanta() -> None:
    """A pause that is not repeated lasts for 65,535 quanta of 512 bit times."""
    storm = {"host": "h1", "at_ns": 0, "until_ns": 5_000_000}
    alone = result(star(1, 100_000)).flows[0].fct_ns
    once = result(star(1, 100_000, storms=[storm], pfc={"refresh_ns": 10_000_000}))
    assert alone is not None
    assert once.flows[0].fct_ns is not None
    pause_at_ns = PAUSE * 8 / 100 + 1000
    packet_at_ns = 2 * MTU * 8 / 100 + 1000  # it would have left the switch then
    assert once.flows[0].fct_ns - alone == pytest.approx(pause_at_ns + QUANTA_NS - packet_at_ns, abs=MTU * 8 / 100)
    assert sum(kind for _, _, kind in once.pfc_frames) == 1


def test_pause_frames_of_a_busy_nic_keep_their_order() -> None:
    """h1 receives faster than its link sends, with a buffer of no byte: while its NIC sends a large packet, a pause and
    the resume after it wait."""
    tree = star(1, 4_000, transport={"payload_bytes": 8_000})
    tree["nodes"][1].update(drain_gbps=1000, receive_buffer_bytes=0)
    tree["flows"].append({"src": "h1", "dst": "h0", "bytes": 800_000, "start_ns": 0})
    run = result(tree)
    assert [(node, pauses) for _, node, pauses in run.pfc_frames] == [("s", 1), ("s", 0)]
    assert run.finished == 2


def test_a_repeated_pause_lasts() -> None:
    storm = {"host": "h1", "at_ns": 0, "until_ns": 2_000_000}
    paused = result(star(1, 100_000, storms=[storm]))
    assert paused.flows[0].fct_ns is not None
    assert 2_000_000 < paused.flows[0].fct_ns < 2_050_000
    assert sum(kind for _, _, kind in paused.pfc_frames) == int(2_000_000 / (QUANTA_NS / 2)) + 1


def test_pauses_take_effect_after_the_response_time() -> None:
    quick, slow = (star(8, pfc={"response_ns": time}) for time in (0, 500))
    first, second = (int(finished(tree).network.run.holds["headroom_most"].max()) for tree in (quick, slow))
    assert second - first == pytest.approx(500 * 100 / 8, abs=2 * MTU)


def test_shared_headroom_pool() -> None:
    """Eight groups pause at about the same time and need 27 kB each."""
    need = int(bound_bytes(1000, 100) * 1.01)

    def drops(pool: int) -> int:
        return result(star(8, switch_defaults={"pg_headroom_bytes": need, "headroom_pool_bytes": pool})).drops

    assert drops(8 * need) == 0
    assert drops(4 * need) > 0


def test_dedicated_headroom_reduces_the_pool() -> None:
    own = finished(star(8)).network.run.pools["limit"][-1]
    shared = finished(star(8, switch_defaults={"headroom_pool_bytes": 100_000})).network.run.pools["limit"][-1]
    assert own == 2**20 - 9 * (37_500 + 4096)
    assert shared == 2**20 - 100_000 - 9 * 4096


def test_xon_is_an_offset_below_the_limit_or_an_absolute_size() -> None:
    """SAI: resume when usage <= max(XON_TH, limit - XON_OFFSET_TH). A large offset means fewer, longer pauses; with an
    XON size above it the offset has no effect."""

    def pauses(offset: int, xon: int) -> int:
        tree = star(2, 4_000_000, switch_defaults={"xon_offset_bytes": offset, "xon_bytes": xon})
        return sum(kind for _, _, kind in result(tree).pfc_frames)

    assert pauses(60_000, 0) < pauses(3072, 0) / 2
    assert pauses(60_000, 110_000) > pauses(3072, 0)


def dcqcn(**more: Any) -> dict[str, Any]:
    return {
        "congestion_control": "dcqcn",
        "dcqcn": {
            "g": 0.00390625, "alpha_timer_ns": 55_000, "rate_decrease_interval_ns": 50_000, "increase_timer_ns": 55_000,
            "fast_recovery_times": 5, "rate_ai_mbps": 40, "rate_hai_mbps": 400, "min_rate_mbps": 100,
            "byte_counter_bytes": 10_000_000, "cnp_interval_ns": 50_000, **more,
        },
    }  # fmt: skip


ECN = {"ecn": {"kmin_bytes": 40_000, "kmax_bytes": 160_000, "pmax": 0.1}, "buffer_bytes": 16 << 20}


def test_dcqcn_shares_fairly_and_fills_the_link() -> None:
    """Four long flows: over the last 15 ms each has about a quarter of the payload rate."""
    tree = star(4, 400_000_000, transport=dcqcn(), switch_defaults=ECN)
    half, whole = (finished({**tree, "stop_ns": stop}).network.run.flows["acked"] for stop in (25_000_000, 40_000_000))
    rates = (whole - half) * 1000 * 8 / 15_000_000  # Gb/s of payload
    line = 100 * 1000 / 1048
    assert rates.sum() > 0.85 * line
    assert rates.sum() ** 2 / (len(rates) * (rates**2).sum()) > 0.95  # Jain's index


def test_notifications_have_a_minimum_distance() -> None:
    """A flow is slowed down at most once per interval, for any number of marked packets."""
    tree = star(4, 4_000_000, transport=dcqcn(cnp_interval_ns=200_000), switch_defaults=ECN)
    paced = finished(tree).network.run
    dense = finished(star(4, 4_000_000, transport=dcqcn(cnp_interval_ns=0), switch_defaults=ECN)).network.run
    assert paced.flows["completion"].max() < dense.flows["completion"].max()


def test_byte_counter_speeds_up_recovery() -> None:
    def last(count: int) -> int:
        tree = star(
            4, 8_000_000, transport=dcqcn(byte_counter_bytes=count, increase_timer_ns=5_000_000), switch_defaults=ECN
        )
        return int(finished(tree).network.run.flows["completion"].max())

    assert last(150_000) < 0.9 * last(0)


def test_watchdog_breaks_a_freeze_and_restores() -> None:
    watchdog = {"detection_ns": 200_000_000, "restoration_ns": 200_000_000, "poll_ns": 100_000_000, "action": "drop"}
    tree = ring(2_000_000, switch_defaults={"watchdog": watchdog})
    tree["stop_ns"] = 2_000_000_000
    run = result(tree)
    assert run.freeze is not None
    assert run.freeze.time_ns < 100_000
    (first, *_) = run.storms
    assert 200_000_000 <= first.detected_ns <= 300_000_000 + 100_000
    assert first.restored_ns is not None
    assert first.restored_ns - first.detected_ns >= 200_000_000
    assert run.drops > 0
    assert run.finished == 3
    assert run.freeze.over_ns == pytest.approx(first.detected_ns, abs=1_100_000)


def test_a_watchdog_that_forwards_does_not_drop() -> None:
    """A broken NIC pauses its switch: forwarding ignores the pauses, dropping discards the traffic."""
    runs = {}
    for action in ("drop", "forward", "alert"):
        watchdog = {"detection_ns": 2_000_000, "restoration_ns": 2_000_000, "poll_ns": 1_000_000, "action": action}
        tree = star(1, 1_000_000, switch_defaults={"watchdog": watchdog})
        tree["storms"] = [{"host": "h1", "at_ns": 0, "until_ns": 15_000_000}]
        tree["stop_ns"] = 14_000_000
        runs[action] = result(tree)
    assert [runs[action].drops > 0 for action in runs] == [True, False, False]
    assert [runs[action].finished for action in runs] == [0, 1, 0]
    assert all(run.storms for run in runs.values())


def test_slow_receiver_is_the_root_of_a_storm() -> None:
    tree = star(2, 1_000_000)
    tree["nodes"][2]["drain_gbps"] = 10
    run = result(tree)
    assert run.drops == 0
    (root,) = (root for root in run.roots if root.kind == "slow-receiver")
    assert root.port == ("s", "h2")
    assert run.collective_ns is not None
    assert 2 * 1_048_000 * 8 / run.collective_ns == pytest.approx(10, rel=0.07)


def with_classes(*classes: dict[str, Any]) -> dict[str, Any]:
    """One sender per class and one receiver."""
    tree = star(len(classes), 4_000_000, classes=list(classes), switch_defaults={"buffer_bytes": 4 << 20})
    for flow, traffic in zip(tree["flows"], classes, strict=True):
        flow["priority"] = traffic["priority"]
    return tree


def test_dwrr_shares_by_weight() -> None:
    tree = with_classes({"priority": 3, "weight": 3}, {"priority": 4, "weight": 1})
    tree["stop_ns"] = 300_000
    first, second = finished(tree).network.run.flows["acked"].tolist()
    assert first / second == pytest.approx(3, rel=0.1)


def test_strict_classes_send_first() -> None:
    tree = with_classes({"priority": 3}, {"priority": 6, "scheduler": "strict"})
    run = result(tree)
    alone = result(star(1, 4_000_000)).flows[0].fct_ns
    assert alone is not None
    assert run.flows[1].fct_ns == pytest.approx(alone, rel=0.01)
    assert run.flows[0].fct_ns == pytest.approx(2 * alone, rel=0.02)


def test_priorities_pause_independently() -> None:
    """An incast on one priority does not pause the other."""
    tree = star(5, 2_000_000, classes=[{"priority": 3}, {"priority": 4}], switch_defaults={"buffer_bytes": 4 << 20})
    tree["nodes"].append({"name": "other", "kind": "host"})
    tree["links"].append({"a": "other", "b": "s", "speed_gbps": 100, "delay_ns": 1000})
    tree["routes"].append({"at": "s", "to": "other", "via": "other"})
    tree["flows"].append({"src": "h0", "dst": "other", "bytes": 1_000_000, "start_ns": 100_000, "priority": 4})
    run = result(tree)
    assert not run.flows[-1].victim
    tree["flows"][-1]["priority"] = 3
    assert result(tree).flows[-1].victim


def test_lossy_priority_drops_instead_of_pausing() -> None:
    tree = star(2, 300_000, classes=[{"priority": 1, "lossless": False}], switch_defaults={"buffer_bytes": 400_000})
    tree["flows"] = [{**flow, "priority": 1} for flow in tree["flows"]]
    run = result(tree)
    assert run.drops > 0
    assert not run.pfc_frames
    assert run.finished == 2
    assert run.retransmissions > 0


def triangle(failures: list[dict[str, Any]]) -> dict[str, Any]:
    """Two hosts on two switches, with a detour over a third one."""
    tree = star(1, 2_000_000, failures=failures)
    tree["nodes"] = [{"name": name, "kind": "host"} for name in ("h0", "h1")]
    tree["nodes"] += [{"name": name, "kind": "switch"} for name in ("a", "b", "c")]
    ends = [("h0", "a"), ("h1", "b"), ("a", "b"), ("a", "c"), ("c", "b")]
    tree["links"] = [{"a": one, "b": other, "speed_gbps": 100, "delay_ns": 1000} for one, other in ends]
    hops = [
        ("a", "h1", "b"),
        ("b", "h1", "h1"),
        ("b", "h0", "a"),
        ("a", "h0", "h0"),
        ("c", "h1", "b"),
        ("c", "h0", "a"),
    ]
    tree["routes"] = [{"at": at, "to": to, "via": via} for at, to, via in hops]
    return tree


def test_traffic_avoids_a_failed_link() -> None:
    around = [{"at": "a", "to": "h1", "via": "c"}, {"at": "b", "to": "h0", "via": "c"}]
    run = result(triangle([{"a": "a", "b": "b", "at_ns": 50_000, "routes": around}]))
    assert run.drops > 0  # what was on the cable
    assert run.finished == 1
    lost = result(triangle([{"a": "a", "b": "b", "at_ns": 50_000}]))
    assert lost.finished == 0
    assert result(triangle([])).drops == 0


DOWN_NS = 300_000


def slow_target(**failure: int) -> PacketsResult:
    """A flow over two switches to a host that takes 10 Gb/s, so both switches pause. Their link fails."""
    tree = triangle([{"a": "a", "b": "b", "at_ns": DOWN_NS, **failure}])
    next(node for node in tree["nodes"] if node["name"] == "h1")["drain_gbps"] = 10
    return result({**tree, "stop_ns": 3_000_000})


def test_a_paused_port_that_goes_down_gives_its_buffer_back() -> None:
    """Its queue is emptied, so the sender behind it is resumed and not paused for as long as the link is down."""
    run = slow_target()
    before = [kind for at, node, kind in run.pfc_frames if node == "h0" and at < DOWN_NS]
    after = [(at - DOWN_NS, kind) for at, node, kind in run.pfc_frames if node == "h0" and at >= DOWN_NS]
    assert before[-1] == 1
    assert [kind for _, kind in after] == [0]
    assert after[0][0] <= 2 * 84 + 6 + 1000  # the packets that both ports send, the frame, and the cable
    assert not [node for at, node, _ in run.pfc_frames if node == "a" and at > DOWN_NS]


@pytest.mark.parametrize("down_for_ns", [3_000, 400_000])
def test_a_group_that_is_still_full_pauses_when_the_link_comes_up(down_for_ns: int) -> None:
    """Switch b passes 10 Gb/s on: 3.75 kB in 3 us, and more than its group holds in 400 us. Repetitions of the pause
    that were due meanwhile are not sent. The far end sends until the pause arrives, and the headroom still holds what
    came before the first pause: a short flap loses lossless packets, a long one does not."""
    run = slow_target(up_at_ns=DOWN_NS + down_for_ns)
    up_ns = DOWN_NS + down_for_ns
    frames = [(at - up_ns, kind) for at, node, kind in run.pfc_frames if node == "a" and at >= DOWN_NS]
    assert frames[0][1] == 1
    at_once = frames[0] == (1005, 1)  # 64 bytes and the cable
    assert at_once == (down_for_ns == 3_000)
    assert [group.port for group in run.dropped] == [("b", "a")] * at_once


def test_pause_before_mark() -> None:
    """With Kmin above the largest queue that the threshold allows, senders are paused and never slowed down."""
    high, low = (
        result(star(2, 2_000_000, transport=dcqcn(), switch_defaults={
            "ecn": {"kmin_bytes": kmin, "kmax_bytes": 2 * kmin, "pmax": 0.5}})) for kmin in (400_000, 5_000)
    )  # fmt: skip
    assert sum(group.early_pauses for group in high.groups) == sum(kind for _, _, kind in high.pfc_frames) > 0
    assert sum(group.early_pauses for group in low.groups) == 0


def test_equal_seeds_give_equal_runs() -> None:
    tree = star(4, 1_000_000, transport=dcqcn(), switch_defaults=ECN)
    runs = [finished(tree, seed).network.run.flows["completion"].tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_random_marks_are_uniform() -> None:
    """Halfway between Kmin and Kmax, half of Pmax is marked."""
    tree = star(2, 4_000_000, switch_defaults={"ecn": {"kmin_bytes": 0, "kmax_bytes": 10_000_000, "pmax": 1.0}})
    run = finished(tree).network.run
    assert np.isclose(int(run.holds["marked"].sum()) / 8000, int(run.queues["most"].max()) / 1e7, rtol=0.25)
