"""Ends each writing command at single system calls, and checks what it leaves.

    python -m benchmarks.kills [--points 100] [--signals KILL,TERM,INT] [--only render]

strace sends the signal at a system call that makes, writes, links, renames, locks or removes a file. After each run the
output is the old or the new one, complete. After SIGTERM and SIGINT no temporary file is left; after SIGKILL none is
left when the next run has ended.
"""

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

CALLS = (
    "mkdir,mkdirat,link,linkat,symlink,rename,renameat,renameat2,unlink,unlinkat,rmdir,chmod,fchmod,fchmodat,chown,"
    "fchown,fchownat,lchown,utimensat,setxattr,write,flock,creat"
)
_FABRICGEN = (sys.executable, "-m", "fabricgen", "-q")
_HERE = str(Path(__file__).parents[1])  # the fabricgen of this folder, in any working directory
_TEMPORARY = re.compile(r"\.fabricgen-(new-)?[0-9a-f]{8}|fabricgen-[a-z]+-[0-9a-f]{8}|\.fabricgen-journal\.json")

_OPTIONS = {
    "ztp": ("--url", "http://10.0.0.1/ztp"),
    "containerlab": ("--only", "compute-su00-r?-leaf,compute-spine-00"),
}

State = dict[str, str]  # path -> digest of a file, or its kind


@dataclass(frozen=True)
class Case:
    """A command whose output folder changes from `old` to `new`; without `before` it is new."""

    name: str
    before: tuple[str, ...] | None
    command: tuple[str, ...]
    output: str = "out"


def state(folder: Path) -> State:
    """Everything below a folder; {} if it does not exist."""
    return {str(each.relative_to(folder)): _digest(each) for each in sorted(folder.rglob("*"))}


def temporary_files(root: Path) -> list[str]:
    """The temporary files of fabricgen below a folder."""
    return sorted(str(each.relative_to(root)) for each in root.rglob("*") if _TEMPORARY.search(each.name))


def _digest(file: Path) -> str:
    if file.is_symlink() or not file.is_file():
        return "link" if file.is_symlink() else "folder"
    return hashlib.sha256(file.read_bytes()).hexdigest()


def cases(handoffs: Sequence[str]) -> list[Case]:
    """All commands that write folders. The working directory has the inventories and bundles `one` and `two`."""
    found = [
        Case("render, new", None, ("render", "one", "--output", "out")),
        Case("render", ("render", "one", "--output", "out"), ("render", "two", "--output", "out")),
        Case("init", None, ("init", "out", "--design", "explicit")),
        Case("import", None, ("import", "config-db", "bundle-one/sonic", "--output", "out")),
    ]
    for name in handoffs:
        options = ("--output", "out", *_OPTIONS.get(name, ()))
        before = ("handoff", name, "bundle-one", *options)
        found.append(Case(f"handoff {name}", before, ("handoff", name, "bundle-two", *options)))
    return found


class Bench:
    """A working folder in which a case is run again and again."""

    def __init__(self, root: Path, case: Case) -> None:
        self.root, self.case = root, case
        self.scratch, self.saved, self.output = root / "tmp", root / "saved", root / case.output
        self.scratch.mkdir(exist_ok=True)
        for folder in (self.saved, self.output):
            shutil.rmtree(folder, ignore_errors=True)
        if case.before:
            self.run(case.before)
            (self.output / "notes.txt").write_text("a file of a person")
            (self.output / "empty").mkdir()
            shutil.copytree(self.output, self.saved)
        self.old = state(self.output)
        self.calls = self._calls()
        self.new = state(self.output)
        assert self.new and self.new != self.old, case.name

    def reset(self) -> None:
        """The state before the command."""
        shutil.rmtree(self.output, ignore_errors=True)
        if self.case.before:
            shutil.copytree(self.saved, self.output)

    def run(self, command: Sequence[str], tracer: Sequence[str] = ()) -> subprocess.CompletedProcess[bytes]:
        """Run fabricgen; `tracer` is a command that starts it."""
        environment = {**os.environ, "TMPDIR": str(self.scratch), "PYTHONPATH": _HERE}
        return subprocess.run(
            [*tracer, *_FABRICGEN, *command], cwd=self.root, env=environment, capture_output=True,
            preexec_fn=_default_signals,
        )  # fmt: skip

    def _calls(self) -> list[tuple[str, int]]:
        """The system calls of a complete run, in their order: the name, and its number among those of the name."""
        log = self.root / "strace.log"
        tracer = ("strace", "-f", "--seccomp-bpf", "-e", f"trace={CALLS}", "-e", "signal=none", "-o", str(log))
        done = self.run(self.case.command, tracer)
        assert done.returncode == 0, done.stderr.decode()
        seen: Counter[str] = Counter()
        found = []
        for line in log.read_text().splitlines():
            if call := re.match(r"\d+ +(\w+)\(", line):
                seen[call[1]] += 1
                found.append((call[1], seen[call[1]]))
        return found

    def end_at(self, call: tuple[str, int], number: signal.Signals) -> str:
        """What is wrong after a signal at the system call; "" if nothing."""
        self.reset()
        name, nth = call
        inject = f"inject={name}:signal={number.name}:when={nth}"
        done = self.run(
            self.case.command,
            ("strace", "-f", "-o", "/dev/null", "-e", f"trace={name}", "-e", inject),
        )
        if number is signal.SIGKILL and done.returncode != -signal.SIGKILL:
            return f"not killed: exit code {done.returncode}"
        return self._left(done, number)

    def _left(self, done: subprocess.CompletedProcess[bytes], number: signal.Signals) -> str:
        left = state(self.output)
        if left not in (self.old, self.new):
            return f"neither old nor new: {sorted(set(left.items()) ^ set(self.old.items()))[:3]}"
        if number is not signal.SIGKILL:
            if b"Traceback" in done.stderr or done.returncode not in (0, 130):
                return f"exit code {done.returncode}: {done.stderr.decode()[-300:]}"
            if temporary_files(self.root):
                return f"left: {temporary_files(self.root)}"
            return ""
        if left != self.new or self.case.before:
            again = self.run(self.case.command)
            if again.returncode != 0 or state(self.output) != self.new:
                return f"the next run failed: {again.stderr.decode()[-300:]}"
            return f"left after the next run: {temporary_files(self.root)}" if temporary_files(self.root) else ""
        return ""


def _default_signals() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def spread(calls: Sequence[tuple[str, int]], wanted: int) -> list[tuple[str, int]]:
    """So many system calls, evenly spread, with the first and the last one."""
    if len(calls) <= wanted:
        return list(calls)
    return [calls[nth * (len(calls) - 1) // (wanted - 1)] for nth in range(wanted)]


def prepare(root: Path) -> None:
    """Write two inventories of one fabric, with 8 and with 40 hosts, and their bundles."""

    def run(*command: str) -> None:
        environment = {**os.environ, "PYTHONPATH": _HERE}
        subprocess.run([*_FABRICGEN, *command], cwd=root, env=environment, check=True, capture_output=True)

    for name, hosts in (("one", "8"), ("two", "40")):
        run("init", name, "--hosts", hosts)
        for file in (root / name).iterdir():
            file.write_text(file.read_text().replace("fabric: two", "fabric: one"))
        run("render", name, "--output", f"bundle-{name}")


def main(report: Callable[[str], None] = print) -> int:
    """Run all cases; returns the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--signals", default="KILL,TERM,INT")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    from fabricgen.handoff import handoffs

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        prepare(root)
        for case in cases(list(handoffs())):
            if given.only not in case.name:
                continue
            bench = Bench(root, case)
            for number in (signal.Signals[f"SIG{name}"] for name in given.signals.split(",")):
                chosen = spread(bench.calls, given.points)
                problems = {call: problem for call in chosen if (problem := bench.end_at(call, number))}
                failures += len(problems)
                report(
                    f"{case.name}: {number.name} at {len(chosen)} of {len(bench.calls)} system calls, "
                    f"{len(problems)} failures"
                )
                for call, problem in problems.items():
                    report(f"  at {call}: {problem}")
    return failures


if __name__ == "__main__":
    sys.exit(bool(main()))
