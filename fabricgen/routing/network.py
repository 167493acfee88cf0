"""Switches and the links between them as arrays, for routing and dependency analysis."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.engine.derived import derived

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


@dataclass(frozen=True)
class Network:
    """Directed links between switches in compressed rows.

    Link l goes from switch `source[l]` to `target[l]`; links are sorted by source, those of switch u are
    `offsets[u]:offsets[u + 1]`. `reverse[l]` is the opposite direction of the same cable. `incoming` lists the links
    sorted by target, those into switch v are `incoming[incoming_offsets[v]:incoming_offsets[v + 1]]`. Parallel cables
    are separate links. `order[l]` is the number of directed link l in the list of cables: cable p has 2p (a to b) and
    2p + 1 (b to a)."""

    switches: int
    source: Ints
    target: Ints
    offsets: Offsets
    reverse: Ints
    incoming: Ints
    incoming_offsets: Offsets
    order: Offsets

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.source)

    @derived
    def place(self) -> Offsets:
        """The index of each link in `incoming`."""
        place = np.empty(self.links, np.int64)
        place[self.incoming] = np.arange(self.links)
        return place


def build_network(switches: int, a: Sequence[int] | Ints, b: Sequence[int] | Ints) -> Network:
    """The network of `switches` switches with a cable between a[p] and b[p] for every p."""
    ends = np.stack([np.asarray(a, np.int32), np.asarray(b, np.int32)], axis=1)
    source, target = ends.ravel(), ends[:, ::-1].ravel()
    order = np.lexsort((target, source))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    source, target = source[order], target[order]
    incoming = np.lexsort((source, target)).astype(np.int32)
    return Network(
        switches=switches,
        source=source,
        target=target,
        offsets=_offsets(source, switches),
        reverse=place[order ^ 1].astype(np.int32),
        incoming=incoming,
        incoming_offsets=_offsets(target, switches),
        order=order,
    )


def _offsets(keys: Ints, rows: int) -> Offsets:
    counts = np.bincount(keys, minlength=rows)
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
