"""The end of a run says what it cost, and what would make the skipped tests run."""

import os
import resource
import time
from collections import Counter
from typing import Any, NamedTuple

import pytest

_STARTED = time.monotonic()


class Cost(NamedTuple):
    """CPU seconds of a process and of the children that it waited for, and the peak of its memory in MiB."""

    cpu_s: float
    peak_mib: int


_WORKERS: list[Cost] = []


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker reports its cost to the process that started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["cost"] = tuple(_cost())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """The cost of a worker that ends. One that crashed has none."""
    if "cost" in getattr(node, "workeroutput", {}):
        _WORKERS.append(Cost(*node.workeroutput["cost"]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for the cost, and one for each reason why tests were skipped."""
    reasons = Counter(str(report.longrepr[2]) for report in terminalreporter.getreports("skipped"))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")
    costs = _WORKERS or [_cost()]
    terminalreporter.write_line(
        f"{time.monotonic() - _STARTED:.0f} s, {sum(one.cpu_s for one in costs):.0f} s of CPU without daemons, "
        f"{max(one.peak_mib for one in costs)} MiB in the largest of {len(costs)} processes"
    )


def _cost() -> Cost:
    times = os.times()
    cpu_s = times.user + times.system + times.children_user + times.children_system
    return Cost(cpu_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
