"""Giving out aligned runs of numbers, first fit, around what is taken. Addresses are integers here."""

import ipaddress
from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
ADDRESS_OF: Mapping[int, type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address]] = {
    4: ipaddress.IPv4Address,
    6: ipaddress.IPv6Address,
}


@dataclass
class Run:
    """The numbers from `first` to `last`, both included, of which some are taken."""

    first: int
    last: int
    _taken: list[tuple[int, int]] = field(default_factory=list)  # sorted, disjoint (first, last)
    _cursor: dict[int, int] = field(default_factory=dict)  # size -> where the next search begins

    def take(self, first: int, last: int) -> bool:
        """Mark a given run as taken; False when it is not free or lies outside."""
        if first < self.first or last > self.last:
            return False
        index = bisect_left(self._taken, (first, first))
        if index and self._taken[index - 1][1] >= first:
            return False
        if index < len(self._taken) and self._taken[index][0] <= last:
            return False
        insort(self._taken, (first, last))
        return True

    def block(self, first: int, last: int) -> None:
        """Keep a run back, whatever was taken of it before."""
        self._taken = sorted([*self._taken, (first, last)])
        merged: list[tuple[int, int]] = []
        for low, high in self._taken:
            if merged and low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        self._taken = merged

    def give(self, size: int) -> int | None:
        """The first number of a free run of `size` numbers, aligned to `size`; None when there is none left."""
        at = self._cursor.get(size, self.first)
        at += -at % size
        index = bisect_left(self._taken, (at, at))
        if index and self._taken[index - 1][1] >= at:
            index -= 1
        while index < len(self._taken) and self._taken[index][0] < at + size:
            at = max(at, self._taken[index][1] + 1)
            at += -at % size
            index += 1
        if at + size - 1 > self.last:
            return None
        self._cursor[size] = at + size
        insort(self._taken, (at, at + size - 1))
        return at


def run_of(network: Network) -> Run:
    """All addresses of a prefix."""
    return Run(int(network.network_address), int(network.broadcast_address))


def block_size(slots: int) -> int:
    """Addresses of a block for that many point-to-point subnets of two: the next power of two."""
    return 1 << (2 * slots - 1).bit_length()
