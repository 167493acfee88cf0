"""The time of a step is that of its work."""

import re
import threading
from pathlib import Path

import pytest

from fabricgen.cli import live_bar, progress
from tests.conftest import Cli


def test_the_time_of_rendering_is_that_of_its_step(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file that is rendered takes a second of this clock. The lock file changes too, which takes none."""
    now = 0.0

    def tick(self: progress.TerminalProgress, items: object, count: int, label: str) -> object:
        nonlocal now
        for item in items:  # type: ignore[attr-defined]
            now += 1
            yield item

    monkeypatch.setattr(progress.time, "perf_counter", lambda: now)
    monkeypatch.setattr(progress.TerminalProgress, "track", tick)
    cli("init", tmp_path / "fabric", "--hosts", 2)
    (tmp_path / "fabric" / "allocations.lock.yaml").unlink()
    shown = cli("render", tmp_path / "fabric", "-o", tmp_path / "build").err.splitlines()
    times = {line.split()[0]: float(found[1]) for line in shown if (found := re.search(r" +([\d.]+) s  ", line))}
    assert times["planned"] == 0 and times["rendered"] > 5
    assert [line.split()[0] for line in shown][-1] == "allocated"


@pytest.mark.parametrize(
    ("rates", "is_shown"),
    [
        ([1.0] * 100, True),  # steady
        ([0.4, 1.6] * 50, True),  # large and small parts
        ([1.5 - second / 130 for second in range(100)], True),  # slower to the end
        ([0.5 + second / 100 for second in range(100)], True),  # faster to the end
        ([0.1] * 60 + [10.0] * 20, False),  # the first seconds prepare the others
        ([0.0] * 100 + [1.0], False),  # all is done at once
    ],
)
def test_the_time_left_is_shown_where_it_is_right_within_a_factor_of_two(
    rates: list[float], is_shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the seconds of each work, with so much done in each of them."""
    now = 0.0
    monkeypatch.setattr(live_bar.time, "monotonic", lambda: now)
    bar = live_bar.LiveBar("working", sum(rates))
    shown = []
    for second, _ in enumerate(rates, 1):
        now = float(second)
        bar.reach(sum(rates[:second]))
        if found := re.search(r"(\d+) s left", str(bar._task()["words"])):
            shown.append((int(found[1]), len(rates) - second))
    assert bool(shown) or not is_shown
    right = [left for left, true in shown if true / 2 <= left + 0.5 and left - 0.5 <= true * 2]
    assert len(right) >= 0.9 * len(shown), shown
    assert len(shown) > len(rates) / 3 or not is_shown


def test_a_bar_beside_processes_is_drawn_without_a_thread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process that is forked beside a thread may wait for a lock for ever. The bar appears after two seconds."""
    now = 0.0
    monkeypatch.setattr(live_bar.time, "monotonic", lambda: now)
    monkeypatch.setenv("FORCE_COLOR", "1")
    threads = threading.active_count()
    with live_bar.LiveBar("rendering", 10, has_thread=False) as bar:
        for second in range(1, 10):
            now = float(second)
            bar.reach(second)
            assert threading.active_count() == threads
            assert (bar._shown is not None) == (second > live_bar.PATIENCE_S)
    assert "rendering" in capsys.readouterr().err
