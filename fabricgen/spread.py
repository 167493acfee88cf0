"""A function over many items, in this process or in several that share its memory. Results keep the order of the items.

Processes are forked, so the function can be a closure over anything. Only items and results are sent between processes.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

from fabricgen.children import be_worker

Item = TypeVar("Item")
Result = TypeVar("Result")

_of_this_process: list[Callable[[Any], Any]] = []


def spread(function: Callable[[Item], Result], items: Sequence[Item], jobs: int, together: int = 1) -> Iterator[Result]:
    """The results of `function` on each item, in up to `jobs` processes. A process takes `together` items at a time."""
    jobs = min(jobs, len(items))
    if jobs <= 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(jobs, get_context("fork"), initializer=_start, initargs=(function,)) as pool:
        yield from pool.map(_call, items, chunksize=together)


def _start(function: Callable[[Any], Any]) -> None:
    be_worker()
    _of_this_process[:] = [function]


def _call(item: Any) -> Any:
    return _of_this_process[0](item)
