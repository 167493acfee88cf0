"""A small fabric, tuned once for all tests of the command."""

from pathlib import Path

import pytest

from fabricgen.api.tune import Tuning, tune
from fabricgen.cli.main import run
from fabricgen.vocabulary import Goal
from tests.inventories import NVIDIA, rail_optimized, write

QUICK = ("--pattern", "incast", "--size", "2MiB", "--budget", "3000000", "--draws", "6", "--queue-pairs", "1,2")


def tune_quickly(source: Path, goal: Goal = Goal.P99, scheduler: str | None = None) -> Tuning:
    """What the command does with the options of QUICK."""
    return tune(
        source, pattern="incast", goal=goal, size_bytes=2 << 20, draws=6, queue_pairs=(1, 2), budget_hops=3_000_000,
        scheduler=scheduler,
    )  # fmt: skip


def quietly(*words: object) -> int:
    with pytest.raises(SystemExit) as stop:
        run(["-q", *map(str, words)])
    return int(stop.value.code or 0)


@pytest.fixture(scope="session")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four hosts on one unit, with SN5600 switches: the rules let their alpha change."""
    tree = rail_optimized(hosts=4, unit=4, planned=1, platform=NVIDIA)
    return write(tmp_path_factory.mktemp("tuned") / "inventory", tree)


@pytest.fixture(scope="session")
def built(inventory: Path) -> Path:
    folder = inventory.parent / "build"
    assert quietly("render", inventory, "--output", folder) == 0
    return folder


@pytest.fixture(scope="session")
def tuned(built: Path) -> Tuning:
    """A tuning for p99."""
    return tune_quickly(built)
