"""The examples with two Dask workers of a page, and a run of which one worker is killed in the middle."""

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.components import package

DOCS = Path(__file__).parents[1] / "docs"
DEADLINE_S = 60


def _distributed() -> ModuleType:
    """Imported by the tests that run: each process that collects them would take a second."""
    return package("distributed", "distributed")


class Done(NamedTuple):
    """A run that has ended."""

    code: int
    output: bytes
    errors: bytes


def example(page: str, port: int) -> list[list[str]]:
    """The commands of a page: a scheduler, two workers, and fabricgen."""
    [block] = [part for part in (DOCS / page).read_text().split("```") if part.startswith("console\ndask scheduler")]
    lines = block.replace("8786", str(port)).splitlines()[1:]
    return [shlex.split(line.removesuffix("&")) for line in lines]


def free_port() -> int:
    with socket.socket() as given:
        given.bind(("127.0.0.1", 0))
        return int(given.getsockname()[1])


def alone(command: Sequence[str], folder: Path) -> Done:
    """A command of fabricgen, without the scheduler."""
    words = [word for word in command[1:] if not word.startswith("tcp:") and word != "--scheduler"]
    done = subprocess.run(
        [sys.executable, "-m", "fabricgen", *words], cwd=folder, capture_output=True, timeout=DEADLINE_S, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


@contextmanager
def two_workers(commands: Sequence[list[str]], folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The scheduler and the workers of an example, in `folder`."""
    with ExitStack() as ends:
        scheduler, *workers = commands
        _start(scheduler, folder, ends)
        running = [_start(command, folder, ends) for command in workers]
        with _distributed().Client(workers[0][2], timeout=DEADLINE_S) as client:
            client.wait_for_workers(len(workers), timeout=DEADLINE_S)
        yield running


def while_one_is_killed(command: Sequence[str], workers: Sequence[subprocess.Popen[bytes]], folder: Path) -> Done:
    """A command of fabricgen with a scheduler; a worker is killed when all have work."""
    url = next(word for word in command if word.startswith("tcp:"))
    with _distributed().Client(url, timeout=DEADLINE_S) as client, ExitStack() as ends:
        running = _start(list(command), folder, ends)
        until = time.monotonic() + DEADLINE_S
        while not all(client.processing().values()) and time.monotonic() < until and running.poll() is None:
            time.sleep(0.01)
        assert running.poll() is None, f"the run ended before a worker was killed: {running.communicate()}"
        _kill(workers[0])
        output, errors = running.communicate(timeout=DEADLINE_S)
        assert len(client.scheduler_info()["workers"]) == 1
    return Done(running.returncode, output, errors)


def _start(command: list[str], folder: Path, ends: ExitStack) -> subprocess.Popen[bytes]:
    """A command in its own process group, which ends with the test."""
    shown = subprocess.PIPE if command[0] == "fabricgen" else subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-m", *command], cwd=folder, stdout=shown, stderr=shown, start_new_session=True,
        env=dict(os.environ),
    )  # fmt: skip
    ends.callback(process.wait, DEADLINE_S)
    ends.callback(_kill, process)
    return process


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
