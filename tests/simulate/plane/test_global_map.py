"""PORT_QOS_MAP|global: all simulators and the rules apply it in the same way."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.simulate.congestion.analysis import CongestionOptions, analyse_congestion
from fabricgen.simulate.deadlock import analyse_deadlock
from tests.conftest import Cli
from tests.simulate.packets.running import prepare

prepare(print)

from fabricgen.simulate.packets.analysis import simulate_bundle  # noqa: E402 (compiled code comes after its cache)

Config = dict[str, Any]


def edit(bundle: Path, change: Callable[[Config], None]) -> Bundle:
    for file in (bundle / "sonic").glob("*/config_db.json"):
        config = json.loads(file.read_text())
        change(config)
        file.write_text(json.dumps(config))
    return open_bundle([bundle])


def to_global(config: Config) -> None:
    """The map of all ports moves to the row of the switch."""
    maps = {row.pop("dscp_to_tc_map") for row in config["PORT_QOS_MAP"].values()}
    config["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": maps.pop()}
    assert not maps


def to_class_0(config: Config) -> None:
    """The map of the switch sends all packets to traffic class 0."""
    to_global(config)
    config["DSCP_TO_TC_MAP"]["ZERO"] = {str(dscp): "0" for dscp in range(64)}
    config["PORT_QOS_MAP"]["global"]["dscp_to_tc_map"] = "ZERO"


def small_pools(config: Config) -> None:
    """Groups pause as soon as two senders share a port, and queues do not mark."""
    for row in config["BUFFER_PROFILE"].values():
        if "xoff" in row:
            row["dynamic_th"] = "-8"
    for row in config["WRED_PROFILE"].values():
        row["ecn"] = "ecn_none"


def packets(bundle: Bundle) -> Any:
    [run] = simulate_bundle(bundle, "incast", 2 << 20)
    return run.result


def deadlock(bundle: Bundle) -> Any:
    return [
        (one.verdict, one.claim, one.priorities, one.channels, one.dependencies) for one in analyse_deadlock(bundle)
    ]


def congestion(bundle: Bundle) -> Any:
    [result] = analyse_congestion(bundle, CongestionOptions("incast", 1 << 24))
    return replace(result, trees=())


def rules(cli: Cli, bundle: Path) -> list[str]:
    outcome = cli("validate", bundle, "--format", "json", "--ignore", "FG99")
    return sorted({finding["code"] for finding in json.loads(outcome.out)["findings"]})


@pytest.mark.parametrize("judged", [deadlock, congestion, packets])
def test_a_map_of_the_switch_serves_its_ports(judged: Callable[[Bundle], Any], bundle: Path) -> None:
    own = judged(edit(bundle, small_pools))
    assert judged(edit(bundle, to_global)) == own


def test_rules_apply_it_as_well(bundle: Path, cli: Cli) -> None:
    (bundle / "manifest.json").unlink()
    before = rules(cli, bundle)
    edit(bundle, to_global)
    assert set(rules(cli, bundle)) == {*before, "FG511"}  # whether it holds at a port depends on the chip


def test_all_follow_a_map_of_the_switch_to_another_class(bundle: Path, cli: Cli) -> None:
    """RoCE packets in priority group 0 are not paused: no simulator may see them on their own priority."""
    before = edit(bundle, small_pools)
    [free] = deadlock(before)
    assert congestion(before).lossless
    assert packets(before).pfc_frames
    (bundle / "manifest.json").unlink()
    rules_before = rules(cli, bundle)
    after = edit(bundle, to_class_0)
    assert not congestion(after).lossless
    assert not packets(after).pfc_frames
    assert deadlock(after) != [free]
    assert set(rules(cli, bundle)) > set(rules_before)
