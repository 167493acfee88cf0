"""Whole-process cost of a command: CPU seconds of it and its children, the largest resident set, and time."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run."""

    cpu_s: float
    rss_mib: float
    time_s: float


def run(command: Sequence[str]) -> Cost:
    """Run a command without its output. If it fails, exit with the end of its output."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        assert child.stdout
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} exited with {child.returncode}:\n{output.decode()[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.perf_counter() - start)


def typical(command: Sequence[str], runs: int) -> Cost:
    """The median of several runs."""
    costs = [run(command) for _ in range(runs)]
    return Cost(*(median(each) for each in zip(*map(astuple, costs), strict=True)))


def fabricgen(*arguments: str) -> list[str]:
    """The command line of this environment's fabricgen."""
    return [sys.executable, "-m", "fabricgen", *arguments]
