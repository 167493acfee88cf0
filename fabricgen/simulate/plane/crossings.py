"""Flows by the ports that they cross, for sums over ports and over flows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabricgen.simulate.plane.ports import NO_PORT, Floats, Flows, Ints


@dataclass(frozen=True)
class Crossings:
    """Entry e is flow `flow[e]` at port `ports[port[e]]`; entries are sorted by port. `ports` are those that any flow
    crosses. `onward[e]` and `before[e]` are the entries of the flow's next and previous port, `size` if it has none;
    `first` and `last` are each flow's entries at its NIC and at its last port. `starts` are the first entries of the
    ports."""

    ports: Ints
    port: Ints
    flow: Ints
    onward: Ints
    before: Ints
    starts: Ints
    first: Ints
    last: Ints
    at: Ints  # (flows x hops) entries, `size` after the last hop

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.flow)

    @cached_property
    def widths(self) -> Ints:
        """Entries of each port."""
        return np.diff(np.append(self.starts, self.size))

    def spread(self, per_port: Floats) -> Floats:
        """The value of each port for each of its entries."""
        return np.repeat(per_port, self.widths)

    def gather(self, per_entry: NDArray[np.floating]) -> Floats:
        """Sums over the entries of each port, added in float64."""
        # bincount adds in order, as compiled loops do; reduceat does not, and rounds differently.
        summed = np.bincount(self.port, weights=per_entry, minlength=len(self.ports))
        return summed.astype(float, copy=False)

    def least_of_flow(self, per_port: Floats) -> Floats:
        """The smallest value of each flow over the ports of its path."""
        padded = np.append(self.spread(per_port), np.inf)
        least: Floats = padded[self.at].min(axis=1)
        return least


def crossings(flows: Flows) -> Crossings:
    """The crossings of at least one flow."""
    used = flows.path != NO_PORT
    flow, hop = used.nonzero()
    number = flows.path[flow, hop]
    order = np.argsort(number, kind="stable")
    size = len(order)
    place = np.empty(size, np.int64)
    place[order] = np.arange(size)
    at = np.full((len(flows), flows.path.shape[1] + 1), size, np.int64)
    at[flow, hop] = place
    onward, before = np.full(size, size), np.full(size, size)
    onward[place] = at[flow, hop + 1]
    later = hop > 0
    before[place[later]] = at[flow[later], hop[later] - 1]
    ports, starts = np.unique(number[order], return_index=True)
    widths = np.diff(np.append(starts, size))
    return Crossings(
        ports=ports.astype(np.int64),
        port=np.repeat(np.arange(len(ports)), widths),
        flow=flow[order],
        onward=onward,
        before=before,
        starts=starts.astype(np.int64),
        first=at[:, 0],
        last=at[np.arange(len(flows)), flows.hops - 1],
        at=at[:, :-1],
    )
