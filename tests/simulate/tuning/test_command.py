"""`fabricgen tune` as people use it: the verdict, its block in the inventory, wrong input, and equal bytes."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from fabricgen.api.tune import Tuning
from fabricgen.cli.main import run
from fabricgen.report.tuning import inventory_block, tuning_lines, tuning_markdown, tuning_object
from fabricgen.results import Gain, TuningResult
from fabricgen.simulate.tuning.findings import tuning_findings
from fabricgen.vocabulary import Goal
from tests.conftest import Cli
from tests.inventories import rail_optimized, write
from tests.schemas import require_schema
from tests.simulate.deadlock.test_distributed import scheduler
from tests.simulate.tuning.conftest import QUICK, quietly, tune_quickly

__all__ = ["scheduler"]  # a fixture


@pytest.fixture
def result(tuned: Tuning) -> TuningResult:
    assert tuned.result
    return tuned.result


def test_settings_of_the_present_files_are_improved_on_unseen_draws(tuned: Tuning, result: TuningResult) -> None:
    best = result.best
    assert best
    assert result.is_better
    assert best.gain.low > 0
    assert best.gain.median > 0.1
    assert best.trial.faults == result.present.faults == 0
    assert set(result.searched_seeds).isdisjoint(result.unseen_seeds)
    assert "FG770" in [one.code for one in tuned.findings]


def test_the_block_is_valid_and_packet_runs_have_the_gain(
    result: TuningResult, inventory: Path, tmp_path: Path, cli: Cli
) -> None:
    """The mean p99 of `simulate packets` over the unseen draws is the one that `tune` reports."""
    site = Path(shutil.copytree(inventory, tmp_path / "site"))
    (site / "tuned.yaml").write_text(inventory_block(result) + "\n")
    checked = cli("check", site, "--format", "json")
    assert checked.code == 0, checked.out
    assert cli("render", site, "--output", tmp_path / "build").code == 0
    times = []
    for seed in result.unseen_seeds:
        words = ("--pattern", "incast", "--size", "2MiB", "--seed", seed, "--max-hops", 3_000_000 // 200)
        done = cli("simulate", "packets", tmp_path / "build", *words, "--format", "json")
        times.append(json.loads(done.out)["packets"]["fct_ns"]["p99"])
    assert result.best
    assert fmean(times) == pytest.approx(result.best.trial.p99_ns, abs=0.1)


def test_another_process_has_the_same_result(built: Path, tuned: Tuning, result: TuningResult) -> None:
    """With two processes and another hash seed."""
    command = [sys.executable, "-m", "fabricgen", "-q", "tune", str(built), *QUICK, "--format", "json", "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONHASHSEED": "7"}, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    require_schema("tune", found)
    assert found["tune"] == tuning_object(result, None, tuned.digest)


def test_dask_has_the_same_result(built: Path, result: TuningResult, scheduler: str) -> None:
    found = tune_quickly(built, Goal.NO_PAUSE, scheduler).result
    assert found
    assert (found.present, found.is_better) == (result.present, False)


def test_text_and_markdown_have_the_verdict_and_the_block(result: TuningResult) -> None:
    lines, markdown = list(tuning_lines(result)), tuning_markdown(result)
    block = inventory_block(result)
    assert any(line.strip().startswith("change ") for line in lines)
    assert max(len(line) for line in lines if line[:1] in "0123456789 kpbwK" and not line.startswith(" " * 10)) <= 80
    assert block in "\n".join(lines)
    assert f"```yaml\n{block}\n```" in markdown
    assert result.best
    assert f"| best | {result.best.trial.p99_ns / 1000:.1f} |" in markdown
    assert "    lossless:\n      profile: own\n      ecn: {" in inventory_block(result, "own")


def test_a_gain_that_may_be_chance_keeps_the_settings(result: TuningResult) -> None:
    assert result.best
    chance = replace(result.best, gain=Gain(0.02, -0.01, 0.05, 0.96))
    kept = replace(result, confirmed=(chance,), is_better=False)
    text = "\n".join(tuning_lines(kept))
    assert "keep what you have: the best one found is not better beyond chance: p99 2.0% lower (96%: -1.0% to" in text
    assert "add this to the inventory" not in text
    assert [one.code for one in tuning_findings(kept)] == ["FG771", *(["FG774"] if kept.reason else [])]
    found = tuning_object(kept)
    assert (found["verdict"], found["block"]) == ("keep", None)


@pytest.mark.usefixtures("short_race")
def test_pauses_end_with_another_alpha_or_earlier_marks(inventory: Path, tmp_path: Path, cli: Cli) -> None:
    """Groups that pause at 1/256 of the free pool, and queues that mark late."""
    site = Path(shutil.copytree(inventory, tmp_path / "site"))
    alpha = "{DEFAULT_LOSSLESS_BUFFER_PARAMETER: {AZURE: {default_dynamic_th: '-8'}}}"
    late = "planes: {compute: {lossless: {ecn: {min: 2MiB, max: 4MiB, probability: 1}}}}\n"
    (site / "late.yaml").write_text(f"{late}overrides: [{{match: {{plane: compute}}, config_db: {alpha}}}]\n")
    words = ("--pattern", "incast", "--size", "2MiB", "--budget", "3000000", "--draws", "6", "--queue-pairs", "1")
    found = json.loads(cli("tune", site, *words, "--for", "no-pause", "--format", "json").out)["tune"]
    assert found["present"]["pauses"] > 0
    assert found["verdict"] == "change"
    assert found["confirmed"][0]["pauses"] < found["present"]["pauses"]
    assert found["fixed"] == {"queue pairs": "no other number is given"}


def test_no_pause_has_nothing_to_search_without_pauses(inventory: Path, tmp_path: Path) -> None:
    """A profile that the inventory names is known."""
    found = tune_quickly(inventory, Goal.NO_PAUSE)
    assert found.result
    assert (found.result.is_better, found.result.tried, found.result.confirmed) == (False, 1, ())
    assert found.profile is None
    tree = rail_optimized(hosts=4, unit=4, planned=1, lossless="roce-lossless")
    assert tune_quickly(write(tmp_path / "named", tree), Goal.NO_PAUSE).profile == "roce-lossless"


@pytest.mark.usefixtures("short_race")
def test_evidence_in_the_bundle_stays_there(built: Path, inventory: Path, tmp_path: Path, cli: Cli) -> None:
    site, bundle = (Path(shutil.copytree(one, tmp_path / one.name)) for one in (inventory, built))
    file = bundle / "tune" / "incast.json"
    assert cli("tune", bundle, *QUICK, "--for", "no-pause", "--evidence", file).code == 0
    written = file.read_bytes()
    found = json.loads(written)
    require_schema("tune", found)
    assert found["tune"]["inventory"] == json.loads((bundle / "manifest.json").read_text())["inventory"]
    (site / "more.yaml").write_text("planes: {compute: {mtu: 9000}}\n")
    assert cli("render", site, "--output", bundle).code == 0
    assert file.read_bytes() == written
    assert cli("validate", bundle).code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pattern", "nonsense"), "unknown pattern 'nonsense'"),
        (("--pattern", "incast", "--plane", "nowhere"), "unknown plane 'nowhere'"),
        (("--pattern", "incast", "--for", "busbw"), "incast has no bus bandwidth"),
        (("--pattern", "incast", "--queue-pairs", "0,2"), "--queue-pairs: '0,2'"),
        (("--pattern", "incast", "--draws", "5"), "5 is not in the range"),
        ((), "Missing option '--pattern'"),
    ],
)
def test_wrong_options(built: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run(["tune", str(built), *words])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_planes_that_cannot_be_tuned(inventory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without PFC, without marks, and InfiniBand."""
    lossy = ("tune", inventory, "--set", "planes.compute.lossless=none", "--pattern", "incast")
    assert quietly(*lossy) == 2
    assert "plane compute: no PFC" in capsys.readouterr().err
    site = Path(shutil.copytree(inventory, tmp_path / "site"))
    unmarked = "{WRED_PROFILE: {LOSSLESS_400G: {ecn: ecn_none}}}"
    (site / "unmarked.yaml").write_text(f"overrides: [{{match: {{plane: compute}}, config_db: {unmarked}}}]\n")
    assert quietly("tune", site, "--pattern", "incast") == 2
    assert "no queue marks with ECN" in capsys.readouterr().err
    assert quietly("init", tmp_path / "subnet", "--technology", "infiniband", "--hosts", 4) == 0
    assert quietly("tune", tmp_path / "subnet", "--pattern", "incast") == 2
    assert "InfiniBand has credits" in capsys.readouterr().err


def test_an_inventory_with_errors_has_findings(inventory: Path, cli: Cli) -> None:
    done = cli("tune", inventory, "--set", "planes.compute.mtu=3", "--pattern", "incast", "--format", "json")
    assert done.code == 1
    assert json.loads(done.out)["findings"][0]["code"] == "FG105"
