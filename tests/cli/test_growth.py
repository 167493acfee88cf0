"""`fabricgen check` of a changed inventory: judged whole before anything is written, and compared with a bundle."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli

LOCK = "allocations.lock.yaml"


@pytest.fixture
def grown(tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fabric with half of its hosts more, beside its lock file; run from its parent."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small / "inventory", tmp_path / "fabric")
    change(tmp_path / "fabric", "count: 8", "count: 12")
    return Path("fabric")


def change(inventory: Path, old: str, new: str) -> None:
    file = inventory / "fabric.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def shown(cli: Cli, *arguments: object) -> tuple[int, dict[str, Any]]:
    outcome = cli("check", *arguments, "--format", "json")
    return outcome.code, json.loads(outcome.out)


def test_growth_is_judged_whole_and_listed(grown: Path, cli: Cli) -> None:
    before = (grown / LOCK).read_bytes()
    code, report = shown(cli, grown)
    assert code == 0 and (grown / LOCK).read_bytes() == before
    assert report["deadlock"]["verdict"] == "free" and report["summary"]["rules"] > 200
    assert report["summary"]["devices"] == 8
    (note,) = report["findings"]
    assert (note["code"], note["severity"]) == ("FG382", "note") and "changes none" in note["message"]
    done = cli("render", grown, "-o", "bundle")
    number = sum(map(len, report["lock"]["added"].values()))
    assert done.code == 0 and f"allocated {number} new entries in" in done.err
    assert f"adds {number} entries" in note["message"]
    kept, after = before.decode().splitlines(), (grown / LOCK).read_text().splitlines()
    added = [line for line in after if line not in kept]
    assert [line for line in kept if line not in after] == ["  compute/gpu: [0, 1]"]
    entries = report["lock"]["added"]
    assert entries["units"] == {"compute/gpu": [2]}
    assert sum(map(len, entries.values())) == len(added)
    for key, name in entries["names"].items():
        assert f"  {key}: {name}" in added
    for section in ("loopbacks", "management", "blocks"):
        assert all(f"  {key}: [{', '.join(value)}]" in added for key, value in entries[section].items())
    assert "lock" not in shown(cli, grown)[1]


def test_the_text_names_the_entries(grown: Path, cli: Cli) -> None:
    change(grown, "count: 12", "count: 16")
    lines = cli("check", grown).out.splitlines()
    assert lines[1] == "lock  + units: compute/gpu: 2, 3"
    both = "compute/su2/rail0/leaf0: compute-su02-r0-leaf; compute/su2/rail1/leaf0: compute-su02-r1-leaf"
    assert lines[2] == f"lock  + names: {both}; and 2 more"


def test_render_counts_what_it_changes_in_the_lock(small: Path, cli: Cli, tmp_path: Path) -> None:
    shutil.copytree(small / "inventory", tmp_path / "fabric")
    lock = tmp_path / "fabric" / LOCK
    lock.write_text(lock.read_text().replace("compute-su00-r0-leaf", "old-name"))
    assert "rendered" in (done := cli("render", tmp_path / "fabric", "-o", tmp_path / "b")).err
    assert "allocated" not in done.err  # the name that the lock has is kept
    (tmp_path / "fabric" / "names.yaml").write_text("names: {leaf: '{plane}-{su}-{rail}'}\n")
    done = cli("render", tmp_path / "fabric", "-o", tmp_path / "b")
    assert "changed 4 entries in" in done.err and "0 new" not in done.err


def test_locked_makes_a_lock_that_would_change_an_error(grown: Path, cli: Cli) -> None:
    code, report = shown(cli, grown, "--locked")
    assert code == 1 and [(one["code"], one["severity"]) for one in report["findings"]] == [("FG382", "error")]
    (grown / LOCK).unlink()
    assert shown(cli, grown, "--locked")[0] == 1 and shown(cli, grown)[0] == 0


def test_an_entry_that_changes_is_a_warning_and_judged(grown: Path, cli: Cli) -> None:
    change(grown, "count: 12", "count: 8")
    (grown / "names.yaml").write_text('names: {leaf: "{fabric}-u{su}-rail{rail}"}\n')
    code, report = shown(cli, grown)
    found = [(one["code"], one["severity"]) for one in report["findings"]]
    assert code == 0 and found == [("FG382", "warning"), ("FG400", "note")]
    assert "changed 4 entries (4 names)" in report["findings"][0]["message"]
    assert report["deadlock"]["verdict"] == "free" and "lock" not in report
    assert shown(cli, grown, "--fail-on", "warning")[0] == 1


@pytest.fixture
def against(tmp_path: Path, small: Path) -> Path:
    return Path(shutil.copytree(small / "bundle", tmp_path / "bundle"))


def test_growth_within_the_plan_moves_no_cable(grown: Path, against: Path, cli: Cli) -> None:
    code, report = shown(cli, grown, "--against", "bundle")
    cables, devices = report["against"]["cables"], report["against"]["devices"]
    assert code == 0 and devices == {"added": 2, "changed": 2, "alike": 4, "removed": 0, "unseen": 0}
    assert cables["moved"] == cables["removed"] == [] and len(cables["new"]) == 12
    old = len(json.loads((against / "fabric.json").read_text())["cables"])
    assert cables["unchanged"] == old
    out = cli("check", grown, "--against", "bundle").out
    assert "\nagainst bundle: 2 new switches, 2 changed, 4 unchanged, 0 removed\n" in out
    assert "against bundle: 12 new cables, 0 moved, 0 removed, 24 unchanged\n" in out
    assert out.count("  new cable: ") == 11 and "  new cable: 2 more; --format json lists all\n" in out


def test_a_changed_plan_shows_the_cables_that_move(grown: Path, against: Path, cli: Cli) -> None:
    change(grown, "count: 12", "count: 8")
    change(grown, "planned: 4", "planned: 64")
    change(grown, "count: 2", "count: 4")
    code, report = shown(cli, grown, "--against", "bundle")
    (moves,) = (one for one in report["findings"] if one["code"] == "FG270")
    moved = report["against"]["cables"]["moved"]
    assert code == 0 and moves["severity"] == "warning" and moves["count"] == len(moved) == 8
    assert moves["location"]["file"] == "fabric/fabric.yaml" and moves["path"] == "planes.compute.scalable_unit"
    wired = json.loads((against / "fabric.json").read_text())["links"]
    old = {frozenset(map(tuple, (link["a"], link["b"]))) for link in wired}
    for cable in moved:
        assert all(frozenset(map(tuple, pair)) in old for pair in cable["old"])
        assert all(frozenset(map(tuple, pair)) not in old for pair in cable["new"])
    out = cli("check", grown, "--against", "bundle").out
    assert f"against bundle: 0 new cables, {len(moved)} moved" in out
    assert "  moved cable: compute-su00-r1-leaf:Ethernet496: compute-spine-00:Ethernet8 -> " in out


def test_a_renamed_switch_keeps_its_cables(grown: Path, against: Path, cli: Cli) -> None:
    change(grown, "count: 12", "count: 8")
    (grown / "names.yaml").write_text('names: {leaf: "{fabric}-u{su}-rail{rail}", host: "node{number}"}\n')
    cables = shown(cli, grown, "--against", "bundle")[1]["against"]["cables"]
    assert (cables["new"], cables["moved"], cables["removed"]) == ([], [], [])


def test_the_bundle_of_another_fabric_is_refused(grown: Path, against: Path, cli: Cli) -> None:
    (against / "fabric.json").unlink()
    outcome = cli("check", grown, "--against", "bundle")
    assert outcome.code == 2 and "bundle is not a bundle: it has no fabric.json" in outcome.err
