"""`render` names the edited files that it replaces, and `--check --diff` shows what would change."""

import json
from pathlib import Path

import pytest

from tests.conftest import Cli

SPINE = "sonic/compute-spine-00/config_db.json"


@pytest.fixture
def fabric(cli: Cli, tmp_path: Path) -> Path:
    """An inventory, rendered into the folder `build` beside it."""
    cli("init", tmp_path / "fabric", "--hosts", 2)
    assert cli("render", tmp_path / "fabric", "-o", tmp_path / "build").code == 0
    return tmp_path / "fabric"


def edit(build: Path, path: str) -> None:
    text = (build / path).read_text()
    assert '"mtu": "9100"' in text
    (build / path).write_text(text.replace('"mtu": "9100"', '"mtu": "9000"'))


@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_render_names_the_edited_files_that_it_replaces(quiet: tuple[str, ...], fabric: Path, cli: Cli) -> None:
    build = fabric.parent / "build"
    edit(build, SPINE)
    done = cli("render", fabric, "-o", build, *quiet)
    assert done.code == 0
    assert f"warning: replaced 1 file edited by hand since the last render: {SPINE}" in done.err
    assert "warning" not in cli("render", fabric, "-o", build).err


def test_check_and_diff_show_the_rows_and_write_nothing(fabric: Path, cli: Cli) -> None:
    build = fabric.parent / "build"
    clean = cli("render", fabric, "-o", build, "--check", "--diff")
    assert clean.code == 0 and "~" not in clean.out
    edit(build, SPINE)
    before = {file: file.read_bytes() for file in build.rglob("*") if file.is_file()}
    shown = cli("render", fabric, "-o", build, "--check", "--diff")
    assert shown.code == 1
    assert f"{SPINE} differs from what the inventory renders, and was edited after it was rendered" in shown.out
    assert "mtu 9000 → 9100" in shown.out
    assert "mtu 9000" not in cli("render", fabric, "-o", build, "--check").out
    assert {file: file.read_bytes() for file in build.rglob("*") if file.is_file()} == before


def test_the_difference_of_chosen_switches(fabric: Path, cli: Cli) -> None:
    """Switches that --only excludes keep their files, so their edits are not shown."""
    build = fabric.parent / "build"
    edit(build, SPINE)
    shown = cli("render", fabric, "-o", build, "--check", "--diff", "--only", "*-leaf")
    assert "mtu" not in shown.out and "removed device" not in shown.out


def test_a_difference_needs_check(fabric: Path, cli: Cli) -> None:
    done = cli("render", fabric, "-o", fabric.parent / "build", "--diff")
    assert done.code == 2 and "add --check" in done.err
    missing = cli("render", fabric, "-o", fabric.parent / "new", "--check", "--diff")
    assert missing.code == 1 and not (fabric.parent / "new").exists()


def test_stale_files_in_every_format(fabric: Path, cli: Cli) -> None:
    """With --format there is one report, and nothing else on standard output."""
    build = fabric.parent / "build"
    assert "::error" not in cli("render", fabric, "-o", build, "--check", "--format", "github").out
    edit(build, SPINE)
    lines = cli("render", fabric, "-o", build, "--check", "--format", "github")
    assert lines.code == 1 and f"::error file={build / SPINE},line=" in lines.out and "title=FG990" in lines.out
    sarif = cli("render", fabric, "-o", build, "--check", "--format", "sarif")
    [run] = json.loads(sarif.out)["runs"]
    assert sarif.code == 1 and {one["ruleId"] for one in run["results"]} == {"FG990"}
    refused = cli("render", fabric, "-o", build, "--check", "--diff", "--format", "json")
    assert refused.code == 2 and "leave out --format" in refused.err


def test_github_names_the_cost_and_order_of_the_comment(fabric: Path, cli: Cli) -> None:
    """The words of `diff --format plan`, which the comment on a pull request has."""
    build, wanted = fabric.parent / "build", fabric.parent / "wanted"
    clean = cli("render", fabric, "-o", build, "--check", "--format", "github").out
    assert "FG859" not in clean and "::error" not in clean
    cli("render", fabric, "-o", wanted)
    edit(build, SPINE)
    comment = cli("diff", build, wanted, "--format", "plan", "--safe", "--output", fabric.parent / "plan").out
    before = {file: file.read_bytes() for file in build.rglob("*") if file.is_file()}
    shown = cli("render", fabric, "-o", build, "--check", "--format", "github")
    notes = [line.partition("::notice ")[2] for line in shown.out.splitlines() if "FG859" in line]
    assert shown.code == 1 and len(notes) == 2
    head, *steps, total, order, stage, between = filter(None, comment.splitlines())
    assert notes[0] == f"title=FG859::{'; '.join((total, order))} {stage.strip()}; {between}".replace("%", "%25")
    assert notes[1].startswith(f"file={build / SPINE},title=FG859 compute-spine-00::{head}; patch 1: ")
    assert steps and all(word in notes[1] for step in steps for word in step.split()[1:])
    assert {file: file.read_bytes() for file in build.rglob("*") if file.is_file()} == before


def test_a_missing_bundle_has_no_cost(fabric: Path, cli: Cli) -> None:
    missing = cli("render", fabric, "-o", fabric.parent / "new", "--check", "--format", "github")
    assert missing.code == 1 and "FG990" in missing.out and "FG859" not in missing.out
