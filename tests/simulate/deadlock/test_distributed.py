"""The sweep on a real Dask scheduler with two workers."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from fabricgen.simulate.deadlock.infiniband.analysis import analyse_subnets
from fabricgen.simulate.deadlock.infiniband.failures import WantedFailures
from fabricgen.simulate.opensm import Tools
from tests.bgp_fabric import open_configs
from tests.components import package
from tests.opensm.netlists import dragonfly, write
from tests.simulate.deadlock.test_fabrics import clos
from tests.simulate.deadlock.test_failures import distinct

DEADLINE_S = 60


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler on a free port, with two workers."""
    package("distributed", "distributed")
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, text=True))
        return started[-1]

    try:
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        output = start("distributed.cli.dask_scheduler", *options, stderr=subprocess.PIPE).stderr
        assert output
        url = next(found[0] for line in output if (found := re.search(r"tcp://127\.0\.0\.1:\d+", line)))
        for _ in range(2):
            start("distributed.cli.dask_worker", url, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        yield url
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(DEADLINE_S)
            if process.stderr:
                process.stderr.close()


def simulate(folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "fabricgen", "simulate", "deadlock", str(folder), "--format", "json", *options]
    return subprocess.run(command, capture_output=True, timeout=DEADLINE_S, env=dict(os.environ), check=False)


def test_dask_says_the_same(scheduler: str, tmp_path: Path) -> None:
    open_configs(clos(6, 2, distinct).configs(), tmp_path)
    wanted = ("--failures", "3", "--fail-on", "never")
    here, there = simulate(tmp_path, *wanted), simulate(tmp_path, *wanted, "--scheduler", scheduler)
    assert there.returncode == 0, there.stderr.decode()
    assert there.stdout == here.stdout
    failures = orjson.loads(there.stdout)["deadlock"]["failures"]
    assert failures["sets"] == 220
    assert failures["cyclic_sets"] > 0


@pytest.mark.parametrize("url", ["tcp://127.0.0.1:9", "tls://127.0.0.1:9", "nonsense"])
def test_no_scheduler_is_a_usage_error(url: str, tmp_path: Path) -> None:
    open_configs(clos(2, 2).configs(), tmp_path)
    done = simulate(tmp_path, "--failures", "1", "--scheduler", url)
    assert done.returncode == 2
    assert f"no Dask scheduler answers at {url}".encode() in done.stderr


def test_opensm_on_workers_judges_every_set(scheduler: str, opensm: Tools, tmp_path: Path) -> None:
    """A worker has the files of the subnet and no more; without workers a sample is judged."""
    write(tmp_path / "infiniband" / "ib", dragonfly(2, 1, 1), "nue,no_fallback")
    [here] = analyse_subnets(tmp_path, wanted=WantedFailures(1, switches=True))
    [there] = analyse_subnets(tmp_path, wanted=WantedFailures(1, switches=True, scheduler=scheduler))
    failures = there.evidence.failures
    assert failures is not None and failures == here.evidence.failures
    assert (failures.sets, len(failures.judged), failures.left_out, failures.is_sample) == (12, 11, 1, False)
    [pairs] = analyse_subnets(tmp_path, wanted=WantedFailures(2, scheduler=scheduler))
    assert pairs.evidence.failures is not None and len(pairs.evidence.failures.judged) == 15
