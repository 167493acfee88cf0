"""Freezes: cycles of paused queues that wait for each other, in which no packet moves.

A paused queue waits until the packets that came over its link leave the far switch, so it waits for every queue there
that holds some of them. A cycle of such waits in which no queue sent a packet for a while never ends.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import Freeze
from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.packets.records import NONE
from fabricgen.simulate.packets.state import Run

CHECK_NS = 50_000
MOST_CHECK_NS = 1_000_000  # while nothing moves, checks become less frequent

Queue = tuple[int, int]  # port, class


class FreezeWatch:
    """Checks the network every `CHECK_NS`, last at `checked_ns`. `found` is the first freeze, `over_ns` the time when
    its cycle moved again."""

    def __init__(self, network: PacketNetwork) -> None:
        self.found: Freeze | None = None
        self.over_ns: int | None = None
        self.checked_ns = 0
        self.period = self.first = CHECK_NS * network.ticks_per_ns
        self._cycle: list[Queue] = []
        self._searched: tuple[bytes, bytes, int] | None = None
        self._stuck, self._sent = _stuck(network.run), network.run.queues["sent"].copy()

    def look(self, network: PacketNetwork) -> None:
        """Compare with the last check."""
        run = network.run
        self.checked_ns = network.ns(network.now)
        stuck, sent = _stuck(run), run.queues["sent"].copy()
        still = stuck & self._stuck & (sent == self._sent)
        slower = min(2 * self.period, MOST_CHECK_NS * network.ticks_per_ns)
        self.period = slower if (sent == self._sent).all() else self.first
        self._stuck, self._sent = stuck, sent
        if self._cycle and self.over_ns is None and not all(still[queue] for queue in self._cycle):
            self.over_ns = self.checked_ns
        if self.found is None and still.any() and self._is_new(run, still):
            cycle = _cycle(run, still)
            if cycle:
                self._cycle = cycle
                since = max(int(run.holds["since"][queue]) for queue in cycle)
                self.found = Freeze(network.ns(since), tuple(network.ports[port] for port, _ in cycle))

    def close(self) -> None:
        """Nothing to do."""

    def _is_new(self, run: Run, still: NDArray[np.bool_]) -> bool:
        """Whether the queues changed since the last search for a cycle: they sent, or their bytes changed."""
        state = still.tobytes(), self._sent.tobytes(), int(run.queues["bytes"].sum())
        before, self._searched = self._searched, state
        return state != before


def _stuck(run: Run) -> NDArray[np.bool_]:
    """[port, class]: whether a queue of a switch is paused and has packets."""
    lanes = np.arange(run.settings.classes)
    blocked = run.ports["waiting"] & run.ports["paused"]
    blocked[run.ports["is_switch"] == 0] = 0
    return (blocked[:, None] >> lanes & 1).astype(bool)


def _cycle(run: Run, still: NDArray[np.bool_]) -> list[Queue]:
    """A cycle of waits among queues that did not move, from its smallest member; empty without a cycle."""
    members = [(int(port), int(lane)) for port, lane in zip(*still.nonzero(), strict=True)]
    waits = waits_for(run, members)
    colour: dict[Queue, int] = {}  # 1: on the path, 2: done
    for begin in members:
        path: list[tuple[Queue, list[Queue]]] = [(begin, list(waits[begin]))] if begin not in colour else []
        if path:
            colour[begin] = 1
        while path:
            queue, left = path[-1]
            if not left:
                colour[queue] = 2
                path.pop()
                continue
            following = left.pop()
            if colour.get(following) == 1:
                names = [each for each, _ in path]
                cycle = names[names.index(following) :]
                first = cycle.index(min(cycle))
                return cycle[first:] + cycle[:first]
            if following not in colour:
                colour[following] = 1
                path.append((following, list(waits[following])))
    return []


def waits_for(run: Run, queues: Sequence[Queue]) -> dict[Queue, list[Queue]]:
    """The queues among `queues` that each of these paused queues waits for."""
    blocked: dict[tuple[int, int], list[Queue]] = {}
    for port, lane in queues:
        for came_by in set(_packets(run, port, lane, "port")):
            blocked.setdefault((came_by, lane), []).append((port, lane))
    return {(port, lane): blocked.get((int(run.ports["peer"][port]), lane), []) for port, lane in queues}


def _packets(run: Run, port: int, lane: int, field: str) -> list[Any]:
    """The values of a field for every packet in a queue."""
    found, packet = [], int(run.queues["head"][port, lane])
    while packet != NONE:
        found.append(int(run.events[field][packet]))
        packet = int(run.events["next"][packet])
    return found
