"""The addresses and BGP neighbors of many switches in columns: a large fabric has a million of them.

A row becomes an object when it is read. As objects, all rows would take ten times the memory.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from fabricgen.sonic.addresses import WIDTH_BITS, Address
from fabricgen.sonic.image import INTERFACE_TABLES, InterfaceAddress, Neighbor, Terms

T = TypeVar("T")
_LOW_BITS = 64
_LOW_MASK = (1 << _LOW_BITS) - 1
_NO_PEER = Address(0, 0, 0)


class Rows(Sequence[T], Generic[T]):
    """The rows of one switch, as objects that are made at each use."""

    __slots__ = ("_make", "_numbers")

    def __init__(self, make: Callable[[int], T], numbers: range) -> None:
        self._make, self._numbers = make, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._numbers)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> "Rows[T]": ...
    def __getitem__(self, at: int | slice) -> "T | Rows[T]":
        return Rows(self._make, self._numbers[at]) if isinstance(at, slice) else self._make(self._numbers[at])


class NumberColumns:
    """Addresses as columns: the version, the number in two words of 64 bits, and the length of the prefix."""

    def __init__(self) -> None:
        self._version, self._length, self._high, self._low = array("B"), array("B"), array("Q"), array("Q")

    def __getitem__(self, row: int) -> Address:
        number = self._high[row] << _LOW_BITS | self._low[row]
        return Address(self._version[row], number, self._length[row])

    def add(self, addresses: Sequence[Address], lengths: Sequence[int] = ()) -> None:
        """Append rows. `lengths` replaces the lengths of the prefixes."""
        versions, numbers, own = zip(*addresses, strict=True)
        self._version.extend(versions)
        self._length.extend(lengths or own)
        if 6 in versions:
            self._high.extend([number >> _LOW_BITS for number in numbers])
            self._low.extend([number & _LOW_MASK for number in numbers])
        else:
            self._high.extend(bytes(len(numbers)))
            self._low.extend(numbers)

    @property
    def version(self) -> NDArray[np.uint8]:
        """4 or 6; 0 for no address. No row can be added while an array of a column exists."""
        return np.frombuffer(self._version, np.uint8)

    @property
    def length(self) -> NDArray[np.uint8]:
        """The length of the prefix."""
        return np.frombuffer(self._length, np.uint8)

    @property
    def high(self) -> NDArray[np.uint64]:
        """The high words of the numbers."""
        return np.frombuffer(self._high, np.uint64)

    @property
    def low(self) -> NDArray[np.uint64]:
        """The low words of the numbers."""
        return np.frombuffer(self._low, np.uint64)


class _Columns:
    """What both kinds of rows have. `starts[s]` is the first row of switch s."""

    def __init__(self) -> None:
        self.starts = [0]
        self.key: list[str] = []
        self.number = NumberColumns()

    def __len__(self) -> int:
        return len(self.key)

    def rows_of(self, switch: int) -> range:
        """The numbers of the rows of a switch."""
        return range(self.starts[switch], self.starts[switch + 1])

    def switch_of(self, row: int) -> int:
        """The switch of a row."""
        return bisect_right(self.starts, row) - 1

    @property
    def switch(self) -> NDArray[np.int32]:
        """The switch of each row."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))


class AddressColumns(_Columns):
    """Addresses of interfaces. `number` has the lengths of their subnets; `vrf` only rows outside the default VRF."""

    def __init__(self) -> None:
        super().__init__()
        self.table = array("B")  # an index of INTERFACE_TABLES
        self.interface: list[str] = []
        self.bound = array("B")
        self.vrf: dict[int, str] = {}

    def add(self, addresses: Sequence[InterfaceAddress]) -> Rows[InterfaceAddress]:
        """Append those of the next switch. Returns them as rows."""
        first = len(self)
        if addresses:
            tables, keys, interfaces, hosts, networks, bound, vrfs = zip(*addresses, strict=True)
            self.table.extend(map(INTERFACE_TABLES.index, tables))
            self.key += keys
            self.interface += interfaces
            self.number.add(hosts, [network.length for network in networks])
            self.bound.extend(bound)
            if any(vrfs):
                self.vrf.update((first + place, vrf) for place, vrf in enumerate(vrfs) if vrf)
        self.starts.append(len(self))
        return Rows(self.row, range(first, len(self)))

    def longest_around(self, switch: int, address: Address) -> int:
        """The longest prefix of the subnets of a switch in the default VRF that contain an address; -1 without any."""
        rows, number = self.rows_of(switch), self.number
        part = slice(rows.start, rows.stop)
        high, low = host_bits(number, part)
        is_around = number.version[part] == address.version
        is_around &= (number.high[part] ^ np.uint64(address.number >> _LOW_BITS)) >> high == 0
        is_around &= (number.low[part] ^ np.uint64(address.number & _LOW_MASK)) >> low == 0
        is_around[[row - rows.start for row in self.vrf if row in rows]] = False
        return int(number.length[part][is_around].max(initial=0)) if is_around.any() else -1

    def row(self, row: int) -> InterfaceAddress:
        """One address."""
        ends = self.number[row].host_and_network
        return InterfaceAddress(
            INTERFACE_TABLES[self.table[row]],
            self.key[row],
            self.interface[row],
            *ends,
            bool(self.bound[row]),
            self.vrf.get(row, ""),
        )


class NeighborColumns(_Columns):
    """BGP neighbors. `number` has their peers. `interface` has only unnumbered neighbors; `obstacle` only rows whose
    session cannot be established, with the cause; `asn` is -1 for external."""

    def __init__(self) -> None:
        super().__init__()
        self.interface: dict[int, str] = {}
        self.asn = array("q")
        self.terms: list[Terms] = []
        self.obstacle: dict[int, tuple[str, tuple[str, ...]]] = {}

    def add(self, neighbors: Sequence[Neighbor]) -> Rows[Neighbor]:
        """Append those of the next switch. Returns them as rows."""
        first = len(self)
        if neighbors:
            keys, peers, interfaces, asns, terms, obstacles, causes = zip(*neighbors, strict=True)
            self.key += keys
            self.number.add([_NO_PEER if peer is None else peer for peer in peers])
            if any(interfaces):
                self.interface.update((first + place, one) for place, one in enumerate(interfaces) if one)
            self.asn.extend([-1 if asn is None else asn for asn in asns])
            self.terms += terms
            if any(obstacles):
                pairs = enumerate(zip(obstacles, causes, strict=True), first)
                self.obstacle.update((row, (why, cause)) for row, (why, cause) in pairs if why)
        self.starts.append(len(self))
        return Rows(self.row, range(first, len(self)))

    def row(self, row: int) -> Neighbor:
        """One neighbor."""
        peer, asn = self.number[row], self.asn[row]
        return Neighbor(
            self.key[row],
            peer if peer.version else None,
            self.interface.get(row, ""),
            None if asn < 0 else asn,
            self.terms[row],
            *self.obstacle.get(row, ()),
        )


def width_bits(version: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The width of addresses of these versions."""
    widths = np.zeros(7, np.uint8)
    for each, bits in WIDTH_BITS.items():
        widths[each] = bits
    return widths[version]


def host_bits(numbers: NumberColumns, rows: slice = slice(None)) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The bits after the prefix of each address in its high and in its low word."""
    bits = width_bits(numbers.version[rows]) - numbers.length[rows]
    return (np.maximum(bits, _LOW_BITS) - _LOW_BITS).astype(np.uint64), np.minimum(bits, _LOW_BITS).astype(np.uint64)
