"""Writing commands that end at any step: the output is old or new, and nothing is left.

`benchmarks/kills.py` does the same at system calls, with strace. Here a process that has all modules is forked, and an
audit hook sends the signal when a file or folder is made, opened, linked, renamed or removed.
"""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.kills import state, temporary_files
from fabricgen.__main__ import run
from fabricgen.interrupts import ENDING
from tests.conftest import Cli
from tests.inventories import explicit, write

STEPS = ("open", "os.mkdir", "os.link", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.scandir", "ctypes.dlsym")
POINTS = 4


@dataclass
class _Plan:
    """When a forked process gets a signal."""

    root: str = ""
    at: int = 0
    number: int = 0
    seen: int = 0
    twice: bool = False


def _end_at(plan: _Plan) -> None:
    """Let this process get the signal of a plan. Nothing takes an audit hook away again, so only a fork has it."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in STEPS or (event != "ctypes.dlsym" and plan.root not in str(arguments)):
            return
        plan.seen += 1
        if plan.seen == plan.at or (plan.twice and plan.seen == plan.at + 1):
            os.kill(os.getpid(), plan.number)

    sys.addaudithook(hook)


def forked(
    root: Path, command: Sequence[object], at: int = 0, number: int = 0, *, twice: bool = False
) -> tuple[int, int]:
    """(exit code, steps) of a command in a process that gets a signal at a step. Negative codes are signals."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.chdir(root)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        for each in ENDING:
            signal.signal(each, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["fabricgen", "-q", *map(str, command)]
        code = 99
        plan = _Plan(str(root), at, number, twice=twice)
        _end_at(plan)
        try:
            run()
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            os.write(writer, str(plan.seen).encode())
            os._exit(code)
    os.close(writer)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with os.fdopen(reader) as stream:
        steps = int(stream.read() or 0)
    return status, steps


@pytest.fixture
def root(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two inventories of one fabric and their bundles, and a folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    write(tmp_path / "one", explicit())
    write(tmp_path / "two", explicit(mtu=9000))
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        assert cli("render", name, "-o", f"bundle-{name}").code == 0
    return tmp_path


CASES = {
    "render": (["render", "one", "-o", "out"], ["render", "two", "-o", "out"]),
    "new": (None, ["render", "one", "-o", "out"]),
    "init": (None, ["init", "out", "--hosts", "2"]),
    "import": (None, ["import", "config-db", "bundle-one/sonic", "-o", "out"]),
    "ansible": (["handoff", "ansible", "bundle-one", "-o", "out"], ["handoff", "ansible", "bundle-two", "-o", "out"]),
}


@pytest.mark.parametrize(
    ("case", "number"),
    [
        *((case, signal.SIGKILL) for case in CASES),
        *((case, signal.SIGTERM) for case in CASES),
        ("render", signal.SIGINT),
    ],
)
def test_a_signal_at_any_step(root: Path, cli: Cli, case: str, number: signal.Signals) -> None:
    before, command = CASES[case]
    out = root / "out"
    assert cli(*command).code == 0  # loads the modules

    def begin() -> None:
        for each in sorted(out.rglob("*"), reverse=True):
            each.rmdir() if each.is_dir() and not each.is_symlink() else each.unlink()
        out.rmdir() if out.exists() else None
        if before:
            assert forked(root, before)[0] == 0
            (out / "notes.txt").write_text("mine")

    begin()
    old = state(out)
    code, steps = forked(root, command)
    new = state(out)
    assert code == 0 and new not in ({}, old) and steps > POINTS
    for nth in range(POINTS):
        begin()
        code, _ = forked(root, command, 1 + nth * (steps - 1) // (POINTS - 1), number, twice=nth % 2 == 1)
        assert state(out) in (old, new)
        if number is signal.SIGKILL:
            assert code == -signal.SIGKILL
            if state(out) == old or before:
                assert forked(root, command)[0] == 0
                assert state(out) == new
        else:
            assert code in (0, 130)
        if number is not signal.SIGKILL or state(out) != new or before:
            assert temporary_files(root) == []
