"""The time of a step is that of its work."""

import re
from pathlib import Path

import pytest

from fabricgen.cli import progress
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
