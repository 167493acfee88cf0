"""ACKs, CNPs and reports of losses: packets that travel, wait and are lost as others."""

from typing import Any

import pytest

from tests.simulate.packets.running import finished, outcome_of, result, star
from tests.simulate.packets.test_realistic import ECN, dcqcn, triangle

from fabricgen.simulate.packets.findings import packet_findings  # isort: skip (compiled code comes after its cache)

WIRE_NS, CABLE_NS = 83.84, 1000


def test_a_loss_is_reported_after_the_delay_of_the_path() -> None:
    """Three packets meet at a port whose queue holds one. The third is lost when it arrives; its sender's timer starts
    when the report has crossed both cables, and the packet then travels alone."""
    tree = star(3, 1000, switch_defaults={"egress_pool_bytes": 1 << 20, "egress_static_bytes": 1048})
    one, two, three = (flow.fct_ns or 0 for flow in result(tree).flows)
    assert three == pytest.approx(WIRE_NS + CABLE_NS + 2 * CABLE_NS + 1_000_000 + one, abs=1)
    assert two == pytest.approx(one + WIRE_NS, abs=1)
    tree["links"][2]["delay_ns"] += 5000  # it arrives later than the others now
    assert result(tree).drops == 0


def test_losses_of_a_dead_link_are_not_an_overflow() -> None:
    run = result(triangle([{"a": "a", "b": "b", "at_ns": 50_000}]))
    assert run.drops == sum(loss.drops for loss in run.lost) > 0
    assert {port for loss in run.lost for port in [loss.port]} <= {("a", "b"), ("b", "a")}
    assert not run.dropped
    assert "FG758" in {finding.code for finding in packet_findings(run)}
    assert not {"FG750", "FG751"} & {finding.code for finding in packet_findings(run)}


def test_drops_of_the_watchdog_are_not_an_overflow() -> None:
    watchdog = {"detection_ns": 2_000_000, "restoration_ns": 2_000_000, "poll_ns": 1_000_000, "action": "drop"}
    tree = star(1, 1_000_000, switch_defaults={"watchdog": watchdog})
    tree["storms"] = [{"host": "h1", "at_ns": 0, "until_ns": 15_000_000}]
    run = result({**tree, "stop_ns": 14_000_000})
    assert run.discarded == run.drops > 0
    codes = {finding.code: finding.message for finding in packet_findings(run)}
    assert f"dropped {run.discarded} packets" in codes["FG641"]
    assert "FG750" not in codes


def sent(tree: dict[str, Any], priority: int) -> int:
    """The packets of a class that left the queues of switches."""
    network = finished(tree).network
    return int(network.run.queues["sent"][:, network.classes.index(priority)].sum())


def test_cnps_and_acks_wait_in_the_queue_of_their_class() -> None:
    tree = star(4, 400_000, transport=dcqcn(cnp_interval_ns=4000), switch_defaults=ECN)
    data = 4 * 400
    assert sent(tree, 3) == data
    both = sent(tree, 6)
    tree["transport"]["ack_lossless"] = True
    assert sent(tree, 3) == 2 * data
    assert 0 < sent(tree, 6) == both - data


def test_cnps_of_a_paused_class_come_late() -> None:
    """The pauses of a class stop its CNPs, so the senders are slowed down later, and queues grow."""

    def longest(lossless: bool) -> int:
        tree = star(4, 2_000_000, transport=dcqcn(cnp_interval_ns=4000), switch_defaults=ECN)
        tree["classes"] = [{"priority": 6, "lossless": lossless}]
        tree["storms"] = [{"host": f"h{number}", "at_ns": 0, "until_ns": 200_000} for number in range(4)]
        return result(tree).max_queue_bytes

    assert longest(lossless=True) > 1.5 * longest(lossless=False)


def test_lost_cnps_do_not_slow_a_sender_down() -> None:
    """The switch has no room for CNPs at the port of the receiver, so the queue grows as it does without DCQCN."""
    tree = star(4, 2_000_000, transport={**dcqcn(), "ack_lossless": True}, switch_defaults=ECN)
    arriving = outcome_of(tree)
    tree["links"][-1]["b_buffers"] = {"static_threshold_bytes": 1, "pg_reserve_bytes": 0}
    lost = outcome_of(tree)
    assert [group.drops for group in lost.groups if group.priority == 6] == [lost.drops]
    assert lost.drops > arriving.drops == 0
    assert lost.max_queue_bytes > 1.5 * arriving.max_queue_bytes
