"""The FIFOs of all ports: each a ring of cells, mixed within themselves and left in the order they were filled.

What a port sends next is what came first, so that a burst of one flow comes out as a burst and a flow that starts late
waits for everything before it. With a single cell a queue would be well mixed: right for shares, wrong for both.
"""

import numpy as np

from fabricgen.simulate.plane.ports import Crossings, Flags, Floats, Ints

CELLS = 256
_SPARE = 8  # cells that are open or half empty
TINY = 1e-12


class Fifos:
    """Bytes of each entry of `crossed` in the cells of its port. A cell is closed at `cell_bytes` (per port); when the
    ring is full its last cell takes the rest."""

    def __init__(self, crossed: Crossings, cell_bytes: Floats) -> None:
        self.crossed, self.cell_bytes = crossed, cell_bytes
        self.bytes = np.zeros((CELLS, crossed.size))
        self.filled = np.zeros((CELLS, len(crossed.ports)))
        self.head: Ints = np.zeros(len(crossed.ports), np.int64)
        self.tail: Ints = np.zeros(len(crossed.ports), np.int64)
        self.backlog = np.zeros(len(crossed.ports))
        self._entry, self._port = np.arange(crossed.size), np.arange(len(crossed.ports))

    def push(self, arriving: Floats) -> None:
        """Bytes of each entry, behind all that wait."""
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
            rest = rest - taken
            through = (taken >= here) & (self.head != self.tail)
            if not through.any():
                return moved
            self.head = np.where(through, (self.head + 1) % CELLS, self.head)
            if not rest[through].any():
                return moved

    def keep(self, crossed: Crossings, entries: Flags, ports: Flags) -> "Fifos":
        """The queues of the flows that stay, whose crossings are those of the chosen entries and ports."""
        kept = Fifos(crossed, self.cell_bytes[ports])
        kept.bytes = np.ascontiguousarray(self.bytes[:, entries])
        kept.filled = np.add.reduceat(kept.bytes, crossed.starts, axis=1)
        kept.backlog = kept.filled.sum(axis=0)
        kept.head, kept.tail = self.head[ports], self.tail[ports]
        return kept

    def _places(self, cell: Ints) -> Ints:
        places: Ints = np.repeat(cell * self.crossed.size, self.crossed.widths) + self._entry
        return places


def cell_bytes(most_waiting: Floats, least: Floats) -> Floats:
    """The size of each port's cells, so that the ring holds all that can ever wait at it."""
    return np.maximum(most_waiting / (CELLS - _SPARE), least)
