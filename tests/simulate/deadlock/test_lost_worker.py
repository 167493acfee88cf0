"""The example with two Dask workers in docs/simulate-deadlock.md, of which one is killed in the middle of its work."""

from pathlib import Path

import orjson

from tests.bgp_fabric import open_configs
from tests.dask_example import alone, example, free_port, two_workers, while_one_is_killed
from tests.simulate.deadlock.test_fabrics import clos
from tests.simulate.deadlock.test_failures import distinct


def test_a_lost_worker_loses_no_result(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    open_configs(clos(12, 2, distinct).configs(), tmp_path / "build")
    *cluster, simulate = example("simulate-deadlock.md", free_port())
    simulate += ["--format", "json", "--fail-on", "never"]
    expected = alone(simulate, tmp_path)
    assert orjson.loads(expected.output)["deadlock"]["failures"]["sets"] == 2024
    with two_workers(cluster, tmp_path) as workers:
        found = while_one_is_killed(simulate, workers, tmp_path)
    assert found.code == 0
    assert found.output == expected.output
