"""The FIFOs of all ports. Each is a ring of cells: bytes mix within a cell, and cells leave in the order of filling.

A port sends what came first, so a burst of one flow leaves as a burst, and a flow that starts late waits for everything
before it. A queue of a single cell would give correct shares, but would lose both effects.
"""

import numpy as np

from fabricgen.simulate.plane.crossings import Crossings
from fabricgen.simulate.plane.ports import Flags, Floats, Ints

CELLS = 256
_SPARE = 8  # cells that are not full
TINY = 1e-12


class Fifos:
    """The bytes of each entry of `crossed` in the cells of its port. A cell is full at `cell_bytes` (per port). If the
    ring is full, its last cell takes the rest. `popped` counts the bytes that have left each port."""

    def __init__(self, crossed: Crossings, cell_bytes: Floats) -> None:
        self.crossed, self.cell_bytes = crossed, cell_bytes
        self.bytes = np.zeros((CELLS, crossed.size))
        self.filled = np.zeros((CELLS, len(crossed.ports)))
        self.head: Ints = np.zeros(len(crossed.ports), np.int64)
        self.tail: Ints = np.zeros(len(crossed.ports), np.int64)
        self.backlog, self.popped = np.zeros(len(crossed.ports)), np.zeros(len(crossed.ports))
        self._entry, self._port = np.arange(crossed.size), np.arange(len(crossed.ports))

    def push(self, arriving: Floats) -> None:
        """Add bytes of each entry at the end."""
        came = self.crossed.gather(arriving)
        behind = (self.tail + 1) % CELLS
        closed = (self.filled[self.tail, self._port] >= self.cell_bytes) & (behind != self.head) & (came > 0)
        self.tail = np.where(closed, behind, self.tail)
        self.bytes.ravel()[self._places(self.tail)] += arriving
        self.filled[self.tail, self._port] += came
        self.backlog += came

    def pop(self, service: Floats) -> Floats:
        """The bytes of each entry that leave when each port sends up to `service` bytes."""
        moved, rest, cells = np.zeros(self.crossed.size), service, self.bytes.ravel()
        while True:
            here = self.filled[self.head, self._port]
            taken = np.minimum(rest, here)
            places = self._places(self.head)
            waiting = cells[places]
            left = waiting * self.crossed.spread(1.0 - taken / np.maximum(here, TINY))
            cells[places] = left
            moved += waiting - left
            self.filled[self.head, self._port] = here - taken
            self.backlog -= taken
            self.popped += taken
            rest = rest - taken
            through = (taken >= here) & (self.head != self.tail)
            if not through.any():
                return moved
            self.head = np.where(through, (self.head + 1) % CELLS, self.head)
            if not rest[through].any():
                return moved

    def only(self, crossed: Crossings, entries: Flags, ports: Flags) -> "Fifos":
        """The queues of some flows, whose crossings are the chosen entries and ports."""
        kept = Fifos(crossed, self.cell_bytes[ports])
        kept.bytes = np.ascontiguousarray(self.bytes[:, entries])
        kept.filled = np.add.reduceat(kept.bytes, crossed.starts, axis=1)
        kept.backlog = kept.filled.sum(axis=0)
        kept.head, kept.tail, kept.popped = self.head[ports], self.tail[ports], self.popped[ports]
        return kept

    def _places(self, cell: Ints) -> Ints:
        places: Ints = np.repeat(cell * self.crossed.size, self.crossed.widths) + self._entry
        return places


def cell_bytes(most_waiting: Floats, least: Floats) -> Floats:
    """The size of each port's cells, so that the ring holds all bytes that can wait there."""
    return np.maximum(most_waiting / (CELLS - _SPARE), least)
