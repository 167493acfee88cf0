"""Which row of which switch answers each BGP neighbor row: the owner of its address, and its row for the way back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.spoken_rows import AddressColumns, NeighborColumns, NumberColumns, host_bits, width_bits
from fabricgen.sonic.image import INTERFACE_TABLES

Rows = NDArray[np.int32]
Keys = NDArray[np.int32] | NDArray[np.int64]
Flags = NDArray[np.bool_]
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """For each neighbor row: the address row in the default VRF that has the address of the peer (`owner`), the address
    row of the switch itself in the same subnet (`near`), and the neighbor row of the owner for this address (`answer`).
    NONE where no such row exists."""

    owner: Rows
    near: Rows
    answer: Rows
    _host: Rows  # of each address row, an identifier of its address
    _by_peer: "_LastRow"
    _hosts: int

    def answer_of(self, switch: int, near: int) -> int:
        """The neighbor row of a switch for the address in an address row."""
        return int(self._by_peer.of(np.array([switch * self._hosts + int(self._host[near])]))[0])


class _LastRow:
    """The last row with each key: a later row of a file wins."""

    def __init__(self, keys: Keys, rows: NDArray[np.int64]) -> None:
        order = np.argsort(keys, kind="stable")
        self._keys, self._rows = keys[order], rows[order].astype(np.int32)

    def of(self, keys: Keys) -> Rows:
        """The row of each key, NONE for other keys."""
        if not len(self._keys):
            return np.full(len(keys), NONE, np.int32)
        place = np.searchsorted(self._keys, keys, side="right") - 1
        return np.where(self._keys[place] == keys, self._rows[place], np.int32(NONE))


def find_answers(addresses: AddressColumns, neighbors: NeighborColumns) -> Answers:
    """Looks up all rows at once."""
    own, switch = addresses.switch, neighbors.switch
    host, peer = _hosts(addresses.number, neighbors.number)
    numbered = np.flatnonzero(neighbors.number.version)
    in_default = np.ones(len(own), bool)
    in_default[list(addresses.vrf)] = False
    usable = np.flatnonzero(in_default)
    owner = np.full(len(peer), NONE, np.int32)
    owner[numbered] = _LastRow(host[usable], usable).of(peer[numbered])
    near = _near(addresses, neighbors, in_default, owner)
    hosts = np.int64(max(host.max(initial=0), peer.max(initial=0)) + 1)
    by_peer = _LastRow(switch[numbered] * hosts + peer[numbered], numbered)
    answer = np.full_like(owner, NONE)
    known = np.flatnonzero(near != NONE)
    answer[known] = by_peer.of(own[owner[known]] * hosts + host[near[known]])
    return Answers(owner, near, answer, host, by_peer, int(hosts))


def _hosts(addresses: NumberColumns, peers: NumberColumns) -> tuple[Rows, Rows]:
    """An identifier of each address of both, without the length of its subnet."""
    both = _identifiers(
        np.concatenate([width_bits(addresses.version), peers.length]),  # a neighbor key with a length has no owner
        np.concatenate([addresses.version, peers.version]),
        np.concatenate([addresses.high, peers.high]),
        np.concatenate([addresses.low, peers.low]),
    )
    return both[: len(addresses.version)], both[len(addresses.version) :]


def _near(addresses: AddressColumns, neighbors: NeighborColumns, in_default: Flags, owner: Rows) -> Rows:
    """See `Answers.near`."""
    found = np.full_like(owner, NONE)
    version, length = addresses.number.version, addresses.number.length
    high, low = host_bits(addresses.number)
    subnet = _identifiers(length, version, addresses.number.high >> high << high, addresses.number.low >> low << low)
    subnets = np.int64(subnet.max(initial=0) + 1)
    is_loopback = np.frombuffer(addresses.table, np.uint8) == INTERFACE_TABLES.index("LOOPBACK_INTERFACE")
    routed = np.flatnonzero(in_default & np.frombuffer(addresses.bound, bool) & ~is_loopback)
    by_subnet = _LastRow(addresses.switch[routed] * subnets + subnet[routed], routed)
    known = np.flatnonzero(owner != NONE)
    found[known] = by_subnet.of(neighbors.switch[known] * subnets + subnet[owner[known]])
    return found


def _identifiers(*columns: NDArray[np.uint8] | NDArray[np.uint64]) -> Rows:
    """The same number for rows with equal values in all columns."""
    order = np.lexsort(columns).astype(np.int32)
    differs = np.zeros(len(order), bool)
    for column in columns:
        ordered = column[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    found = np.empty_like(order)
    found[order] = np.cumsum(differs, dtype=np.int32)
    return found
