"""`render` and `validate` on two Dask workers, by the example in docs/speed.md; one worker is killed in the middle."""

import shutil
from pathlib import Path

import pytest

from tests.dask_example import alone, example, free_port, two_workers, while_one_is_killed
from tests.inventories import rail_optimized, write


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with an inventory of two parts for workers, whose files have findings."""
    wrong = {"match": {"role": "spine"}, "config_db": {"PORT": {"Ethernet0": {"mtu": "1500"}}}}
    tree = {**rail_optimized(hosts=16, unit=4, planned=4), "overrides": [wrong]}
    (tmp_path / "my-fabric").mkdir()
    write(tmp_path / "my-fabric", tree)
    return tmp_path


def test_a_lost_worker_changes_no_byte_and_no_finding(site: Path) -> None:
    *cluster, render, validate = example("speed.md", free_port())
    validate += ["--format", "json", "--fail-on", "never"]
    assert alone(render, site).code == 0
    expected = files_of(site / "build")
    assert sum(path.startswith("sonic/") for path in expected) > 32
    findings = alone(validate, site)
    assert b'"FG' in findings.output
    shutil.move(site / "build", site / "before")
    with two_workers(cluster, site) as workers:
        found = while_one_is_killed(render, workers, site)
        assert found.code == 0, found.errors
        assert files_of(site / "build") == expected
    with two_workers(cluster, site) as workers:
        assert while_one_is_killed(validate, workers, site)[:2] == findings[:2]
