"""`check --watch`: what changes is judged again, however it is saved, and Ctrl-C ends it."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from fabricgen.api.checking import Check
from fabricgen.cli.watching import difference, state_of, wait_for_change
from fabricgen.findings import Finding, Location, Severity
from tests.conftest import Cli
from tests.inventories import explicit, text_of, write

MTU = [{"match": {"name": "spine1"}, "config_db": {"PORT": {"Ethernet0": {"mtu": "1500"}}}}]


def test_an_edit_is_judged_until_an_interrupt(tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    command = [sys.executable, "-m", "fabricgen", "check", inventory, "--watch"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as run:  # fmt: skip
        assert run.stdout is not None and run.stderr is not None
        assert next(line for line in run.stdout if line.startswith("Checked"))
        assert next(line for line in run.stderr if line.startswith("watching"))
        saved = inventory / ".fabric.yaml.swp"  # an editor writes a new file and renames it
        saved.write_text(text_of(explicit() | {"overrides": MTU}))
        saved.replace(inventory / "fabric.yaml")
        assert next(run.stdout).startswith("failed: 1 error")
        assert "+ sonic/spine1/config_db.json" in next(line for line in run.stdout if "FG243" in line)
        assert next(line for line in run.stderr if line.startswith("watching"))
        run.send_signal(signal.SIGINT)
        assert run.wait() == 130
        assert "interrupted; nothing was left half-written" in run.stderr.read()


def test_a_new_file_and_a_missing_file_are_changes(tmp_path: Path) -> None:
    folder, file = tmp_path / "inventory", tmp_path / "inventory" / "fabric.yaml"
    folder.mkdir()
    file.write_text("old")
    files = {folder, file}
    before = state_of(files)
    (folder / "devices.csv").write_text("name\n")
    assert wait_for_change(files, before, 0) == [folder]
    before = state_of(files)
    file.unlink()
    assert set(wait_for_change(files, before, 0)) == files


def test_a_file_that_was_written_during_the_run_is_a_change(tmp_path: Path) -> None:
    """The run is the first to read it, so its state before is not known."""
    file = tmp_path / "readings.json"
    file.write_text("{}")
    os.utime(file, ns=(2, 2))
    assert wait_for_change({file}, {}, began_ns=1) == [file]


def test_a_finding_that_moves_does_not_differ() -> None:
    finding = Finding("FG243", Severity.ERROR, "mtu is 1500", "leaf1", location=Location("/tmp/x/sonic/leaf1", 3, 1))
    old = Check(findings=(replace(finding, location=Location("sonic/leaf1", 9, 1)),))
    assert "no finding differs" in difference(old, Check(findings=(finding,)), "/tmp/x/", color=False)
    shown = difference(old, Check(findings=()), "/tmp/x/", color=False)
    assert shown.splitlines() == ["passed: no findings", "- sonic/leaf1:9:1: error FG243 leaf1 mtu is 1500"]


def test_a_watch_has_no_other_format(cli: Cli) -> None:
    shown = cli("check", "inventories/quickstart", "--watch", "--format", "json")
    assert shown.code == 2 and "--watch shows differences as text" in shown.err
