"""The way that hashing gives each flow: one draw of every switch's ECMP hash.

A switch picks the next hop by a hash of the flow's addresses and ports, mixed with the switch's own seed. Which hash a
chip computes is nowhere in its files, so a draw is a *possible* outcome; what is certain is that two switches of one
seed decide alike, which polarises flows (each tier gets only those that the tier below hashed the same way).
"""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bits import Words
from fabricgen.routing.network import Network
from fabricgen.simulate.congestion.model import NO_PORT, Flags, Floats, Flows, Ints
from fabricgen.simulate.congestion.plane import NO_COLUMN, HostNetwork

_MOST_HOPS = 64
_FLOWS_AT_ONCE = 1 << 14
_U64 = np.uint64


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Well-mixed 64 bits of each key: the finaliser of MurmurHash3 (public domain)."""
    keys = (keys ^ (keys >> _U64(33))) * _U64(0xFF51AFD7ED558CCD)
    keys = (keys ^ (keys >> _U64(33))) * _U64(0xC4CEB9FE1A85EC53)
    return keys ^ (keys >> _U64(33))


def flow_keys(source: Ints, target: Ints, seed: int) -> NDArray[np.uint64]:
    """One key per flow; flows between the same two adapters (queue pairs) are told apart by their order."""
    pair = source.astype(np.uint64) << _U64(32) | target.astype(np.uint64)
    order = np.argsort(pair, kind="stable")
    sorted_pairs = pair[order]
    begins = np.concatenate(([True], sorted_pairs[1:] != sorted_pairs[:-1])) if len(pair) else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(begins, np.arange(len(pair)), 0))
    twin = np.empty(len(pair), np.uint64)
    twin[order] = (np.arange(len(pair)) - first).astype(np.uint64)
    return mixed(pair * _U64(0x9E3779B97F4A7C15) + mixed(twin + _U64((seed + 1) * 0xD1B54A32D192ED03 % (1 << 64))))


def hashed_flows(
    plane: HostNetwork, source: Ints, target: Ints, size_bytes: Floats, start_ns: Floats, seed: int
) -> tuple[Flows, Flags]:
    """The flows that arrive, on their drawn paths, and which of those asked for they are."""
    keys = flow_keys(source, target, seed)
    rows, arrived = [], np.zeros(len(source), bool)
    for first in range(0, len(source), _FLOWS_AT_ONCE):
        part = slice(first, first + _FLOWS_AT_ONCE)
        links, arrived[part] = _walk(plane, source[part], target[part], keys[part])
        rows.append(links)
    width = max((row.shape[1] for row in rows), default=0)
    path = np.full((len(source), width + 2), NO_PORT, np.int32)
    path[:, 0] = plane.nic_port(source)
    for number, row in enumerate(rows):
        first = number * _FLOWS_AT_ONCE
        path[first : first + len(row), 1 : 1 + row.shape[1]] = row
    length = (path != NO_PORT).sum(axis=1)
    path[np.arange(len(source)), length] = plane.host_port(target)
    return Flows(source, target, size_bytes, start_ns, path).only(arrived), arrived


def _walk(
    plane: HostNetwork, source: Ints, target: Ints, keys: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], Flags]:
    """Links of each flow (flows x hops), and whether it gets to its leaf."""
    at, goal, column = plane.leaf[source].copy(), plane.leaf[target], plane.column[target]
    taken: list[NDArray[np.int32]] = []
    moving = np.flatnonzero((at != goal) & (column != NO_COLUMN))
    while len(moving) and len(taken) < _MOST_HOPS:
        link = _next_links(plane.network, plane.hops, at[moving], column[moving], keys[moving], plane.hash_seed)
        step = np.full(len(source), NO_PORT, np.int32)
        step[moving] = link
        moving, link = moving[link != NO_PORT], link[link != NO_PORT]
        if not len(moving):
            break
        taken.append(step)
        at[moving] = plane.network.target[link]
        moving = moving[at[moving] != goal[moving]]
    links = np.stack(taken, axis=1) if taken else np.empty((len(source), 0), np.int32)
    return links, at == goal


def _next_links(
    network: Network, hops: Words, at: Ints, column: Ints, keys: NDArray[np.uint64], hash_seed: Ints
) -> NDArray[np.int32]:
    """The link each packet leaves by; NO_PORT where its switch knows none."""
    width = np.diff(network.offsets)[at]
    candidate = network.offsets[at][:, None] + np.arange(int(width.max(initial=0)))
    there = np.arange(candidate.shape[1]) < width[:, None]
    candidate[~there] = 0
    word, bit = column >> 6, (column & 63).astype(np.uint64)
    usable = there & ((hops[candidate, word[:, None]] >> bit[:, None] & _U64(1)) != 0)
    count = usable.sum(axis=1)
    choice = mixed(keys + hash_seed[at].astype(np.uint64) * _U64(0xA24BAED4963EE407))
    picked = (choice % np.maximum(count, 1).astype(np.uint64)).astype(np.int64) + 1
    place = np.argmax(np.cumsum(usable, axis=1) == picked[:, None], axis=1)
    return np.where(count > 0, candidate[np.arange(len(at)), place], NO_PORT).astype(np.int32)
