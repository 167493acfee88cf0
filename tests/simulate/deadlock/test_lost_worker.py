"""The example with two Dask workers in docs/simulate-deadlock.md, of which one is killed in the middle of its work."""

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest

from tests.bgp_fabric import open_configs
from tests.simulate.deadlock.test_fabrics import clos
from tests.simulate.deadlock.test_failures import distinct

distributed = pytest.importorskip("distributed")
PAGE = Path(__file__).parents[3] / "docs" / "simulate-deadlock.md"
DEADLINE_S = 60


def example(port: int) -> list[list[str]]:
    """The commands of the page: a scheduler, two workers and fabricgen."""
    [block] = [part for part in PAGE.read_text().split("```") if part.startswith("console\ndask scheduler")]
    lines = block.replace("8786", str(port)).splitlines()[1:]
    return [shlex.split(line.removesuffix("&")) for line in lines]


def free_port() -> int:
    with socket.socket() as given:
        given.bind(("127.0.0.1", 0))
        return int(given.getsockname()[1])


def start(command: list[str], ends: ExitStack) -> subprocess.Popen[bytes]:
    """A command of the page in its own process group, which ends with the test."""
    module = {"dask": "dask", "fabricgen": "fabricgen"}[command[0]]
    process = subprocess.Popen(
        [sys.executable, "-m", module, *command[1:]],
        stdout=subprocess.PIPE if module == "fabricgen" else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=dict(os.environ),
    )
    ends.callback(process.wait, DEADLINE_S)
    ends.callback(kill, process)
    return process


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def test_a_lost_worker_loses_no_result(tmp_path: Path) -> None:
    open_configs(clos(12, 2, distinct).configs(), tmp_path)
    scheduler, first, second, simulate = example(port := free_port())
    simulate = [*(str(tmp_path) if word == "build" else word for word in simulate), "--format", "json"]
    simulate += ["--fail-on", "never"]
    alone = subprocess.run(
        [sys.executable, "-m", *(word for word in simulate if not word.startswith("tcp:") and word != "--scheduler")],
        capture_output=True, timeout=DEADLINE_S, check=True,
    )  # fmt: skip
    assert orjson.loads(alone.stdout)["deadlock"]["failures"]["sets"] == 2024
    with ExitStack() as ends:
        start(scheduler, ends)
        workers = [start(command, ends) for command in (first, second)]
        client = ends.enter_context(distributed.Client(f"tcp://127.0.0.1:{port}", timeout=DEADLINE_S))
        client.wait_for_workers(2, timeout=DEADLINE_S)
        running = start(simulate, ends)
        until = time.monotonic() + DEADLINE_S
        while not all(client.processing().values()) and time.monotonic() < until and running.poll() is None:
            time.sleep(0.01)
        assert running.poll() is None, "the run ended before a worker was killed"
        kill(workers[0])
        found, _ = running.communicate(timeout=DEADLINE_S)
        assert len(client.scheduler_info()["workers"]) == 1
    assert running.returncode == 0
    assert found == alone.stdout
