"""Credit loops of an InfiniBand subnet: the channel dependency graph over (link, virtual lane).

A packet that holds a lane's buffer at the end of one link and waits for a buffer at the end of the next link is a
dependency. Without a cycle of dependencies there is no deadlock (Dally and Seitz 1987).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.observed.opensm_dumps import Dumps
from fabricgen.results import Cycle
from fabricgen.routing.infiniband import LANES, Lost, distinct, walk
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.core.peel import peel, shortest_cycle

Ints = NDArray[np.int64]
_MERGE_AT = 1 << 22


@dataclass(frozen=True, slots=True)
class CreditLoops:
    """The verdict on one subnet. `lost` are the first (switch, destination LID) at which packets are lost; `lost_count`
    counts all of them. `order` lists all channels so that every dependency goes from an earlier to a later channel;
    None if there is a cycle."""

    lanes: tuple[int, ...]
    channels: int
    dependencies: int
    cycle: Cycle | None
    order: Ints | None
    lost: tuple[tuple[str, int], ...]
    lost_count: int


def find_credit_loops(dumps: Dumps) -> CreditLoops:
    """Follows the packets of every pair of adapter ports, and searches the dependencies for a cycle."""
    used, pairs, lost = _dependencies(dumps)
    held, awaited = np.searchsorted(used, pairs >> 32), np.searchsorted(used, pairs & 0xFFFFFFFF)
    counts = np.bincount(held, minlength=len(used))
    graph = ChannelGraph(np.concatenate(([0], np.cumsum(counts))), awaited.astype(np.int32))
    peeled = peel(graph)
    cycle = _cycle(dumps, used[shortest_cycle(graph, peeled.left)]) if len(peeled.left) else None
    names = dumps.subnet.switches
    return CreditLoops(
        lanes=tuple(np.unique(used % LANES).tolist()),
        channels=len(used),
        dependencies=len(pairs),
        cycle=cycle,
        order=None if cycle else used[peeled.order],
        lost=tuple((names[at >> 32].name, int(dumps.destinations[at & 0xFFFFFFFF])) for at in lost[:5].tolist()),
        lost_count=len(lost),
    )


def _dependencies(dumps: Dumps) -> tuple[Ints, Ints, Ints]:
    """(channels in use, dependencies as held << 32 | awaited, losses as switch << 32 | column), each sorted."""
    is_used = np.zeros(len(dumps.subnet.switches) * dumps.subnet.ports * LANES, bool)
    pairs, lost = _Distinct(), _Distinct()
    for step in walk(dumps):
        if isinstance(step, Lost):
            lost.add(step.switches << 32 | step.columns)
            continue
        is_used[step.awaited] = True
        waiting = step.held >= 0
        pairs.add(step.held[waiting] << 32 | step.awaited[waiting])
    return np.flatnonzero(is_used), pairs.all(), lost.all()


class _Distinct:
    """Numbers without duplicates, merged from time to time to save memory."""

    def __init__(self) -> None:
        self._parts: list[Ints] = [np.empty(0, np.int64)]
        self._size = 0

    def add(self, numbers: Ints) -> None:
        self._parts.append(distinct(numbers))
        self._size += len(self._parts[-1])
        if self._size > _MERGE_AT:
            self._parts = [self.all()]
            self._size = 0

    def all(self) -> Ints:
        return distinct(np.concatenate(self._parts))


def _cycle(dumps: Dumps, channels: Ints) -> Cycle:
    """The cycle by switch and port. The witness of a hop is a LID whose packets hold it and wait for the next hop."""
    pairs = channels << 32 | np.roll(channels, -1)
    witness: dict[int, int] = {}
    for step in walk(dumps):
        if isinstance(step, Lost):
            continue
        pair = step.held << 32 | step.awaited  # negative if the packet holds nothing
        for at in np.flatnonzero(np.isin(pair, pairs)).tolist():
            witness.setdefault(int(pair[at]), int(dumps.destinations[step.columns[at]]))
        if len(witness) == len(pairs):
            break
    width = dumps.subnet.ports
    return Cycle(
        priority=int(channels[0] % LANES),
        hops=tuple(
            (dumps.subnet.switches[switch].name, str(port))
            for switch, port in (divmod(channel // LANES, width) for channel in channels.tolist())
        ),
        witnesses=tuple(str(witness[pair]) for pair in pairs.tolist()),
    )
