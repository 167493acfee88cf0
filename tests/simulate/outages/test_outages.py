"""Bandwidth after failures: one set of each orbit gives what all sets give, and the cost of a known fabric is exact."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fabricgen.api.aside import render_aside
from fabricgen.api.candidates import equal_hosts, read_candidates, write_candidate
from fabricgen.api.checking import check
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.results import OutageResult
from fabricgen.simulate.outages import sets as sets_module
from fabricgen.simulate.outages.analysis import analyse_outages
from fabricgen.simulate.outages.findings import outage_findings
from fabricgen.simulate.outages.options import OutageOptions
from fabricgen.simulate.patterns import Placement
from tests.inventories import rail_optimized, write

DESIGNS = ("rail-optimized", "fat-tree:2", "dual-tor")
PATTERNS = ("ring-all-reduce", "all-to-all", "permutation")


@pytest.fixture(scope="module", params=DESIGNS)
def bundle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A design for 64 GPUs on switches of 32 ports."""
    folder = tmp_path_factory.mktemp("outages")
    (candidate,) = read_candidates(request.param)
    write_candidate(folder / "i", candidate, equal_hosts(read_candidates("dual-tor")), 64, "nvidia-sn4700")
    render_aside(folder / "i", folder / "b")
    return open_bundle([folder / "b"])


def shares(one: OutageResult) -> Counter[float]:
    found: Counter[float] = Counter()
    for outcome in one.outcomes:
        found[round(outcome.share, 4)] += outcome.sets
    return found


def same(bundle: Bundle, options: OutageOptions) -> OutageResult:
    """The result by orbits, which is that of all sets."""
    (by_orbits,) = analyse_outages(bundle, options)
    (each,) = analyse_outages(bundle, replace(options, symmetry=False, most_sets=10_000))
    assert (by_orbits.how, each.how) == ("orbits", "each")
    assert shares(by_orbits) == shares(each)
    assert (by_orbits.stopping, by_orbits.sets) == (each.stopping, each.judged)
    assert by_orbits.worst and each.worst and by_orbits.median and each.median
    assert by_orbits.worst.share == pytest.approx(each.worst.share, abs=1e-4)
    assert by_orbits.median.share == pytest.approx(each.median.share, abs=1e-4)
    return by_orbits


@pytest.mark.parametrize("placement", [Placement.ALIGNED, Placement.FRAGMENTED])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_orbits_are_brute_force(
    bundle: Bundle, pattern: str, placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets_module, "FEW_SETS", 0)
    same(bundle, OutageOptions(pattern, 1, switches=True, placement=placement, size_bytes=1 << 24))


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Three units of four hosts, with half of the uplinks: shuffled hosts load the leaves in different ways."""
    folder = tmp_path_factory.mktemp("uneven")
    write(folder / "i", rail_optimized(hosts=12, oversubscription=2))
    render_aside(folder / "i", folder / "b")
    return open_bundle([folder / "b"])


@pytest.mark.parametrize("pattern", ["ring-all-reduce", "permutation", "tree-all-reduce"])
def test_symmetries_keep_the_traffic(uneven: Bundle, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wiring alone has one orbit of links; under these patterns the links cost different shares."""
    monkeypatch.setattr(sets_module, "FEW_SETS", 0)
    found = same(uneven, OutageOptions(pattern, placement=Placement.FRAGMENTED))
    assert len(shares(found)) > 1 and found.judged < found.sets


def test_pairs_are_brute_force(uneven: Bundle) -> None:
    found = same(uneven, OutageOptions("ring-all-reduce", 2, placement=Placement.FRAGMENTED))
    assert found.judged < found.sets / 10 and len(shares(found)) > 2


def test_a_sample_says_what_it_does_not_cover(bundle: Bundle) -> None:
    (found,) = analyse_outages(bundle, OutageOptions("permutation", 1, most_sets=8, symmetry=False))
    assert (found.how, found.judged) == ("sample", 8)
    assert 0.3 < found.worse_sets < 0.32  # 1 - 0.05 ** (1 / 8)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units of four hosts: leaves with four hosts and two uplinks, below one spine."""
    return write(tmp_path_factory.mktemp("narrow"), rail_optimized(oversubscription=2))


def test_cost_of_half_of_the_uplinks(narrow: Path, tmp_path: Path) -> None:
    """4/7 of an all-to-all of 8 nodes leaves the unit: 16/7 of a NIC over two uplinks, or over the one that is left."""
    render_aside(narrow, tmp_path / "b")
    bundle = open_bundle([tmp_path / "b"])
    (found,) = analyse_outages(bundle, OutageOptions("all-to-all"))
    assert found.worst and found.median
    assert (found.sets, found.worst.share, found.median.share) == (32, 0.5, 0.5)
    assert found.worst.time_ns == pytest.approx(2 * found.time_ns)
    assert found.bus_gbytes == pytest.approx(2 * (found.worst.bus_gbytes or 0), rel=1e-3)
    (note,) = outage_findings(bundle, [found])
    assert (note.code, note.severity, note.path) == ("FG713", "note", f"PORT|{note.path.split('|')[1]}")
    (pairs,) = analyse_outages(bundle, OutageOptions("all-to-all", 2, symmetry=False))
    assert pairs.worst and pairs.worst.share == 0, "both uplinks of a leaf"


def test_a_spine_is_needed_and_a_leaf_stops_the_job(narrow: Path, tmp_path: Path) -> None:
    render_aside(narrow, tmp_path / "b")
    (found,) = analyse_outages(open_bundle([tmp_path / "b"]), OutageOptions(switches=True))
    assert found.worst and found.worst.names[0].startswith("switch") and found.worst.share == 0
    assert found.stopping == 16 and found.sets == 32 + 17


@pytest.mark.parametrize(("switches", "codes"), [(False, set()), (True, {"FG712"})])
def test_the_gate(tmp_path: Path, switches: bool, codes: set[str]) -> None:
    """A ring needs one uplink of a leaf, and the spine."""
    checks = {"min_busbw_after_failure": 0.8, "switch_failures": switches}
    folder = write(tmp_path / "i", rail_optimized(oversubscription=2) | {"checks": checks})
    found = check(folder)
    assert found.is_complete and found.congestion[0].failures
    assert {one.code for one in found.findings if one.code in ("FG712", "FG713")} == codes
    assert all(one.severity == "error" for one in found.findings if one.code == "FG712")


def test_failures_of_1024_gpus_by_brute_force(tmp_path: Path) -> None:
    """Shuffled hosts and half of the uplinks, with weighted ECMP: links cost different shares."""
    planned = {"unit": 16, "planned": 8, "oversubscription": 2, "load_balancing": {"wcmp": True}}
    write(tmp_path / "i", rail_optimized(hosts=128, **planned))
    render_aside(tmp_path / "i", tmp_path / "b")
    found = same(open_bundle([tmp_path / "b"]), OutageOptions("ring-all-reduce", placement=Placement.FRAGMENTED))
    assert len(shares(found)) >= 3 and max(shares(found)) < 1 and found.judged < found.sets == 512
