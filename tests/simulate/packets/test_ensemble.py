"""Several draws of a run, and the limit of its cost."""

import json
from math import comb
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.simulate.packets.running import star
from tests.simulate.packets.test_realistic import ECN, dcqcn

from fabricgen.simulate.packets.ensemble import interval  # isort: skip (compiled code comes after its cache)


@pytest.fixture
def marking(tmp_path: Path) -> str:
    """A scenario with random marks."""
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(star(4, 1_000_000, transport=dcqcn(), switch_defaults=ECN)))
    return str(file)


@pytest.mark.parametrize(("count", "place"), [(1, 0), (2, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (100, 39)])
def test_interval_of_the_median_is_distribution_free(count: int, place: int) -> None:
    """The known ranks of the 95 % interval of a median, for example 40 and 61 of 100 values."""
    found = interval("p50", list(range(count))[::-1])
    values = range(count)
    assert (found.low_ns, found.high_ns) == (values[place], values[-1 - place])
    assert found.median_ns == (count - 1) // 2
    assert found.confidence == round(1 - 2 * sum(comb(count, below) for below in range(place + 1)) / 2**count, 4)


def test_draws_do_not_depend_on_the_number_of_processes(marking: str, cli: Cli) -> None:
    """Each draw is the run of its seed; the first is what is reported."""
    command = ["simulate", "packets", "--scenario", marking, "--format", "json"]
    one, two = (json.loads(cli("-q", "--jobs", jobs, *command, "--draws", "6").out) for jobs in ("1", "2"))
    assert one == two
    packets, single = one["packets"], json.loads(cli("-q", *command).out)["packets"]
    assert packets["flows"] == single["flows"]
    assert packets["draws"]["seeds"] == [1, 2, 3, 4, 5, 6]
    alone = [
        json.loads(cli("-q", *command, "--seed", str(seed)).out)["packets"]["fct_ns"]["p50"] for seed in range(1, 7)
    ]
    (p50,) = (spread for spread in packets["draws"]["spread"] if spread["name"] == "p50")
    assert (p50["low_ns"], p50["high_ns"], p50["confidence"]) == (min(alone), max(alone), 0.9688)
    assert min(alone) < max(alone)
    assert single["draws"] == {"seeds": [1], "spread": []}


def test_findings_say_in_how_many_draws(marking: str, cli: Cli) -> None:
    tree = json.loads(Path(marking).read_text())
    tree["stop_ns"] = 100_000
    Path(marking).write_text(json.dumps(tree))
    text = cli("-q", "simulate", "packets", "--scenario", marking, "--draws", "3").out
    assert "4 of 4 flows have not completed after 100 us (in 3 of 3 draws)" in text


def test_the_slice_is_about_cost(rendered: Path, cli: Cli) -> None:
    """The limit is in packet hops, and the report has the hops of all hosts."""
    command = ["-q", "simulate", "packets", str(rendered), "--pattern", "all-to-all", "--size", "1MB"]
    command += ["--format", "json"]
    whole, part = (json.loads(cli(*command, "--max-hops", hops).out)["packets"] for hops in ("1000000000", "2000"))
    assert len(part["flows"]) < len(whole["flows"])
    text = cli(*command[:-2], "--max-hops", "2000").out
    assert "a slice: " in text
    assert "--max-hops is 2000" in text
