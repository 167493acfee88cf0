"""Judges many failure sets one by one: a pure function over batches, run here, in processes, or on other machines."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bits import Indices
from fabricgen.simulate.deadlock.core.state import Ground, State
from fabricgen.simulate.deadlock.failures.repair import Repaired
from fabricgen.simulate.deadlock.failures.shortest_paths import ShortestPaths
from fabricgen.spread import connected, spread

CYCLIC, DISCONNECTED, AMBIGUOUS = 1, 2, 4
_BATCH = 256

Verdicts = NDArray[np.uint8]  # per failure set, the sum of the flags that hold
Batch = list[tuple[Indices, tuple[int, ...]]]  # (failed directed links, failed switches) of each set
Spread = Callable[["SetJudge", list[Batch]], Iterable[Verdicts]]


@dataclass(frozen=True, eq=False)
class SetJudge:
    """The verdict on one failure set at a time.

    `repair`: sets are judged under local repair too. `free`: it is proved that no failures close a cycle after BGP has
    converged. `exact`: no failures cause a next hop that the state as configured does not have. `configured` is that
    state, if it is known; a copy on another machine computes it again.
    """

    ground: Ground
    repair: bool
    free: bool
    exact: bool
    configured: State | None = None

    def __reduce__(self) -> tuple[type["SetJudge"], tuple[object, ...]]:
        return SetJudge, (self.ground, self.repair, self.free, self.exact)

    @cached_property
    def base(self) -> State:
        """The state as configured."""
        return self.configured or self.ground.converged()

    @cached_property
    def paths(self) -> ShortestPaths:
        """The shortest paths of the state as configured."""
        return ShortestPaths(self.base)

    @cached_property
    def only_loss_matters(self) -> bool:
        """Whether a set that takes no switch's last shortest path changes no verdict."""
        only_old_hops = self.paths.are_decisive or (self.exact and self.paths.are_certain)
        return only_old_hops and not self.base.buffers.is_cyclic

    def verdict(self, dead: Indices, gone: tuple[int, ...]) -> int:
        """The sum of CYCLIC, DISCONNECTED and AMBIGUOUS, for the state after BGP has converged; CYCLIC also for the
        state before that, under local repair."""
        cyclic = self.repair and Repaired.of(self.base, dead).buffers.is_cyclic
        return (CYCLIC if cyclic else 0) | self._converged(dead, gone)

    def _converged(self, dead: Indices, gone: tuple[int, ...]) -> int:
        if self.only_loss_matters:
            if not self.paths.lost(dead, gone):
                return 0
            if self.exact:
                return DISCONNECTED if self.paths.lost(dead, gone, self.ground.host_destinations) else 0
        left, _ = self.ground.after(dead, gone)
        state = left.converged()
        cyclic = not self.free and state.buffers.is_cyclic
        ambiguous = state.routes.ambiguous.any()
        flags = ((CYCLIC, cyclic), (DISCONNECTED, state.is_disconnected), (AMBIGUOUS, ambiguous))
        return sum(flag for flag, holds in flags if holds)


def judge_batch(judge: SetJudge, batch: Batch) -> Verdicts:
    """The verdict on each set of a batch."""
    return np.array([judge.verdict(dead, gone) for dead, gone in batch], np.uint8)


def sweep(judge: SetJudge, sets: Batch, over: Spread) -> Verdicts:
    """The verdicts on all sets, in the order of the sets."""
    batches = [sets[first : first + _BATCH] for first in range(0, len(sets), _BATCH)]
    return np.concatenate([np.empty(0, np.uint8), *over(judge, batches)])


def in_processes(jobs: int) -> Spread:
    """Judges batches in this process if `jobs` is 1, otherwise in that many processes."""

    def in_batches(judge: SetJudge, batches: list[Batch]) -> Iterator[Verdicts]:
        if len(batches) > 1:
            _ = judge.only_loss_matters  # before the fork: the processes share its memory
        return spread(partial(judge_batch, judge), batches, jobs)

    return in_batches


@contextmanager
def on_dask(url: str) -> Iterator[Spread]:
    """Judges batches on the workers of a Dask scheduler. Raises UsageError as `connected`."""
    with connected(url) as client:

        def on_workers(judge: SetJudge, batches: list[Batch]) -> Iterator[Verdicts]:
            held = client.scatter(judge, broadcast=True, hash=False)
            yield from client.gather(client.map(judge_batch, [held] * len(batches), batches, pure=False))

        yield on_workers
