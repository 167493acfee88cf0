"""A cycle that is proved from files, in a packet run."""

import json
from pathlib import Path
from typing import Any

from fabricgen.simulate.deadlock import Failures, analyse_deadlock
from fabricgen.simulate.deadlock.analysis import cycles_of
from fabricgen.vocabulary import Repair
from tests.bgp_fabric import Fabric, open_configs
from tests.conftest import Cli
from tests.simulate.deadlock.test_fabrics import clos
from tests.simulate.packets.running import prepare

prepare(print)

from fabricgen.simulate.demonstration import demonstrate  # noqa: E402 (compiled code comes after its cache)


def ring_of_five(**tables: Any) -> dict[str, dict[str, Any]]:
    """Five switches in a ring with a prefix each: routes of two hops go both ways around."""
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


def test_the_run_ends_when_the_watchdog_has_ended_the_freeze(tmp_path: Path) -> None:
    """The millions of packets of the rest of three seconds would show nothing more."""
    ports = ("Ethernet0", "Ethernet4")
    watchdog = {port: {"detection_time": "200", "restoration_time": "200", "action": "drop"} for port in ports}
    bundle = open_configs(ring_of_five(PFC_WD=watchdog), tmp_path)
    [verdict] = analyse_deadlock(bundle)
    result, _ = demonstrate(bundle, verdict)
    assert result.freeze is not None
    assert result.simulated_ns == result.freeze.over_ns
    assert result.wire_transmissions < 1_000_000


def test_a_run_without_a_freeze_counts_the_cycles(tmp_path: Path) -> None:
    """The verdict is on files with PFC. The run has PFC off, so nothing can freeze. The ring has two cycles, one per
    direction."""
    [verdict] = analyse_deadlock(open_configs(ring_of_five(), tmp_path))
    cycles = list(cycles_of(verdict))
    assert [len(cycle.links) for cycle in cycles] == [5, 5]
    assert not set(cycles[0].links) & set(cycles[1].links)
    configs = ring_of_five()
    for config in configs.values():
        for row in config["PORT_QOS_MAP"].values():
            row.pop("pfc_enable")
    without = open_configs(configs, tmp_path)
    result, finding = demonstrate(without, verdict)
    assert (finding.code, finding.severity.value, result.freeze) == ("FG643", "note", None)
    assert "did not freeze in a packet run of" in finding.message
    assert finding.message.endswith("and neither did 1 other cycle")


def test_the_cycle_after_a_failure_avoids_the_failed_links(tmp_path: Path) -> None:
    """Leaves that forward around two lost links until BGP has settled: no flow of their cycle crosses one of these."""
    bundle = open_configs(clos(4, 2).configs(), tmp_path)
    [verdict] = analyse_deadlock(bundle, failures=Failures(2, repair=Repair.LOCAL))
    [cycle] = cycles_of(verdict)
    lost = {tuple(end.split(":")) for name in cycle.failed.names for end in name.split("--")}
    result, finding = demonstrate(bundle, verdict)
    assert finding.code == "FG642"
    assert result.freeze is not None
    assert not lost & set(result.freeze.cycle)


def test_the_command_runs_the_cycle(cli: Cli, tmp_path: Path) -> None:
    open_configs(ring_of_five(), tmp_path)
    outcome = cli("-q", "simulate", "deadlock", str(tmp_path), "--demonstrate", "--format", "json")
    assert outcome.code == 1
    content = json.loads(outcome.out)
    assert content["deadlock"]["verdict"] == "cyclic"
    assert content["packets"]["frozen"] is True
    assert {"FG601", "FG642"} <= {finding["code"] for finding in content["findings"]}
