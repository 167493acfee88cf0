"""Verdicts after failures, against the same fabric with its ports shut down one set at a time."""

from itertools import combinations
from math import comb
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Severity
from fabricgen.simulate.deadlock import Failures, PlaneDeadlock, analyse_deadlock, deadlock_findings
from fabricgen.simulate.deadlock.failures import judge as judge_module
from fabricgen.simulate.deadlock.failures.failure_sets import FailureSet
from fabricgen.simulate.deadlock.failures.judge import FailureJudge
from fabricgen.simulate.deadlock.failures.sample_bound import upper_bound
from fabricgen.simulate.deadlock.failures.sweep import in_processes
from tests.bgp_fabric import ConfigDbs, Fabric, open_configs
from tests.examples import examples
from tests.simulate.deadlock.grounds import every_link, fat_tree
from tests.simulate.deadlock.test_fabrics import clos, hosts_at, pods, ring


def judged(fabric: Fabric, folder: Path, **options: Any) -> PlaneDeadlock:
    folder.mkdir(parents=True, exist_ok=True)
    [result] = analyse_deadlock(open_configs(fabric.configs(), folder), failures=Failures(**options))
    return result


def shut(fabric: Fabric, gone: tuple[int, ...]) -> ConfigDbs:
    """The files with both ports of these links shut down."""
    configs, ports = fabric.configs(), dict.fromkeys(fabric.asn, 0)
    for number, ends in enumerate(fabric.links):
        for switch in ends:
            if number in gone:
                row = {f"Ethernet{4 * ports[switch]}": {"admin_status": "down"}}
                configs[switch].setdefault("PORT", {}).update(row)
            ports[switch] += 1
    return configs


def one_by_one(fabric: Fabric, depth: int, folder: Path) -> tuple[int, int]:
    """(cyclic, unreachable) sets, each judged from its own files."""
    cyclic = unreachable = 0
    for gone in combinations(range(len(fabric.links)), depth):
        [result] = analyse_deadlock(open_configs(shut(fabric, gone), folder))
        cyclic += result.verdict == "cyclic"
        unreachable += result.failures.unreachable_sets
    return cyclic, unreachable


def distinct(spine: int) -> int:
    return 64000 + spine


@pytest.mark.parametrize(
    ("fabric", "depth", "cyclic", "unreachable"),
    [
        (clos(4, 2), 1, 0, 0),
        (clos(4, 2), 2, 0, 16),
        (clos(4, 2, distinct), 1, 0, 0),
        (clos(4, 2, distinct), 2, 12, 4),
        (clos(8, 4, distinct), 2, 0, 0),
        (clos(8, 4), 3, 0, 0),
        (pods(2, 2, 2, 2), 2, 0, 8),
        (ring(3, 1), 1, 0, 0),
    ],
)
def test_counts(fabric: Fabric, depth: int, cyclic: int, unreachable: int, tmp_path: Path) -> None:
    result = judged(fabric, tmp_path, depth=depth)
    assert result.failures.depth == depth
    assert (result.failures.cyclic_sets, result.failures.unreachable_sets) == (cyclic, unreachable)
    assert result.verdict == ("cyclic" if cyclic else "free")
    assert (result.claim, result.failures.sampled) == ("proved", None)


def test_four_failures_of_8x4_with_distinct_spines_close_a_cycle(tmp_path: Path) -> None:
    """Pairs and triples never do; l0-s0, l0-s1, l1-s2, l1-s3 does."""
    assert judged(clos(8, 4, distinct), tmp_path / "three", depth=3).failures.cyclic_sets == 0
    fabric = clos(8, 4, distinct)
    lost = {("l0", "s0"), ("l0", "s1"), ("l1", "s2"), ("l1", "s3")}
    fabric.links = [link for link in fabric.links if tuple(link) not in lost]
    assert judged(fabric, tmp_path / "four").verdict == "cyclic"


@st.composite
def fabrics(draw: st.DrawFn) -> Fabric:
    """Two or three tiers, with gaps, under any plan of ASNs."""
    low, middle, top = ([f"{tier}{i}" for i in range(draw(st.integers(least, most)))] for tier, least, most in
                        (("l", 2, 4), ("m", 1, 3), ("c", 0, 2)))  # fmt: skip
    possible = [(a, b) for a in low for b in middle] + [(a, b) for a in middle for b in top]
    missing = draw(st.sets(st.sampled_from(possible), max_size=3))
    plan = draw(st.sampled_from(["shared", "distinct", "mixed"]))
    asn = {name: 65100 + draw(st.integers(0, 9)) * int(plan != "shared") for name in low}
    for number, name in enumerate([*middle, *top]):
        tier = 65000 if name in middle else 64000
        asn[name] = tier + {"shared": 0, "distinct": number, "mixed": number % 2}[plan]
    kinds = dict.fromkeys(low, "ToRRouter") if draw(st.booleans()) else {}
    return Fabric(asn, [link for link in possible if link not in missing], hosts_at(low), kinds)


@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(fabrics(), st.integers(1, 2))
def test_proofs_agree_with_one_by_one(tmp_path: Path, fabric: Fabric, depth: int) -> None:
    """Whatever proof covers the sets, the counts are those of each set judged from its own files."""
    tmp_path = Path(mkdtemp(dir=tmp_path))
    base = judged(fabric, tmp_path)
    if base.failures.unreachable_sets or len(fabric.links) < depth or len(fabric.links) > 14:
        return
    summary = judged(fabric, tmp_path, depth=depth).failures
    assert (summary.cyclic_sets, summary.unreachable_sets) == one_by_one(fabric, depth, tmp_path)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.data())
def test_any_valley_free_clos_is_free_after_any_failures(
    tmp_path: Path, count: int, leaves: int, aggs: int, cores: int, data: st.DataObject
) -> None:
    """However many links fail: the graph of all possible next hops is free, and so is each state whose routes cover all
    links."""
    tmp_path, fabric = Path(mkdtemp(dir=tmp_path)), pods(count, leaves, aggs, cores)
    result = judged(fabric, tmp_path)
    evidence = result.evidence
    base = FailureJudge(state_of(open_configs(fabric.configs(), tmp_path)), Failures()).sets
    assert base.free
    gone = tuple(sorted(data.draw(st.sets(st.integers(0, len(fabric.links) - 1), max_size=8))))
    [after] = analyse_deadlock(open_configs(shut(fabric, gone), tmp_path))
    assert after.covers
    assert after.verdict == ("free" if after.covers.is_complete else "unknown")
    assert evidence.orders is not None


def state_of(bundle: Bundle) -> Any:
    from fabricgen.routing.fabric import read_fabric
    from fabricgen.simulate.deadlock.analysis import ground_of
    from fabricgen.simulate.plane.hosts import host_traffic
    from fabricgen.simulate.plane.lossless import lossless_links

    fabric = read_fabric(bundle, list(bundle.devices))
    return ground_of(fabric, host_traffic(bundle, fabric), lossless_links(fabric)).converged()


def test_switches_fail_without_missing_their_own_hosts(tmp_path: Path) -> None:
    """4 leaves and 2 spines: a switch is 1 of 14 things that fail, and no single one cuts off what is left."""
    result = judged(clos(4, 2), tmp_path, depth=1, switches=True)
    assert (result.failures.sets, result.failures.unreachable_sets) == (14, 0)
    alone = judged(clos(3, 1), tmp_path / "alone", depth=1, switches=True)
    assert (alone.failures.sets, alone.failures.unreachable_sets) == (7, 4), "the spine, and each link"


def test_parallel_links_fail_one_by_one(tmp_path: Path) -> None:
    fabric = clos(2, 1)
    fabric.links = [*fabric.links, *fabric.links]
    assert judged(fabric, tmp_path, depth=2).failures.unreachable_sets == 2


def test_a_cycle_after_failures_names_them_and_leads_to_their_lines(tmp_path: Path) -> None:
    bundle = open_configs(clos(4, 2, distinct).configs(), tmp_path)
    [result] = analyse_deadlock(bundle, failures=Failures(2))
    assert [cycle.priority for cycle in result.cycles] == [3, 4]
    assert result.cycles[0].failed_links == ("l0:Ethernet0--s0:Ethernet0", "l1:Ethernet4--s1:Ethernet4")
    assert len(result.cycles[0].hops) == len(result.cycles[0].witnesses) == 4
    found = {finding.code: finding for finding in deadlock_findings(bundle, [result])}
    assert {code for code in found if code < "FG620"} == {"FG605", "FG606"}
    assert "12 of 28 double failures cause a cycle" in found["FG605"].message
    assert "one ASN (RFC 7938)" in found["FG605"].hint
    assert found["FG606"].severity is Severity.NOTE, "two failures at once"
    fails = [related for related in found["FG605"].related if related.message.endswith(" fails")]
    assert len(fails) == 2
    for related in found["FG605"].related:
        line = Path(related.location.file).read_text().splitlines()[related.location.line - 1]
        assert '"172.16.' in line or '"Vlan' in line or ('"bgp_asn"' in line and " has ASN 64" in related.message)


def test_a_single_failure_that_cuts_off_is_a_warning(tmp_path: Path) -> None:
    bundle = open_configs(clos(3, 1).configs(), tmp_path)
    results = analyse_deadlock(bundle, failures=Failures(1))
    [finding] = deadlock_findings(bundle, results)
    assert (finding.code, finding.severity, finding.count) == ("FG606", Severity.WARNING, 3)


def test_any_number_of_processes_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabricgen.simulate.deadlock.failures.sweep._BATCH", 5)
    alone = judged(clos(4, 2, distinct), tmp_path, depth=2)
    three = judged(clos(4, 2, distinct), tmp_path, depth=2, spread=in_processes(3))
    assert (alone.failures, alone.cycles) == (three.failures, three.cycles)


def test_too_many_sets_are_sampled_with_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_module, "MOST_SETS", 100)
    monkeypatch.setattr(judge_module, "SAMPLE", 60)
    bundle = open_configs(clos(5, 2, distinct).configs(), tmp_path)
    first, same, other = (analyse_deadlock(bundle, failures=Failures(3, seed=seed))[0] for seed in (1, 1, 2))
    assert first.failures == same.failures
    assert (first.failures.sets, first.failures.sampled) == (120, 60)
    assert first.failures.cyclic_sets != other.failures.cyclic_sets
    assert first.failures.cyclic_bound == upper_bound(first.failures.cyclic_sets, 60)
    assert "FG607" in {finding.code for finding in deadlock_findings(bundle, [first])}


def test_a_proof_covers_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With RFC 7938 no failures close a cycle: proved for all sets, whatever number of them is drawn."""
    monkeypatch.setattr(judge_module, "MOST_SETS", 10)
    monkeypatch.setattr(judge_module, "SAMPLE", 20)
    monkeypatch.setattr(judge_module, "MOST_ORBITS", 0)
    result = judged(clos(4, 2), tmp_path, depth=2)
    assert (result.verdict, result.claim, result.failures.cyclic_bound) == ("free", "proved", 0.0)
    assert 0 < (result.failures.unreachable_bound or 0) < 1


@pytest.mark.parametrize(("found", "drawn"), [(0, 100), (3, 50), (40, 60)])
def test_upper_bound(found: int, drawn: int) -> None:
    """At the bound, so few or fewer come out in 5 % of all samples."""
    bound = upper_bound(found, drawn)
    few = sum(comb(drawn, k) * bound**k * (1 - bound) ** (drawn - k) for k in range(found + 1))
    assert few == pytest.approx(0.05, rel=1e-6)
    assert upper_bound(7, 7) == 1.0


def test_a_fat_tree_has_spares_for_any_three_failures() -> None:
    ground = fat_tree(8)
    judge = FailureJudge(ground.converged(), Failures(3))
    verdict = judge.of_depth(every_link(ground.network), 3)
    assert (verdict.how, verdict.summary.sets) == ("spares", 2763520)
    assert (verdict.summary.cyclic_sets, verdict.summary.unreachable_sets) == (0, 0)
    links = [link for link in every_link(ground.network) if ground.network.source[link.links[0]] == 0]
    assert judge.of_set("leaf 0", FailureSet(tuple(links))).summary.unreachable_sets == 1
