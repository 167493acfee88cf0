"""Failures of cables and switches: the model of trees and the tables of the real OpenSM; engines without a model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Severity
from fabricgen.observed.opensm_dumps import read_subnet
from fabricgen.observed.subnet_files import SubnetFiles
from fabricgen.results import Cycle, FailureSummary
from fabricgen.simulate.deadlock.infiniband.analysis import analyse_subnets
from fabricgen.simulate.deadlock.infiniband.failures import SubnetFailures, WantedFailures, modelled, rerouted
from fabricgen.simulate.deadlock.infiniband.findings import subnet_findings
from fabricgen.simulate.deadlock.infiniband.resweeps import SetVerdict, failures_of
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import find_credit_loops
from fabricgen.simulate.opensm import Tools, rewiring
from fabricgen.simulate.opensm.bench import swept
from fabricgen.simulate.opensm.rewiring import reached, without
from fabricgen.simulate.plane.service_levels import NO_JOBS, JobLevels, on_levels
from tests.opensm.netlists import Net, dragonfly, three_tier, torus, two_tier, write

EVERY = 1000


def thinned(net: Net, *cables: tuple[str, str]) -> Net:
    """The net without some cables."""
    for near, far in cables:
        end = next(one for one, other in net.cables.items() if (one[0], other[0]) == (near, far))
        del net.cables[net.cables.pop(end)]
    return net


def with_host(net: Net, switch: str) -> Net:
    """A host on a spine, which stops ftree."""
    net.host(switch)
    return net


TREES: dict[str, Callable[[], Net]] = {
    "two tiers": lambda: two_tier(8, 4, 4),
    "three tiers": lambda: three_tier(3, 4, 2, 4, 3),
    "one spine": lambda: two_tier(6, 1, 2),
    "one core link a spine": lambda: three_tier(2, 3, 2, 2, 2),
    "leaves without some uplinks": lambda: thinned(two_tier(5, 3, 3), ("S0", "S5"), ("S0", "S6"), ("S3", "S7")),
    "host on a spine": lambda: with_host(two_tier(5, 3, 3), "S6"),
}


def tree(folder: Path, net: Net, engines: str = "ftree,updn,no_fallback") -> SubnetFiles:
    files = write(folder, net, engines, extra="root_guid_file /etc/opensm/root_guids")
    (files / "root_guids").write_text("".join(f"0x{net.guid(one):016x}\n" for one in net.roots))
    return SubnetFiles("ib", "ib", files)


def lost(one: SetVerdict) -> bool:
    return one.engine is None or one.disconnected > 0


@pytest.mark.parametrize("name", TREES)
def test_the_model_of_trees_equals_opensm(opensm: Tools, tmp_path: Path, name: str) -> None:
    """Every cable and switch: 186 failures of six designs. No loop, and the same failures disconnect hosts."""
    files, wanted = tree(tmp_path, TREES[name]()), WantedFailures(1, switches=True)
    model = modelled(files, read_subnet(files.netlist), wanted)
    real = rerouted(opensm, files, read_subnet(files.netlist), wanted, (0,), one_level=True, most=EVERY)
    assert model is not None and real is not None
    assert (model.sets, len(model.judged), real.left_out) == (real.sets, model.sets, 1)
    by_name = {one.names: one for one in model.judged}
    assert {one.names for one in real.judged} < by_name.keys()
    for one in real.judged:
        assert lost(one) == lost(by_name[one.names]), one.names
        assert one.loop is None and one.fixed_loop is None, one.names


def test_pairs_on_the_real_opensm(opensm: Tools, tmp_path: Path) -> None:
    files, wanted = tree(tmp_path, two_tier(4, 2, 2)), WantedFailures(2)
    model = modelled(files, read_subnet(files.netlist), wanted)
    real = rerouted(opensm, files, read_subnet(files.netlist), wanted, (0,), one_level=True, most=EVERY)
    assert model is not None and real is not None and model.sets == 28
    assert [(one.names, lost(one)) for one in real.judged] == [(one.names, lost(one)) for one in model.judged]
    assert model.summary(fixed=True) == FailureSummary(2, 28, 0, 16), "a leaf with one uplink, or no common spine"


@pytest.mark.parametrize(
    ("net", "engines"),
    [
        (lambda: two_tier(2, 2, 1), "ftree,nue,no_fallback"),
        (lambda: two_tier(2, 2, 1), "updn"),
        (lambda: two_tier(2, 2, 1), "ftree,no_fallback\nmax_reverse_hops 1"),
        (lambda: two_tier(2, 2, 1), "updn,no_fallback\nconnect_roots TRUE"),
    ],
)
def test_other_lists_have_no_model(net: Callable[[], Net], engines: str, tmp_path: Path) -> None:
    files = tree(tmp_path, net(), engines)
    assert modelled(files, read_subnet(files.netlist), WantedFailures(1)) is None


@pytest.mark.parametrize(("engines", "after"), [("torus-2QoS,nue", "nue"), ("torus-2QoS", None)])
def test_two_failed_hops_of_a_ring(opensm: Tools, tmp_path: Path, engines: str, after: str | None) -> None:
    """torus-2QoS gives up; nue behind it routes the rest without a loop on SL 0."""
    net, conf = torus((4, 4), 1)
    write(tmp_path, net, f"{engines},no_fallback", torus_conf=conf, extra="nue_max_num_vls 1")
    netlist = tmp_path / "topology.ibsim"
    whole = read_subnet(netlist)
    cables, failures = failures_of(whole, switches=False)
    hops = {one.name: cables[one.links[0]] for one in failures}
    with swept(opensm, netlist, tmp_path) as bench:
        with without(bench, netlist, whole, [hops["sw0.0:3--sw0.1:4"], hops["sw0.2:3--sw0.3:4"]]) as found:
            assert found.engine == after
            if after:
                assert found.dumps is not None
                loops = find_credit_loops(on_levels(found.dumps, (0,)))
                assert loops.cycle is None and loops.lost_count == 0
        with without(bench, netlist, whole, []) as again:
            assert again.engine == "torus-2QoS", "both hops are back"


def test_only_cables_that_opensm_can_reach_are_expected() -> None:
    """A switch that lost its other cables, and its adapters, are not in the tables."""
    trunk, spare = ((1, 1), (2, 1)), ((1, 2), (2, 2))
    hosts = ((11, 0), (1, 3)), ((12, 0), (2, 3))
    assert reached({trunk, spare, *hosts}, 11) == {trunk, spare, *hosts}
    assert reached({*hosts}, 11) == {hosts[0]}


def test_tables_of_another_wiring_are_not_taken(opensm: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine, where OpenSM sweeps before ibsim has linked the cables again."""
    net, conf = torus((4, 4), 1)
    write(tmp_path, net, "torus-2QoS,no_fallback", torus_conf=conf)
    netlist = tmp_path / "topology.ibsim"
    whole = read_subnet(netlist)
    cables, _ = failures_of(whole, switches=False)
    monkeypatch.setattr(rewiring, "_TRIES", 2)
    monkeypatch.setattr(rewiring, "_command", lambda bench, lines: None)
    with swept(opensm, netlist, tmp_path) as bench:
        with pytest.raises(UnreadableInputError), without(bench, netlist, whole, cables[:1]):
            pass
        with without(bench, netlist, whole, []) as after:
            assert after.engine == "torus-2QoS"


def test_an_engine_that_stays_free_and_one_that_gives_up(opensm: Tools, tmp_path: Path) -> None:
    root = tmp_path / "bundle"
    write(root / "infiniband" / "ib", dragonfly(2, 1, 1), "nue,no_fallback")
    [result] = analyse_subnets(root, wanted=WantedFailures(1, switches=True))
    assert result.evidence.failures is not None and result.fixed_sl is not None
    assert (result.failures.depth, result.failures.sets, result.failures.cyclic_sets) == (1, 6 + 6, 0)
    assert result.fixed_sl.failures.cyclic_sets == 0
    [note] = [one for one in subnet_findings([result]) if one.code == "FG607"]
    assert "11 of 12 failure sets were judged, without 1 that take down the switch of the subnet" in note.message


def test_findings_on_a_loop_and_on_an_engine_that_gives_up(opensm: Tools, tmp_path: Path) -> None:
    """A recorded outcome: after one failure a loop on the fixed SL, after another one no engine succeeds."""
    root = tmp_path / "bundle"
    write(root / "infiniband" / "ib", dragonfly(2, 1, 1), "nue,no_fallback")
    [result] = analyse_subnets(root)
    cycle = Cycle(0, (("a", "1"), ("b", "2")), witnesses=("1", "2"))
    judged = (SetVerdict(("a:1--b:1",), "nue", fixed_loop=cycle), SetVerdict(("b:2--c:2",), None))
    failures = SubnetFailures(1, 2, judged, is_sample=False, is_modelled=False)
    with_jobs = JobLevels((0,), ("gpu",))
    for jobs, severity in ((NO_JOBS, Severity.NOTE), (with_jobs, Severity.ERROR)):
        changed = replace(result, evidence=replace(result.evidence, failures=failures, jobs=jobs))
        loop, unrouted = subnet_findings([changed], WantedFailures(1))
        assert (loop.code, loop.severity, unrouted.code) == ("FG847", severity, "FG848")
        assert loop.message == (
            "ib: credit loop with the fixed SL of NCCL after the failure of a:1--b:1: a port 1 -> b port 2 -> a port 1"
        )
        assert unrouted.message.endswith("after the failure of b:2--c:2: the old tables stay")
    records = replace(failures, judged=(SetVerdict(("a:1--b:1",), "dfsssp", cycle, cycle),))
    changed = replace(result, evidence=replace(result.evidence, failures=records))
    [loop] = subnet_findings([changed], WantedFailures(1))
    assert loop.severity is Severity.ERROR and "with the SLs of path records after the failure" in loop.message


@pytest.mark.parametrize("engines", ["nue,no_fallback"])
def test_failures_are_never_dropped_silently(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, engines: str) -> None:
    monkeypatch.setattr("fabricgen.simulate.deadlock.infiniband.analysis.find_tools", lambda: None)
    root = tmp_path / "bundle"
    write(root / "infiniband" / "ib", dragonfly(2, 1, 1), engines)
    [result] = analyse_subnets(root, wanted=WantedFailures(2))
    assert "FG846" in {one.code for one in subnet_findings([result], WantedFailures(2))}
    assert "FG846" not in {one.code for one in subnet_findings([result])}


def test_a_sample_has_bounds() -> None:
    judged = tuple(SetVerdict((str(number),), "nue", disconnected=number % 2) for number in range(16))
    found = SubnetFailures(1, 200, judged, is_sample=True, is_modelled=False).summary(fixed=False)
    assert (found.sets, found.sampled, found.cyclic_sets, found.unreachable_sets) == (200, 16, 0, 8)
    assert found.cyclic_bound is not None and found.unreachable_bound is not None
    assert 0.17 < found.cyclic_bound < 0.171 and 0.7 < found.unreachable_bound < 0.75
