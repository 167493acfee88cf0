"""A function over many items, in this process, in several that share its memory, or on the workers of a Dask scheduler.
Results keep the order of the items.

Processes are forked, so the function can be a closure over anything. Only items and results are sent between processes.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir, contextmanager
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait as ended
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from fabricgen.children import be_worker
from fabricgen.engine.derived import end_recording
from fabricgen.errors import KilledError, UsageError
from fabricgen.interrupts import held

if TYPE_CHECKING:
    from distributed import Client

Item = TypeVar("Item")
Result = TypeVar("Result")

SWITCHES_EACH = 32  # a process with fewer takes longer to start than they do
_CONNECT_TIMEOUT_S = 10
_LOOK_S = 0.2
_of_this_process: list[Callable[[Any], Any]] = []
_one_at_a_time = Lock()


def worthwhile(jobs: int, switches: int) -> int:
    """How many of `jobs` processes save more than it costs to start them, in a fabric of this size."""
    return max(1, min(jobs, switches // SWITCHES_EACH))


def spread(function: Callable[[Item], Result], items: Sequence[Item], jobs: int, together: int = 1) -> Iterator[Result]:
    """The results of `function` on each item, in up to `jobs` processes. A process takes `together` items at a time."""
    jobs = min(jobs, len(items))
    if jobs <= 1:
        yield from map(function, items)
        return
    with _processes(function, jobs) as pool:
        with held():
            begun = deque(pool.submit(items[at : at + together]) for at in range(0, len(items), together))
        while begun:
            yield from pool.results(begun.popleft())


@contextmanager
def apart(function: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Begin `function` in another process. What is yielded waits for the result."""
    with _processes(lambda _: function(), 1) as pool:
        with held():
            begun = pool.submit((None,))
        yield lambda: pool.results(begun)[0]


class _Pool:
    """Forked processes that `_call` a function. An interrupt within a call of the executor could leave a lock taken for
    which its thread waits: each call is `held`."""

    def __init__(self, function: Callable[[Any], Any], jobs: int) -> None:
        self._executor = ProcessPoolExecutor(jobs, get_context("fork"), initializer=_start, initargs=(function,))
        self._own: set[BaseProcess] = set()

    def submit(self, items: Sequence[Any]) -> "Future[list[Any]]":
        begun = self._executor.submit(_call, items)
        if not self._own:  # all are started by the first call; active_children() leaves out one that has ended
            self._own = {*(getattr(self._executor, "_processes", None) or {}).values()}
        return begun

    def results(self, begun: "Future[list[Any]]") -> list[Any]:
        """The results of a `_call`. An interrupt takes effect between two looks at them."""
        while True:
            with held():
                if wait([begun], _LOOK_S).done:
                    return begun.result()
                if ended([process.sentinel for process in self._own], 0):
                    self.kill()

    def kill(self) -> None:
        """End the processes at once. The thread of the executor waits for the rest of an answer that one had begun, so
        the other end of the pipe is closed here as well."""
        for process in self._own:
            process.kill()
        answers: Any = getattr(self._executor, "_result_queue", None)
        if answers is not None:
            answers._writer.close()

    def end(self) -> None:
        self._executor.shutdown(cancel_futures=True)


@contextmanager
def _processes(function: Callable[[Any], Any], jobs: int) -> Iterator[_Pool]:
    """Processes for a function. An interrupt ends them at once. Raises KilledError."""
    pool = _Pool(function, jobs)
    try:
        yield pool
    except KeyboardInterrupt:
        pool.kill()
        raise
    except BrokenProcessPool as error:
        raise KilledError from error
    finally:
        with held():
            pool.end()


def _start(function: Callable[[Any], Any]) -> None:
    be_worker()
    end_recording()
    _of_this_process[:] = [function]


def _call(items: Sequence[Any]) -> list[Any]:
    return [_of_this_process[0](item) for item in items]


@contextmanager
def connected(url: str) -> "Iterator[Client]":
    """A client of a Dask scheduler, tcp://HOST:PORT, which is closed at the end. Raises UsageError if `distributed` is
    not installed or no scheduler answers."""
    import asyncio

    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("--scheduler needs the extra [distributed]: pip install 'fabricgen[distributed]'") from error
    try:
        asyncio.run(_reach(url))  # a client that finds no scheduler leaves a thread behind
        client = Client(url, timeout=_CONNECT_TIMEOUT_S, set_as_default=False)
    except (OSError, TimeoutError, TypeError, ValueError) as error:  # TypeError: TLS without a configuration
        raise UsageError(f"no Dask scheduler answers at {url}: {error}") from error
    with client:
        yield client


async def _reach(url: str) -> None:
    """Raises OSError if nothing answers, and ValueError for another address than tcp://HOST:PORT."""
    from distributed.comm import connect

    answer = await connect(url, timeout=_CONNECT_TIMEOUT_S)
    await answer.close()


def spread_on_workers(client: "Client", function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The results of `function`, which is of a module, on the workers of a scheduler.

    The workers read the files of this machine at the same paths. The items of a worker that is lost go to another one.
    """
    futures = deque(client.map(partial(_call_in, Path.cwd(), function), items, pure=False))
    while futures:  # a result is released as soon as it is used
        result: Result = futures.popleft().result()
        yield result


def _call_in(folder: Path, function: Callable[[Item], Result], item: Item) -> Result:
    """The result in a folder, which all threads of a process share."""
    if not os.access(folder, os.X_OK):
        raise UsageError(f"a worker of the scheduler cannot enter {folder}: share this folder with the workers")
    with _one_at_a_time, chdir(folder):
        return function(item)
