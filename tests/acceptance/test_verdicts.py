"""The other findings of accept, each with a run that has it; the good runs of test_faults have none of them."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fabricgen.acceptance.culprits import FabricPart, PartKind, culprits, outliers
from fabricgen.acceptance.planned import Stage
from fabricgen.bundle.read import Bundle
from tests.acceptance.runs import Run
from tests.acceptance.test_faults import Seed, judged
from tests.conftest import Cli
from tests.inventories import islands, write

L0 = "compute-su00-r0-leaf"


def slow_leaf(leaf: str) -> Seed:
    return lambda run: run.speed.update({end: 0.7 for end, at in run.leaf_of.items() if at[0] == leaf})


def slow_rail(nic: str) -> Seed:
    return lambda run: run.speed.update({end: 0.7 for end in run.leaf_of if end[1] == nic})


def silent(host: str) -> Seed:
    def seed(run: Run) -> None:
        run.absent |= {
            test.id for test in run.tests if host in {end[0] for end in (test.a, test.b, *test.writers) if end}
        }
        run.ranks[host] = 0

    return seed


def without(stage: Stage) -> Seed:
    return lambda run: run.absent.update(test.id for test in run.tests if test.stage is stage)


def storm(run: Run) -> None:
    run.storms[L0, "Ethernet0", 3] = 2
    run.storms[L0, "Ethernet448", 3] = 1


def slow_only(collective: str, share: float) -> Seed:
    return lambda run: run.collectives.update({collective: share})


CASES: list[tuple[Seed, str, str, str]] = [
    (slow_leaf(L0), "FG962", "error", f"all ports of {L0}: "),
    (slow_rail("rail2"), "FG963", "error", "rail rail2 of plane compute: "),
    (silent("gpu-006"), "FG960", "error", "no test with gpu-006 has a result"),
    (without(Stage.INCAST), "FG960", "error", "stage incast has no results: 8 tests missing"),
    (lambda run: run.absent.add("near/compute/rail0/gpu-000_gpu-001"), "FG960", "error", "1 test without a result"),
    (storm, "FG968", "error", "the watchdog detected 1 storm on Ethernet448 queue 3"),
    (lambda run: setattr(run, "storm_found", False), "FG968", "error", "no storm was detected and ended on Ethernet0"),
    (lambda run: setattr(run, "wrong", 3), "FG969", "error", "wrong elements"),
    (slow_only("alltoall", 0.4), "FG970", "error", "collectives/su0/alltoall measured"),
    (slow_only("all_reduce", 0.88), "FG970", "warning", "collectives/su0/all_reduce measured"),
    (slow_only("all_reduce", 1.3), "FG971", "warning", "and the NICs carry 392.15"),
    (lambda run: setattr(run, "paused", False), "FG973", "error", "8 incasts without a PFC frame"),
    (lambda run: setattr(run, "unread", {L0}), "FG974", "error", f"no counters of 1 switch before and after the tests: {L0}"),  # noqa: E501
]  # fmt: skip


def test_a_good_run_where_rails_share_a_leaf(tmp_path: Path, cli: Cli) -> None:
    from fabricgen.api import render
    from fabricgen.bundle.read import open_bundle

    render(write(tmp_path / "in", islands()), tmp_path / "bundle")
    folder = Run(open_bundle([tmp_path / "bundle"])).write(tmp_path / "run")
    code, report = judged(cli, tmp_path / "bundle", folder)
    assert (code, report["findings"]) == (0, [])


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case[1]}-{case[3][:20]}" for case in CASES])
def test_a_finding(number: int, fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    seed, code, severity, text = CASES[number]
    run = Run(opened, seed=200 + number)
    seed(run)
    _, report = judged(cli, fabric, run.write(tmp_path))
    found = [(one["code"], one["severity"], one["message"]) for one in report["findings"]]
    assert any(one[:2] == (code, severity) and text in one[2] for one in found), found
    assert {one[0] for one in found} <= {code, "FG967"}


def test_an_incast_without_counters_of_marks_is_not_judged(
    fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli
) -> None:
    run = Run(opened)
    run.paused = False
    folder = run.write(tmp_path)
    files = list(folder.rglob("ecn.json"))
    assert files
    for file in files:  # collect.yml and releases without `show queue wredcounters` have no such file
        file.unlink()
    _, report = judged(cli, fabric, folder)
    assert not [one for one in report["findings"] if one["code"] == "FG973"]


def test_a_collective_as_slow_as_its_collisions(
    fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricgen.acceptance.judge.predictor", lambda _: lambda _: 0.5)
    run = Run(opened)
    run.collectives["all_reduce"] = 0.55
    _, report = judged(cli, fabric, run.write(tmp_path))
    assert {(one["code"], one["severity"]) for one in report["findings"]} == {("FG964", "warning")}
    assert "hash collisions leave 196.1" in report["findings"][0]["message"]


def test_the_model_of_collisions_is_that_of_simulate(opened: Bundle) -> None:
    from fabricgen.acceptance.judge import predictor

    predicted = predictor(opened)
    shares = {test.collective: predicted(test) for test in Run(opened).tests if test.stage is Stage.COLLECTIVES}
    assert 0 < shares["all_reduce"] <= 1 and shares["sendrecv"] == 1


def test_every_format(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    run = Run(opened)
    run.speed["gpu-000", "rail0"] = 0.5
    folder = run.write(tmp_path)
    outcome = cli("accept", fabric, folder, "--format", "junit")
    suite = ElementTree.fromstring(outcome.out)[0]
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert outcome.code == 1 and len(failed) == 1 and str(failed[0]).startswith("FG961 ")
    outcome = cli("accept", fabric, folder)
    assert "near: 32 tests, 31 pass, 1 fail" in outcome.out
    assert "cable compute/gpu/0/rail0 of 5 m to compute-su00-r0-leaf Ethernet0" in outcome.out
    for name in ("concise", "sarif", "github", "gitlab"):
        assert "FG961" in cli("accept", fabric, folder, "--format", name).out
    row = next(
        one
        for one in json.loads(cli("-q", "accept", fabric, folder, "--format", "json").out)["acceptance"]["measurements"]
        if one["verdict"] == "fail"
    )
    assert list(row) == ["test", "a", "b", "rail", "value", "unit", "expected", "limit", "verdict"]


def test_chosen_stages_and_wrong_input(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    run = Run(opened)
    without(Stage.FAR)(run)
    folder = run.write(tmp_path)
    assert cli("accept", fabric, folder, "--stages", "near", "--stages", "rails").code == 0
    assert "no such file or folder" in cli("accept", fabric, tmp_path / "none").err
    (folder / "tests.jsonl").write_text('{"id": "x", "stage": "near"}\n{\n')
    outcome = cli("accept", fabric, folder)
    assert (outcome.code, "not a list of acceptance tests: line 2" in outcome.err) == (2, True)
    (folder / "tests.jsonl").unlink()  # the tests are those of the bundle
    assert cli("accept", fabric, folder, "--stages", "near").code == 0
    rail = folder / "results" / "near" / "compute" / "rail0"
    for name, content in {"gpu-000_gpu-001": "{}", "gpu-002_gpu-003": "", "gpu-004_gpu-005": '{\n"test_info":'}.items():
        (rail / f"{name}.json").write_text(content)
    outcome = cli("accept", fabric, folder, "--stages", "near")
    assert (outcome.code, outcome.out.count("has a result that cannot be read: not a result of a kn")) == (1, 2)
    assert "gpu-004_gpu-005.json:" in outcome.out and "cannot be read: not JSON" in outcome.out
    outcome = cli("accept", fabric, rail / "gpu-000_gpu-001.json", tmp_path / "lock", fabric / "fabric.json")
    assert (outcome.code, "fabric.json belongs to no test" in outcome.err) == (2, False)
    outcome = cli("accept", fabric, rail / "gpu-000_gpu-001.json", fabric / "fabric.json")
    assert (outcome.code, "fabric.json belongs to no test" in outcome.err) == (2, True)


def test_the_smallest_part_that_explains_all() -> None:
    nic, host, switch = (
        FabricPart(PartKind.NIC, "a", "x"),
        FabricPart(PartKind.HOST, "a"),
        FabricPart(PartKind.SWITCH, "leaf"),
    )
    parts_of = {"1": [nic, host, switch], "2": [nic, host, switch], "3": [host, switch], "4": [switch]}
    assert [one.part for one in culprits(parts_of, {"1", "2"})[0]] == [nic]
    assert [one.part for one in culprits(parts_of, {"1", "2", "3"})[0]] == [host]
    assert [one.part for one in culprits(parts_of, set("1234"))[0]] == [switch]
    assert culprits({"1": [nic], "2": [nic], "3": [nic]}, {"1"}) == ([], ["1"])


def test_outliers_are_far_below_their_peers() -> None:
    values = {str(number): 0.985 + number % 5 / 1000 for number in range(40)}
    assert outliers(values) == set()
    assert outliers({**values, "x": 0.955}) == {"x"}
    assert outliers({**values, "x": 0.97}) == set()
    assert outliers(dict.fromkeys("abc", 1.0)) == set()
