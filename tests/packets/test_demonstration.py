"""A cycle that is proved from files, tried packet by packet."""

import json
from pathlib import Path
from typing import Any

from fabricgen.simulate.deadlock import analyse_deadlock
from tests.bgp_fabric import Fabric, open_configs
from tests.conftest import Cli
from tests.packets.running import prepare

prepare(print)

from fabricgen.simulate.packets.demonstration import demonstrate  # noqa: E402 (compiled code comes after its cache)


def ring_of_five(**tables: Any) -> dict[str, dict[str, Any]]:
    """Five switches in a circle with a prefix each: routes of two hops go both ways around."""
    names = [f"r{number}" for number in range(5)]
    fabric = Fabric(
        asn={name: 65000 + number for number, name in enumerate(names)},
        links=[(names[number], names[(number + 1) % 5]) for number in range(5)],
        prefixes={f"10.0.{number}.0/24": name for number, name in enumerate(names)},
    )
    configs = fabric.configs()
    for config in configs.values():
        config |= tables
    return configs


def test_the_cycle_freezes_and_the_run_says_where(tmp_path: Path) -> None:
    bundle = open_configs(ring_of_five(), tmp_path)
    [verdict] = analyse_deadlock(bundle)
    result, finding = demonstrate(bundle, verdict)
    assert result.freeze is not None
    assert {name for name, _ in result.freeze.cycle} == {f"r{number}" for number in range(5)}
    assert set(result.freeze.cycle) == set(verdict.cycles[0].hops)
    assert result.freeze.over_ns is None
    assert (finding.code, finding.confidence.value, result.drops) == ("FG642", "observed", 0)


def test_the_watchdog_ends_it(tmp_path: Path) -> None:
    ports = ("Ethernet0", "Ethernet4")
    watchdog = {port: {"detection_time": "200", "restoration_time": "200", "action": "drop"} for port in ports}
    bundle = open_configs(ring_of_five(PFC_WD=watchdog), tmp_path)
    [verdict] = analyse_deadlock(bundle)
    result, finding = demonstrate(bundle, verdict)
    assert result.freeze is not None
    assert result.freeze.over_ns is not None
    assert 200_000_000 <= result.storms[0].detected_ns <= 400_000_000
    assert "the watchdog ended it" in finding.message


def test_command_tries_the_cycle(cli: Cli, tmp_path: Path) -> None:
    open_configs(ring_of_five(), tmp_path)
    told = cli("-q", "simulate", "deadlock", str(tmp_path), "--demonstrate", "--format", "json")
    assert told.code == 1
    content = json.loads(told.out)
    assert content["deadlock"]["verdict"] == "cyclic"
    assert content["packets"]["frozen"] is True
    assert {"FG601", "FG642"} <= {finding["code"] for finding in content["findings"]}
