"""Many failure sets judged, each by itself: a pure function over batches, here, in processes, or on other machines."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError
from fabricgen.routing.bits import Indices
from fabricgen.simulate.deadlock.core.state import Ground, State
from fabricgen.simulate.deadlock.failures.loss import ShortestPaths
from fabricgen.simulate.deadlock.failures.repair import Repaired

CYCLIC, CUT_OFF, AMBIGUOUS = 1, 2, 4
_BATCH = 256
_PATIENCE_S = 10

Verdicts = NDArray[np.uint8]  # per failure set, the sum of what holds
Batch = list[tuple[Indices, tuple[int, ...]]]  # directed links that are dead, switches that are gone
Spread = Callable[["Question", list[Batch]], Iterator[Verdicts]]


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of each set. `free`: no failures whatever can close a circle by BGP, that is proved already.
    `exact`: no failures can bring about a next hop that the state as configured does not have. `base` is that state,
    where it is known; other machines work it out for themselves."""

    ground: Ground
    repair: bool
    free: bool
    exact: bool
    base: State | None = None

    def __reduce__(self) -> tuple[type["Question"], tuple[object, ...]]:
        return Question, (self.ground, self.repair, self.free, self.exact)


class Judge:
    """The state as configured, computed once, and the verdict on each set of failures."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.base = question.base or question.ground.converged()
        self.paths = ShortestPaths(self.base)
        old_ways_only = self.paths.are_telling or (question.exact and self.paths.are_certain)
        self.calm = not self.base.is_cyclic and old_ways_only

    def verdict(self, dead: Indices, gone: tuple[int, ...]) -> int:
        """CYCLIC, CUT_OFF and AMBIGUOUS, as they hold in the state that BGP settles in, or, under local repair,
        before that."""
        cyclic = self.question.repair and Repaired.of(self.base, dead).is_cyclic
        return (CYCLIC if cyclic else 0) | self._converged(dead, gone)

    def _converged(self, dead: Indices, gone: tuple[int, ...]) -> int:
        if self.calm:
            if not self.paths.lost(dead, gone):
                return 0
            if self.question.exact:
                return CUT_OFF if self.paths.lost(dead, gone, self.question.ground.wanted) else 0
        left, _ = self.question.ground.after(dead, gone)
        state = left.converged()
        cyclic = not self.question.free and state.is_cyclic
        parts = ((CYCLIC, cyclic), (CUT_OFF, state.is_cut_off), (AMBIGUOUS, state.routes.ambiguous.any()))
        return sum(flag for flag, holds in parts if holds)


@lru_cache(maxsize=2)
def judge_of(question: Question) -> Judge:
    """The judge of a question, kept for the next batch of the same."""
    return Judge(question)


def judge_batch(question: Question, batch: Batch) -> Verdicts:
    """The verdict on each set of a batch."""
    judge = judge_of(question)
    return np.array([judge.verdict(dead, gone) for dead, gone in batch], np.uint8)


def sweep(question: Question, sets: Batch, spread: Spread) -> Verdicts:
    """The verdicts on all sets, in their order, whoever computes them."""
    batches = [sets[first : first + _BATCH] for first in range(0, len(sets), _BATCH)]
    return np.concatenate([np.empty(0, np.uint8), *spread(question, batches)])


def in_processes(jobs: int) -> Spread:
    """Batches judged in this process, or in `jobs` of them."""

    def spread(question: Question, batches: list[Batch]) -> Iterator[Verdicts]:
        if jobs == 1 or len(batches) < 2:
            yield from (judge_batch(question, batch) for batch in batches)
            return
        judge_of(question)  # before the fork: the others find it in their memory
        with ProcessPoolExecutor(jobs, mp_context=get_context("fork"), initializer=_take, initargs=(question,)) as pool:
            yield from pool.map(_judge_taken, batches)

    return spread


_taken: list[Question] = []


def _take(question: Question) -> None:
    _taken[:] = [question]


def _judge_taken(batch: Batch) -> Verdicts:
    return judge_batch(_taken[0], batch)


def on_dask(url: str) -> Spread:
    """Batches judged by the workers of a Dask scheduler. Raises UsageError without `distributed`, or where no
    scheduler answers."""
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("--scheduler needs the extra [distributed]: pip install 'fabricgen[distributed]'") from error
    try:
        client = Client(url, timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {url}: {error}") from error

    def spread(question: Question, batches: list[Batch]) -> Iterator[Verdicts]:
        held = client.scatter(question, broadcast=True, hash=False)
        yield from client.gather(client.map(judge_batch, [held] * len(batches), batches, pure=False))

    return spread
