"""The verdict for packets on one fixed SL, as NCCL sends them, beside that for the SLs of path records."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.findings import Finding, Severity
from fabricgen.observed.path_sls import NO_PATH
from fabricgen.report.deadlock import deadlock_lines, deadlock_object
from fabricgen.results import Claim, Verdict
from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock, analyse_dumps
from fabricgen.simulate.deadlock.infiniband.findings import subnet_findings
from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.plane.service_levels import JobLevels, job_levels, on_levels
from tests.conftest import Cli
from tests.inventories import Tree, grouped, write
from tests.opensm.small import TORUS, rendered
from tests.simulate.deadlock.infiniband.test_dumps import folder, lfts, sl2vl, subnet_lst
from tests.simulate.deadlock.infiniband.test_dumps import ring as ring_net
from tests.simulate.deadlock.infiniband.test_known_subnets import ring as ring_dumps

# With SL 1 for the paths over the cable from sw2 to sw0, the ring has a dateline; with one SL it has a loop.
LANES = {(0, 2): 0}
NCCL = JobLevels((0,), ("gpu",))


def dateline(path: Path) -> Path:
    """Dumps of a ring of three that is free with path records and cyclic with SL 0."""
    net = ring_net()
    levels = "".join(
        f"0x{net.guid(f'H{source}'):016x} {to + 1} {int(to < source)}\n"
        for source in range(3)
        for to in range(3)
        if to != source
    )
    files = {"opensm__subnet_lst": subnet_lst(net), "opensm__lfts_dump": lfts(net), "path_psl": levels}
    return folder(path, **files, opensm__sl2vl_dump=sl2vl(net, LANES))


def judged(path: Path, jobs: JobLevels) -> SubnetDeadlock:
    [result] = analyse_dumps(dateline(path), plane="ib", jobs={"ib": jobs})
    return result


def fixed_findings(result: SubnetDeadlock) -> list[Finding]:
    return [one for one in subnet_findings([result]) if one.code == "FG843"]


def test_both_columns(tmp_path: Path) -> None:
    result = judged(tmp_path, NCCL)
    fixed = result.fixed_sl
    assert fixed is not None
    assert (result.verdict, result.claim) == (Verdict.FREE, Claim.PROVED)
    assert (fixed.verdict, fixed.claim, fixed.service_levels) == (Verdict.CYCLIC, Claim.PROVED, (0,))
    assert (fixed.channels, fixed.dependencies, fixed.failures.cyclic_sets) == (3, 3, 1)
    assert sorted(fixed.cycles[0].hops) == [("sw0", "1"), ("sw1", "1"), ("sw2", "1")]
    first, second = deadlock_lines([result])
    assert first.startswith(
        "deadlock  plane ib: with path records: free, proved: no credit loop on virtual lanes 0, 1,"
    )
    expected = "with fixed SL 0 (NCCL's default): CYCLIC, proved: 1 credit loop on virtual lane 0"
    assert second == f"deadlock  plane ib: {expected} (3 channels, 3 dependencies)"
    written = deadlock_object([result])
    assert written["verdict"] == "free" and written["fixed_sl"]["verdict"] == "cyclic"
    assert written["fixed_sl"]["service_levels"] == [0]


def test_the_loop_is_an_error_where_collectives_run(tmp_path: Path) -> None:
    [found] = fixed_findings(judged(tmp_path, NCCL))
    assert (found.severity, found.path) == (Severity.ERROR, "ib.routing_engine")
    assert "credit loop on virtual lane 0 if packets use fixed SL 0, as NCCL on group gpu sends them" in found.message
    [unknown] = fixed_findings(judged(tmp_path, JobLevels()))
    assert unknown.severity is Severity.NOTE and "the default of NCCL" in unknown.message


@pytest.mark.parametrize(("levels", "claim"), [((1,), Claim.PROVED), ((0, 1), Claim.POSSIBLE)])
def test_other_levels_of_nccl(levels: tuple[int, ...], claim: Claim, tmp_path: Path) -> None:
    """All packets on SL 1 close a loop, too. With a level for each group a loop may need both of them."""
    fixed = judged(tmp_path, JobLevels(levels, ("a", "b"))).fixed_sl
    assert fixed is not None
    assert (fixed.verdict, fixed.claim, fixed.service_levels) == (Verdict.CYCLIC, claim, levels)


def test_a_loop_of_path_records_is_reported_once(tmp_path: Path) -> None:
    net = ring_net()
    [result] = analyse_dumps(folder(tmp_path, opensm__subnet_lst=subnet_lst(net), opensm__lfts_dump=lfts(net)))
    assert result.fixed_sl is not None and result.fixed_sl.verdict is result.verdict is Verdict.CYCLIC
    assert [one.code for one in subnet_findings([result])] == ["FG806"]


def test_pairs_without_a_common_key_send_nothing() -> None:
    dumps = ring_dumps(4)
    allowed = np.full((4, 4), NO_PATH, np.uint8)
    allowed[0, 1] = 3
    fixed = on_levels(replace(dumps, path_sl=allowed), (2,)).path_sl
    assert fixed is not None
    assert fixed.tolist() == [[NO_PATH, 2, NO_PATH, NO_PATH], *[[NO_PATH] * 4] * 3]
    with_lmc = on_levels(replace(dumps, path_sl=np.concatenate([np.full_like(allowed, NO_PATH), allowed])), (0, 5))
    assert with_lmc.path_sl is not None and with_lmc.path_sl[[0, 4], 1].tolist() == [0, 5]


@pytest.mark.parametrize(("line", "level"), [("", 0), ("NCCL_IB_SL=3\n", 3), ("NCCL_IB_SL=-1\n", 0)])
def test_the_level_comes_from_the_files_of_the_hosts(line: str, level: int, tmp_path: Path) -> None:
    bundle = rendered(tmp_path, TORUS)
    file = bundle / "hosts" / "gpu" / "nccl.conf"
    file.write_text(line + file.read_text())  # NCCL takes the first line of a key
    found = job_levels(open_bundle([bundle]))["compute"]
    assert (found.levels, found.groups) == ((level,), ("gpu",))
    assert found.place is not None and found.place.file == str(file)
    file.unlink()
    assert job_levels(open_bundle([bundle])) == {}, "without a file of NCCL the SL is unknown"


def asked(tree: Tree, engine: str) -> Tree:
    plane = tree["planes"]["compute"]
    plane |= {"technology": "infiniband", "infiniband": {"engine": engine} if engine else {}}
    del plane["addressing"], tree["management"]
    return tree


@pytest.mark.parametrize(("engine", "code", "found"), [("dfsssp", 1, ["FG843"]), ("", 0, [])])
def test_check_is_decided_by_the_fixed_level(
    opensm: Tools, cli: Cli, tmp_path: Path, engine: str, code: int, found: list[str]
) -> None:
    tree = asked(grouped("dragonfly", {"switches": 2, "global_links": 1}, 3), engine)
    outcome = cli("check", write(tmp_path, tree), "--format", "concise", "--select", "FG8")
    assert outcome.code == code, outcome.out
    assert [word for word in ("FG843", "FG806") if word in outcome.out] == found
