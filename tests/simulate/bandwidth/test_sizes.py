"""Bandwidth by message size: at large sizes what `handoff acceptance` expects, at small ones latency."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fabricgen.acceptance.made import made_tests
from fabricgen.acceptance.planned import Stage
from fabricgen.api.aside import render_aside
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.results import SizeTable
from fabricgen.simulate.bandwidth.sizes import SizesOptions, analyse_sizes
from tests.inventories import planes_together, rail_optimized, write

KIB, GIB = 1 << 10, 1 << 30
PATTERNS = {
    "all_reduce": "ring-all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "sendrecv": "pipeline",
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Eight hosts with eight rails, four hosts to a unit."""
    folder = tmp_path_factory.mktemp("sizes")
    write(folder / "i", rail_optimized())
    render_aside(folder / "i", folder / "b")
    return open_bundle([folder / "b"])


@pytest.fixture(scope="module")
def tables(bundle: Bundle) -> dict[tuple[str, int | None], SizeTable]:
    found = analyse_sizes(bundle, SizesOptions([KIB, 1 << 20, 1024 * GIB], draws=3))
    return {(one.pattern, one.rail): one for one in found}


def test_large_sizes_are_what_acceptance_expects(
    bundle: Bundle, tables: dict[tuple[str, int | None], SizeTable]
) -> None:
    judged = 0
    for test in made_tests(bundle):
        whole = test.stage is Stage.COLLECTIVES and len(test.hosts) == 8
        if not whole and test.stage is not Stage.RAILS:
            continue
        found = tables[PATTERNS[test.collective], test.rail]
        assert found.ranks == len(test.hosts) * test.ranks_of_host
        assert found.rows[-1].even_bus_gbytes == pytest.approx(test.expected, rel=1e-3), test.id
        judged += 1
    assert judged == 8 + 5


def test_bus_bandwidth_is_the_factor_of_nccl_tests(tables: dict[tuple[str, int | None], SizeTable]) -> None:
    factors: dict[str, Callable[[int], float]] = {
        "ring-all-reduce": lambda ranks: 2 * (ranks - 1) / ranks,
        "tree-all-reduce": lambda ranks: 2 * (ranks - 1) / ranks,
        "reduce-scatter": lambda ranks: (ranks - 1) / ranks,
        "all-gather": lambda ranks: (ranks - 1) / ranks,
        "all-to-all": lambda ranks: (ranks - 1) / ranks,
        "pipeline": lambda _: 1.0,
    }
    assert {pattern for pattern, _ in tables} == set(factors)
    for (pattern, _), table in tables.items():
        for row in table.rows:
            assert row.bus_gbytes is not None
            assert row.bus_gbytes.mean == pytest.approx(row.alg_gbytes.mean * factors[pattern](table.ranks))
            assert row.bus_gbytes.least <= row.bus_gbytes.mean <= row.bus_gbytes.highest


def test_small_sizes_take_the_latency_of_the_steps(tables: dict[tuple[str, int | None], SizeTable]) -> None:
    """Eight nodes: around the ring twice less one step each, three levels of a tree up and down."""
    steps = {"ring-all-reduce": 14, "tree-all-reduce": 6, "reduce-scatter": 7, "all-gather": 7, "all-to-all": 1}
    for pattern, count in steps.items():
        table = tables[pattern, None]
        assert table.steps == count
        assert table.rows[0].time_ns.mean == pytest.approx(count * table.way_ns, rel=0.05)
        times = [row.time_ns.mean for row in table.rows]
        assert times == sorted(times)


def test_hosts_without_rails_have_one_table(tmp_path: Path) -> None:
    write(tmp_path / "i", planes_together())
    render_aside(tmp_path / "i", tmp_path / "b")
    found = analyse_sizes(open_bundle([tmp_path / "b"]), SizesOptions([GIB], ["checkpoint"]))
    assert [(one.rail, one.rows[0].bus_gbytes) for one in found if one.rows] == [(None, None)]
