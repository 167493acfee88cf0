"""Verdicts and findings on subnets, with a recorded outcome in place of the run of OpenSM."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabricgen.errors import UsageError
from fabricgen.findings import Confidence, Finding, Severity
from fabricgen.observed.opensm_dumps import NO_PORT, Dumps
from fabricgen.results import Claim, FailureSummary, RoutesModel, Verdict
from fabricgen.routing.infiniband import LANES
from fabricgen.simulate.deadlock.infiniband import analysis
from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock, analyse_dumps, analyse_subnets
from fabricgen.simulate.deadlock.infiniband.findings import subnet_findings, without_tables
from fabricgen.simulate.opensm import PACKAGES, Proof, Tools
from fabricgen.simulate.opensm.staging import stage
from tests.opensm.netlists import Net, torus, two_tier
from tests.simulate.deadlock.infiniband.test_dumps import RIGHT, folder, ring, sl2vl
from tests.simulate.deadlock.infiniband.test_known_subnets import ring as ring_dumps

TREE, RING = two_tier(2, 2, 1), torus((4,), 1)[0]
SAFE = "routing_engine updn,no_fallback\n"
TOOLS = Tools("opensm", "ibsim", "umad2sim")


def bundle(root: Path, net: Net | None, conf: str = SAFE) -> Path:
    files = {"opensm_conf": conf} | ({"topology_ibsim": net.text()} if net else {})
    folder(root / "infiniband" / "ib", **files)
    return root


def without_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "find_tools", lambda: None)


@pytest.mark.parametrize(
    ("net", "conf", "claim", "is_legal"),
    [
        (TREE, SAFE, Claim.PROVED, True),
        (TREE, "routing_engine ftree,updn,no_fallback\n", Claim.PROVED, True),
        (TREE, "routing_engine updn\n", Claim.POSSIBLE, True),
        (TREE, "routing_engine minhop,no_fallback\n", Claim.POSSIBLE, True),
        (TREE, "routing_engine updn,dfsssp,no_fallback\n", Claim.POSSIBLE, True),
        (TREE, "routing_engine ftree,no_fallback\nmax_reverse_hops 2\n", Claim.POSSIBLE, True),
        (TREE, "routing_engine updn,no_fallback\nconnect_roots TRUE\n", Claim.POSSIBLE, True),
        (TREE, "routing_engine updn,no_fallback\nconnect_roots FALSE\nmax_reverse_hops 0\n", Claim.PROVED, True),
        (RING, SAFE, Claim.POSSIBLE, False),
        (None, SAFE, Claim.POSSIBLE, False),
    ],
)
def test_the_wiring_alone(
    net: Net | None, conf: str, claim: Claim, is_legal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proved only for a legal wiring, with no engine but up-down ones and no fallback."""
    without_tools(monkeypatch)
    [result] = analyse_subnets(bundle(tmp_path, net, conf))
    verdict = Verdict.FREE if net else Verdict.UNKNOWN
    assert (result.verdict, result.claim, result.model) == (verdict, claim, RoutesModel.DESIGN)
    assert (result.name, result.priorities, result.failures) == ("ib", (0,), FailureSummary())
    wiring = result.evidence.wiring
    assert wiring is not None
    assert wiring.is_legal == is_legal
    assert (result.channels, result.dependencies) == (wiring.channels, wiring.dependencies)
    assert result.channels == (0 if net is None else 8)
    [found] = subnet_findings([result])
    why = f"OpenSM and ibsim are not installed ({PACKAGES})" if net else "topology.ibsim is missing"
    proved = (
        "the verdict is on the wiring only: its up-then-down paths have no cycle" if is_legal else "nothing is proved"
    )
    assert found.message == f"ib: the files were not tested with the real OpenSM, because {why}; {proved}"
    assert (found.code, found.path, found.confidence) == ("FG809", "ib.opensm", Confidence.POSSIBLE)
    assert found.severity is (Severity.NOTE if is_legal else Severity.WARNING)
    assert found.location is not None
    assert found.location.line == 1


def proved(root: Path, monkeypatch: pytest.MonkeyPatch, dumps: Dumps | None, *, knows_all_levels: bool = True) -> Path:
    """A bundle on which OpenSM makes these tables."""
    subnet = bundle(root, TREE) / "infiniband" / "ib"
    scratch = root / "scratch"
    scratch.mkdir()
    staged = stage(subnet, scratch)
    proof = Proof(staged, "updn" if dumps else None, (), (), (), dumps=dumps, knows_all_levels=knows_all_levels)
    monkeypatch.setattr(analysis, "find_tools", lambda: TOOLS)
    monkeypatch.setattr(analysis, "prove", lambda tools, netlist, files: proof)
    return root


def on_lanes(dumps: Dumps, *levels: int) -> Dumps:
    """The SL of a path by its source, in turn."""
    size = len(dumps.destinations)
    row = np.array([levels[number % len(levels)] for number in range(size)], np.uint8)
    return replace(dumps, path_sl=np.repeat(row[:, None], size, axis=1))


def test_no_engine_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [result] = analyse_subnets(proved(tmp_path, monkeypatch, None))
    assert (result.verdict, result.claim, result.model) == (Verdict.UNKNOWN, Claim.POSSIBLE, RoutesModel.OPENSM)
    assert (result.priorities, result.channels, result.dependencies, result.cycles) == ((), 0, 0, ())
    assert result.failures == FailureSummary(depth=0, sets=1, cyclic_sets=0, unreachable_sets=1)
    assert {one.code for one in subnet_findings([result])} == {"FG801"}
    [tables] = without_tables([result], ["--certificate"])
    assert tables.message == (
        "ib: --certificate does not cover this plane: it has no tables, because no routing engine succeeded"
    )


@pytest.mark.parametrize("knows_all_levels", [True, False])
def test_a_credit_loop(knows_all_levels: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = on_lanes(ring_dumps(4), 2)
    [result] = analyse_subnets(proved(tmp_path, monkeypatch, dumps, knows_all_levels=knows_all_levels))
    claim = Claim.PROVED if knows_all_levels else Claim.POSSIBLE
    assert (result.verdict, result.claim, result.model) == (Verdict.CYCLIC, claim, RoutesModel.OPENSM)
    assert (result.priorities, result.channels, result.dependencies) == ((2,), 4, 4)
    assert result.failures == FailureSummary(0, 1, cyclic_sets=1, unreachable_sets=0)
    [found] = subnet_findings([result])
    [cycle] = result.cycles
    around = " -> ".join(f"{switch} port 1" for switch, _ in (*cycle.hops, cycle.hops[0]))
    lids = ", ".join(dict.fromkeys(cycle.witnesses))
    assert found.message == f"ib: credit loop on virtual lane 2: {around}; destination LIDs {lids}"
    assert (found.code, found.severity, found.path) == ("FG806", Severity.ERROR, "ib.routing_engine")
    assert found.confidence is (Confidence.PROVED if knows_all_levels else Confidence.POSSIBLE)
    assert list(without_tables([result], ["--certificate"])) == []


def test_lost_packets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = ring_dumps(3)
    table = dumps.forwarding.copy()
    row = next(number for number, one in enumerate(dumps.subnet.switches) if one.name == "s0")
    table[row, 2:4] = NO_PORT
    [result] = analyse_subnets(proved(tmp_path, monkeypatch, replace(dumps, forwarding=table)))
    assert result.failures == FailureSummary(0, 1, cyclic_sets=0, unreachable_sets=1)
    assert result.verdict is Verdict.FREE
    [found] = subnet_findings([result])
    assert (found.code, found.severity, found.device, found.count) == ("FG807", Severity.ERROR, "s0", 2)
    assert found.message == "ib: packets to LID 2 are lost at s0"


def of_code(results: list[SubnetDeadlock], code: str) -> list[Finding]:
    return [one for one in subnet_findings(results) if one.code == code]


def test_several_levels_without_tables_of_lanes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two SLs on a ring of three: free if they use two lanes, a loop if all share lane 0."""
    dumps = on_lanes(ring_dumps(3), 0, 1, 1)
    dumps.path_sl[1] = 0  # type: ignore[index]
    [result] = analyse_subnets(proved(tmp_path, monkeypatch, dumps))
    assert (result.verdict, result.claim) == (Verdict.FREE, Claim.POSSIBLE)
    assert result.evidence.if_one_lane is not None
    assert result.evidence.if_one_lane.cycle is not None
    [found] = of_code([result], "FG808")
    assert found.message.endswith("with all SLs on lane 0 there is a credit loop")
    assert (found.severity, found.path) == (Severity.WARNING, "ib.qos")
    one_level = replace(dumps, path_sl=np.zeros_like(dumps.path_sl))
    tables = np.zeros((3, dumps.subnet.ports, dumps.subnet.ports, LANES), np.uint8)
    for number, certain in enumerate((one_level, replace(dumps, sl2vl=tables))):
        (tmp_path / str(number)).mkdir()
        [known] = analyse_subnets(proved(tmp_path / str(number), monkeypatch, certain))
        assert known.evidence.if_one_lane is None
        assert known.claim is Claim.PROVED
        assert of_code([known], "FG808") == []


def test_an_error_of_the_run_names_the_subnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(tools: Tools, netlist: Path, files: Path) -> Proof:
        raise UsageError("ibsim was not ready within 120 s")

    monkeypatch.setattr(analysis, "find_tools", lambda: TOOLS)
    monkeypatch.setattr(analysis, "prove", fails)
    with pytest.raises(UsageError, match=r"^ib: ibsim was not ready"):
        analyse_subnets(bundle(tmp_path, TREE))


def test_only_the_named_plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_tools(monkeypatch)
    root = bundle(tmp_path, TREE)
    folder(root / "infiniband" / "other" / "a", opensm_conf=SAFE)
    assert [one.name for one in analyse_subnets(root)] == ["ib", "other/a"]
    assert [one.name for one in analyse_subnets(root, "ib")] == ["ib"]
    assert [one.name for one in analyse_subnets(root, "other")] == ["other/a"]
    assert [one.name for one in analyse_subnets(root, "other/a")] == ["other/a"]
    assert analyse_subnets(root, "nothing") == []


def test_dumps_of_several_subnets(tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder(tmp_path / name, **RIGHT)
    (tmp_path / "c").mkdir()
    found = analyse_dumps(tmp_path)
    assert [(one.name, one.evidence.place, one.model) for one in found] == [
        ("a", "a", RoutesModel.LFTS), ("b", "b", RoutesModel.LFTS),
    ]  # fmt: skip
    [alone] = analyse_dumps(tmp_path / "a", plane="x")
    assert (alone.name, alone.evidence.place) == ("x", ".")


def test_which_lanes_of_dumps_are_known(tmp_path: Path) -> None:
    """Without SLs of paths: certain without SL-to-VL tables, or with one lane for all SLs."""
    plain = analyse_dumps(folder(tmp_path / "plain", **RIGHT))
    tables = analyse_dumps(folder(tmp_path / "tables", **RIGHT, opensm__sl2vl_dump=sl2vl(ring(), {})))
    one_lane = sl2vl(ring(), {})
    flat = "\n".join(
        line.partition(":")[0] + ": " + "0  " * 16 if line[:1].isdecimal() else line for line in one_lane.splitlines()
    )
    same = analyse_dumps(folder(tmp_path / "same", **RIGHT, opensm__sl2vl_dump=flat + "\n"))
    assert [one.claim for one in (*plain, *tables, *same)] == [Claim.PROVED, Claim.POSSIBLE, Claim.PROVED]


def test_names_of_a_map(tmp_path: Path) -> None:
    guid = ring().guid("S0")
    dumps = folder(tmp_path / "dumps", **RIGHT)
    (dumps / "node-name-map").write_text(f'0x{guid:016x} "first"\n# a comment\n')
    [result] = analyse_dumps(dumps)
    assert result.evidence.dumps is not None
    assert [one.name for one in result.evidence.dumps.subnet.switches] == ["first", "sw1", "sw2"]
