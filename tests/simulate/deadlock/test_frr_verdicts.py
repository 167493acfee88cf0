"""Verdicts on the states that real FRR reached: the same cycles, and no others."""

import json
from pathlib import Path

import pytest

from fabricgen.simulate.deadlock import analyse_deadlock, deadlock_findings
from tests.bgp_fabric import from_case, open_configs
from tests.frr_cases import CASES
from tests.shared_material import shared


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str, tmp_path: Path) -> None:
    case = json.loads(shared("data", "bgp", f"{name}.json").read_text())
    bundle = open_configs(from_case(case).configs(), tmp_path)
    [result] = analyse_deadlock(bundle)
    expected = case["verdict"]["cycle"]
    assert result.verdict == ("cyclic" if expected else "free")
    assert result.failures.unreachable_sets == int(case["verdict"]["unreachable_hosts"] > 0)
    assert result.claim == ("possible" if "expect_any_of" in case else "proved")
    findings = deadlock_findings(bundle, [result])
    if not expected:
        assert not [finding for finding in findings if finding.code == "FG601"]
        return
    assert [cycle.priority for cycle in result.cycles] == [3, 4]
    cycle = result.cycles[0]
    assert len(cycle.hops) == len(expected)
    _check_cycle(case, cycle.hops, cycle.witnesses)
    [finding] = [finding for finding in findings if finding.code == "FG601"]
    assert finding.location is not None
    assert finding.location.line > 1
    assert len(finding.related) >= len(expected)
    for switch, port in cycle.hops:
        assert f"{switch} {port}" in finding.message


def _check_cycle(case: dict, hops: tuple[tuple[str, str], ...], witnesses: tuple[str, ...]) -> None:
    """Every hop's witness is forwarded over it and over the next hop by FRR's own sets."""
    switches = [switch for switch, _ in hops]
    for index, prefix in enumerate(witnesses):
        here, middle, beyond = (switches[(index + step) % len(switches)] for step in range(3))
        assert middle in case["expect"][here][prefix]
        assert beyond in case["expect"][middle][prefix]
