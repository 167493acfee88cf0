"""`simulate congestion --failures` and `--sizes` as people use them."""

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.inventories import rail_optimized, write


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle whose leaves have two uplinks."""
    from fabricgen.api.aside import render_aside

    folder = tmp_path_factory.mktemp("congestion")
    write(folder / "i", rail_optimized(oversubscription=2))
    render_aside(folder / "i", folder / "b")
    return folder / "b"


def test_failures(cli: Cli, built: Path) -> None:
    base = ("simulate", "congestion", str(built), "--pattern", "all-to-all", "--failures", "1")
    found = cli(*base, "--format", "json")
    (one,) = json.loads(found.out)["congestion"]["failures"]
    assert (one["depth"], one["sets"], one["worst"]["share"], one["how"]) == (1, 32, 0.5, "each")
    text = cli(*base).out
    assert "32 sets (each judged)" in text and "(50.0%) after compute/su" in text and "FG713" in text


def test_switches_fail_alone_without_a_number(cli: Cli, built: Path) -> None:
    found = cli("simulate", "congestion", str(built), "--switch-failures", "--format", "json")
    (one,) = json.loads(found.out)["congestion"]["failures"]
    assert one["switches"] and one["stopping"] == 16 and one["worst"]["time_ns"] is None


def test_sizes(cli: Cli, built: Path) -> None:
    base = ("simulate", "congestion", str(built), "--sizes", "1KiB:1MiB:4")
    plane = json.loads(cli(*base, "--format", "json").out)["congestion"]
    assert [row["size_bytes"] for row in plane["sizes"][0]["rows"]] == [1024 * 4**step for step in range(6)]
    assert len(plane["sizes"]) == 6 * 9
    text = cli(*base, "--pattern", "all-gather").out
    assert text.count("bandwidth ") == 1 and "all-gather, 64 ranks" in text and "alone, 8 ranks, 1MiB" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--sizes", "1KiB"), "FROM:TO"),
        (("--sizes", "1KiB:1MiB:1"), "factor from 2 on"),
        (("--sizes", "1MiB:1KiB"), "is less than"),
        (("--sizes", "1KiB:lots"), "'lots' is not a byte count"),
        (("--failures", "3"), "0<=x<=2"),
    ],
)
def test_wrong_values(cli: Cli, built: Path, options: tuple[str, ...], words: str) -> None:
    found = cli("simulate", "congestion", str(built), *options)
    assert found.code == 2 and words in found.err
