"""The detours of many failures as tables: the entries of each detour, and the links that it leads to."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bits import Indices
from fabricgen.simulate.deadlock.failures.detours import Detours

Ints = NDArray[np.int32]


class DetourTable:
    """Detours around failures, sorted by failure. Links are given by their place in the graph.

    Detour w belongs to `failure[w]` and uses turn `turn[w]`: over link `via`, then over any of its `onward` links (runs
    that begin at `onward_starts`). Many failures share turns. Entry e is a link `entry[e]` over which packets of
    failure `entry_failure[e]` arrive. `enters` are the pairs (entry, detour) that a packet can use."""

    def __init__(self, detours: Sequence[Detours], channels: int) -> None:
        count = [len(one.via) for one in detours]
        self.failure = np.repeat(np.arange(len(detours)), count)
        turns: dict[tuple[int, bytes], int] = {}
        onward: list[Indices] = [np.empty(0, np.int64)]
        numbers: list[int] = []
        for one in detours:
            ends = np.searchsorted(one.onward_way, np.arange(len(one.via) + 1)).tolist()
            for way, via in enumerate(one.via.tolist()):
                run = one.onward[ends[way] : ends[way + 1]]
                number = turns.setdefault((via, run.tobytes()), len(turns))
                if number == len(onward) - 1:
                    onward.append(run)
                numbers.append(number)
        self.turn = np.array(numbers, np.int64)
        self.via = np.array([via for via, _ in turns], np.int64)
        size = np.array([len(run) for run in onward[1:]], np.int64)
        self.onward, self.onward_starts = np.concatenate(onward), np.cumsum(size) - size
        come = np.concatenate([np.empty(0, np.int64), *(one.come for one in detours)])
        owner = np.repeat(np.arange(len(detours)), [len(one.come) for one in detours])
        entries, entered = np.unique(owner * channels + come, return_inverse=True)
        self.entry_failure, self.entry = np.divmod(entries, channels)
        first = np.repeat(np.cumsum(count) - count, [len(one.come) for one in detours])
        taken = np.concatenate([np.empty(0, np.int64), *(one.come_way for one in detours)]) + first
        self.enters: tuple[Ints, Ints] = entered.astype(np.int32), taken.astype(np.int32)
