"""OpenSM's forwarding tables to the paths of packets, as arrays: hop by hop, for all pairs at once.

A switch forwards by destination LID only. The service level (SL), the ingress port and the egress port determine the
virtual lane (VL). Packets to one LID with one SL that meet on one link and lane share the rest of their path, and are
followed once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.observed.opensm_dumps import Dumps

Ints = NDArray[np.int64]

LANES = 16
MOST_HOPS = 64  # IBA: the longest directed route; longer paths are forwarding loops
_PACKETS_PER_PASS = 1 << 15  # their arrays stay in a core's cache


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop of many packets to the LIDs of `columns` of the destinations. A channel is a port of a switch and a lane,
    `(switch * P + port) * LANES + lane`. The packets hold channel `held`, -1 at the first switch, and wait for
    `awaited`."""

    columns: Ints
    held: Ints
    awaited: Ints


@dataclass(frozen=True, slots=True)
class Lost:
    """Packets to `columns` that are lost at `switches`."""

    switches: Ints
    columns: Ints


def walk(dumps: Dumps) -> Iterator[Hop | Lost]:
    """All paths between adapter ports, each with its SL (0 if not known), in passes over some destinations."""
    sources = _Sources(dumps)
    per_pass = max(1, _PACKETS_PER_PASS // sources.kinds)
    for first in range(0, len(dumps.destinations), per_pass):
        last = min(first + per_pass, len(dumps.destinations))
        yield from _walk(dumps, *sources.packets(first, last))


def distinct(numbers: Ints) -> Ints:
    """The sorted numbers without duplicates; several times faster than np.unique on tens of millions."""
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))] if len(ordered) else ordered


class _Sources:
    """Adapter ports whose packets switches treat equally: on one switch, at ports with equal SL-to-VL tables."""

    def __init__(self, dumps: Dumps) -> None:
        subnet = dumps.subnet
        self.path_sl = dumps.path_sl
        cabled = np.flatnonzero(subnet.attached_switch >= 0)
        kinds: dict[tuple[int, bytes], int] = {}
        of_adapter = np.full(len(subnet.adapters), -1, np.int64)
        first: list[int] = []
        for adapter in cabled.tolist():
            switch, port = int(subnet.attached_switch[adapter]), int(subnet.attached_port[adapter])
            lanes = b"" if dumps.sl2vl is None else dumps.sl2vl[switch, port].tobytes()
            number = kinds.setdefault((switch, lanes), len(kinds))
            of_adapter[adapter] = number
            if number == len(first):
                first.append(adapter)
        of_row = of_adapter if dumps.path_sl is None else np.tile(of_adapter, len(dumps.path_sl) // len(of_adapter))
        self.rows = [np.flatnonzero(of_row == kind) for kind in range(len(first))]
        self.switch = subnet.attached_switch[first].astype(np.int64)
        self.port = subnet.attached_port[first].astype(np.int64)

    @property
    def kinds(self) -> int:
        return max(1, len(self.switch))

    def packets(self, first: int, last: int) -> tuple[Ints, Ints, Ints, Ints]:
        """(destination column, switch, in-port, SL) of every kind of packet to these destinations."""
        levels = np.ones((len(self.switch), last - first), np.uint16)  # a bit for each SL
        if self.path_sl is not None:
            for number, rows in enumerate(self.rows):
                known = self.path_sl[rows, first:last].astype(np.uint16)
                levels[number] = np.bitwise_or.reduce(np.left_shift(np.uint16(1), known), axis=0)  # 255: no bit
        present = (levels.T[..., None] >> np.arange(LANES, dtype=np.uint16) & 1).astype(bool)
        column, kind, level = np.nonzero(present)
        return column + first, self.switch[kind], self.port[kind], level


def _walk(dumps: Dumps, column: Ints, switch: Ints, into: Ints, level: Ints) -> Iterator[Hop | Lost]:
    subnet = dumps.subnet
    width = subnet.ports
    held = np.full(len(column), -1, np.int64)
    for _ in range(MOST_HOPS):
        out = dumps.forwarding[switch, dumps.destinations[column]].astype(np.int64)
        known = out < width
        out[~known] = 0
        there = subnet.adapter_at[switch, out] == dumps.owners[column]
        onward = (subnet.peer_switch[switch, out] >= 0) & known
        stuck = ~onward & ~(there & known)
        if stuck.any():
            yield Lost(switch[stuck], column[stuck])
        if not onward.all():
            column, switch, into, level, held, out = (each[onward] for each in (column, switch, into, level, held, out))
        if not len(column):
            return
        lane = level if dumps.sl2vl is None else dumps.sl2vl[switch, into, out, level]
        awaited = (switch * width + out) * LANES + lane
        yield Hop(column, held, awaited)
        once = distinct((column << 40) + (awaited << 4) + level)
        column, held, level = once >> 40, (once >> 4) & 0xFFFFFFFFF, once & 0xF
        switch, out = np.divmod(held // LANES, width)
        into = subnet.peer_port[switch, out].astype(np.int64)
        switch = subnet.peer_switch[switch, out].astype(np.int64)
    yield Lost(switch, column)
