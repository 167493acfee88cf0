"""Pools of numbers: aligned runs, first fit. Sets of addresses are netaddr's; the numbers given out are integers."""

import math
from bisect import bisect_right
from collections.abc import Iterable

from netaddr import IPNetwork, IPSet

Range = tuple[int, int]  # first and last, both included
GATEWAY, FIRST_HOST = 1, 2  # of the subnet of a VLAN: the address of the switch, and that of slot 0


class NumberPool:
    """The free numbers of a pool."""

    def __init__(self, free: Iterable[Range]) -> None:
        """`free` are disjoint ranges in ascending order, with a gap between any two."""
        self._free = list(free)
        self._starts: dict[int, int] = {}  # size -> no free run of that size begins below: free numbers only get fewer

    def take(self, first: int, last: int) -> bool:
        """Take a range out of the pool; False if any number of it is not free."""
        index = bisect_right(self._free, (first, math.inf)) - 1
        if index < 0 or last > self._free[index][1]:
            return False
        self._cut(index, first, last)
        return True

    def give(self, size: int) -> int | None:
        """The first number of the lowest free run of `size` numbers, aligned to `size`; None if all are too short."""
        start = self._starts.get(size, 0)
        for index in range(max(bisect_right(self._free, (start, math.inf)) - 1, 0), len(self._free)):
            low, high = self._free[index]
            first = max(low, start)
            first += -first % size
            if first + size - 1 <= high:
                self._starts[size] = first + size
                self._cut(index, first, first + size - 1)
                return first
        return None

    def _cut(self, index: int, first: int, last: int) -> None:
        low, high = self._free[index]
        self._free[index : index + 1] = [(a, b) for a, b in ((low, first - 1), (last + 1, high)) if a <= b]


def address_pool(network: IPNetwork, reserved: IPSet) -> NumberPool:
    """The addresses of a prefix without the reserved ones, as integers."""
    return NumberPool((part.first, part.last) for part in (IPSet([network]) - reserved).iter_ipranges())


def block_size(slots: int) -> int:
    """The number of addresses in a block of `slots` point-to-point subnets: two for each, rounded up to a power of
    two."""
    return 1 << (2 * slots - 1).bit_length()


def subnet_size(used: int) -> int:
    """The number of addresses of a subnet in which so many are used, beside the last one (broadcast)."""
    return 1 << used.bit_length()
