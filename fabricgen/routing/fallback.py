"""Longest-prefix match: if a switch has no route to a packet's prefix, the packet follows a shorter prefix that covers
it, unless a discard route between the two drops it."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import Words
from fabricgen.routing.network import Network
from fabricgen.routing.routes import Destination, Routes
from fabricgen.sonic.addresses import Address, parse_address


def covering(destinations: Sequence[Destination]) -> list[list[int]]:
    """For each destination, those with the next shorter prefix that covers one of its prefixes."""
    column_of: dict[Address, int] = {}
    for column, one in enumerate(destinations):
        column_of.update((address, column) for address in _addresses(one))
    lengths = sorted({(address.version, address.length) for address in column_of}, reverse=True)
    found: list[list[int]] = [[] for _ in destinations]
    for address, column in column_of.items():
        shorter = (size for version, size in lengths if version == address.version and size < address.length)
        around = (column_of.get(address.widened(size)) for size in shorter)
        nearest = next((other for other in around if other is not None), column)
        if nearest != column and nearest not in found[column]:
            found[column].append(nearest)
    return found


def forwarding(network: Network, routes: Routes, discards: Sequence[Sequence[Address]] = ()) -> Words:
    """`routes.nexthops`, plus those of the covering prefix where a switch has, or may have, no route to the longer one.

    `discards[u]` are the prefixes that switch u drops if it has no longer prefix.
    """
    hops, reached = routes.nexthops, routes.reached
    around = covering(routes.destinations)
    shortest_first = sorted(
        (column for column, others in enumerate(around) if others),
        key=lambda column: min(address.length for address in _addresses(routes.destinations[column])),
    )
    missing = {column: ~bits.has(reached, column) | bits.has(routes.ambiguous, column) for column in shortest_first}
    incomplete = [column for column in shortest_first if missing[column].any()]
    if incomplete:
        hops = hops.copy()
    dropping = _dropping(discards, network.switches)
    for column in incomplete:
        for other in around[column]:
            lost = missing[column] & ~_dropped(dropping, routes.destinations[column], routes.destinations[other])
            fallback = bits.has(hops, other) & lost[network.source]
            hops[:, column >> 6] |= fallback.astype(np.uint64) << np.uint64(column & 63)
    return hops


class Fallbacks:
    """Which destinations fall back to which, and which switches drop the packets instead. Row i: packets to `column[i]`
    fall back to `other[i]`, except at the switches in row `mask[i]` of `masks`. `shortest` is the length of the
    shortest prefix of each destination: fallbacks are applied in this order."""

    def __init__(
        self, destinations: Sequence[Destination], discards: Sequence[Sequence[Address]], switches: int
    ) -> None:
        pairs = [(column, other) for column, others in enumerate(covering(destinations)) for other in sorted(others)]
        self.column, self.other = np.array(pairs, np.int64).reshape(-1, 2).T
        lengths = [min((address.length for address in _addresses(one)), default=0) for one in destinations]
        self.shortest = np.array(lengths, np.int64) if pairs else np.zeros(len(destinations), np.int64)
        dropping = _dropping(discards, switches) if pairs else {}
        numbers: dict[bytes, int] = {}
        found = []
        for column, other in pairs:
            dropped = _dropped(dropping, destinations[column], destinations[other])
            row = np.broadcast_to(dropped, switches).tobytes()
            found.append(numbers.setdefault(row, len(numbers)))
        self.mask = np.array(found, np.int64)
        self.masks = np.array([np.frombuffer(row, bool) for row in numbers], bool).reshape(len(numbers), switches)
        self.numbers = numbers

    def keep(self, switch: NDArray[np.int64], column: NDArray[np.int64]) -> bool:
        """Whether nothing changes if `switch[u]` replaces switch u and `column[c]` replaces destination c."""
        if not len(self.column):
            return True
        if (self.shortest[self.other] >= self.shortest[self.column]).any():  # the order of fallbacks matters
            return False
        moved = np.empty_like(self.masks)
        moved[:, switch] = self.masks
        image = np.array([self.numbers.get(row.tobytes(), -1) for row in moved], np.int64)
        near, far = column[self.column], column[self.other]
        order = np.lexsort((far, near))
        after = (near[order], far[order], image[self.mask[order]])
        before = (self.column, self.other, self.mask)
        return all(bool((one == other).all()) for one, other in zip(after, before, strict=True))


def _dropping(discards: Sequence[Sequence[Address]], switches: int) -> dict[Address, NDArray[np.bool_]]:
    """Discarded prefix -> the switches that discard it."""
    found: dict[Address, NDArray[np.bool_]] = {}
    for switch, prefixes in enumerate(discards):
        for prefix in prefixes:
            found.setdefault(prefix, np.zeros(switches, bool))[switch] = True
    return found


def _dropped(
    dropping: Mapping[Address, NDArray[np.bool_]], lost: Destination, around: Destination
) -> NDArray[np.bool_] | np.bool_:
    """The switches that drop every packet to `lost` before it can follow `around`."""
    dropped: NDArray[np.bool_] | np.bool_ = np.True_
    for address in _addresses(lost):
        for wide in (one for one in _addresses(around) if one.covers(address)):
            between = (address.widened(length) for length in range(wide.length + 1, address.length + 1))
            masks = [dropping[prefix] for prefix in between if prefix in dropping]
            dropped = dropped & (np.any(masks, axis=0) if masks else np.False_)
    return dropped


def _addresses(destination: Destination) -> list[Address]:
    return [address for address in map(parse_address, destination.prefixes) if address is not None]
