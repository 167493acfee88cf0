"""The path of each flow under ECMP, by the hash of every switch.

A switch selects the next hop by a hash of the flow's addresses and ports (`switch_hashes`). The ports depend on the
numbers of queue pairs (`queue_pairs`), which are drawn, so the paths are a *possible* outcome. It is certain that two
switches with equal seeds and offsets select alike. This polarises flows: a tier receives only flows that the tier below
hashed the same way. With a linear hash, different seeds do not change that where the tiers have 2^k links.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricgen.simulate.plane.adaptive import least_loaded
from fabricgen.simulate.plane.host_network import NO_COLUMN, HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Floats, Flows, Ints
from fabricgen.simulate.plane.queue_pairs import flow_labels
from fabricgen.simulate.plane.switch_hashes import FlowHashes

_MOST_HOPS = 64
_FLOWS_AT_ONCE = 1 << 14
_U64 = np.uint64


@dataclass(frozen=True)
class Hashed:
    """The flows that reach their destination, on their drawn paths; `arrived` selects them among all flows. For each
    link of a path (flows x hops, from the leaf) `choices` is the number of next hops that the switch selected it from,
    and `group` the first of these."""

    flows: Flows
    arrived: Flags
    choices: NDArray[np.int32]
    group: NDArray[np.int32]


def hashed_flows(
    plane: HostNetwork, source: Ints, target: Ints, size_bytes: Floats, start_ns: Floats, seed: int
) -> Hashed:
    """One draw of the paths of flows between adapters; with adaptive routing the paths by load, without choices. Where
    switches select a path for each packet, it is the path of one packet of each flow."""
    if plane.is_loaded and not plane.is_sprayed:
        return _by_load(plane, source, target, size_bytes, start_ns)
    labels = flow_labels(source, target, plane.ports_by_driver, seed)
    rows, arrived = [], np.zeros(len(source), bool)
    for first in range(0, len(source), _FLOWS_AT_ONCE):
        part = slice(first, first + _FLOWS_AT_ONCE)
        ends = source[part], target[part]
        hashes = FlowHashes(plane.hashes, plane.address_bytes, *ends, labels[part], seed)
        steps, arrived[part] = _walk(plane, *ends, hashes)
        rows.append((first, steps))
    width = max((steps.shape[2] for _, steps in rows), default=0)
    links = np.full((len(source), width), NO_PORT, np.int32)
    made = np.zeros((2, len(source), width + 1), np.int32)
    for first, steps in rows:
        last, hops = first + steps.shape[1], steps.shape[2]
        links[first:last, :hops], made[:, first:last, :hops] = steps[0], steps[1:]
    flows = _flows(plane, source, target, size_bytes, start_ns, links)
    return Hashed(flows.only(arrived), arrived, *made[:, arrived])


def _by_load(plane: HostNetwork, source: Ints, target: Ints, size_bytes: Floats, start_ns: Floats) -> Hashed:
    links, arrived = least_loaded(plane, source, target, size_bytes, start_ns)
    flows = _flows(plane, source, target, size_bytes, start_ns, links)
    nothing = np.zeros((int(arrived.sum()), links.shape[1] + 1), np.int32)
    return Hashed(flows.only(arrived), arrived, nothing, nothing)


def _flows(
    plane: HostNetwork, source: Ints, target: Ints, size_bytes: Floats, start_ns: Floats, links: NDArray[np.int32]
) -> Flows:
    """The flows on their links, between the port of the NIC and the port towards the receiver, and the other ends of
    these cables for the way back."""
    path = np.full((len(source), links.shape[1] + 2), NO_PORT, np.int32)
    path[:, 0] = plane.nic_port(source)
    path[:, 1:-1] = links
    length = (path != NO_PORT).sum(axis=1)
    path[np.arange(len(source)), length] = plane.host_port(target)
    place = length[:, None] - np.arange(path.shape[1])
    turned = np.take_along_axis(path, np.maximum(place, 0), axis=1)
    back = np.where(place >= 0, plane.other_end[turned], NO_PORT).astype(np.int32)
    return Flows(source, target, size_bytes, start_ns, path, back)


def _walk(plane: HostNetwork, source: Ints, target: Ints, hashes: FlowHashes) -> tuple[NDArray[np.int32], Flags]:
    """(link, choices, group) of each flow and hop, and whether a flow reaches its leaf."""
    at, goal, column = plane.leaf[source].copy(), plane.leaf[target], plane.column[target]
    taken = [np.empty((3, len(source), 0), np.int32)]
    moving = np.flatnonzero((at != goal) & (column != NO_COLUMN))
    while len(moving) and len(taken) < _MOST_HOPS:
        step = np.full((3, len(source), 1), NO_PORT, np.int32)
        step[:, moving, 0] = _next_links(plane, at[moving], column[moving], hashes.at(at[moving], moving))
        taken.append(step)
        moving = moving[step[0, moving, 0] != NO_PORT]
        at[moving] = plane.network.target[step[0, moving, 0]]
        moving = moving[at[moving] != goal[moving]]
    return np.concatenate(taken, axis=2), at == goal


def _next_links(plane: HostNetwork, at: Ints, column: Ints, hashed: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The link that each packet takes (NO_PORT without a next hop), the number of its next hops, and the first."""
    offsets = plane.network.offsets
    width = np.diff(offsets)[at]
    if not width.any():  # switches without links to others
        nothing = np.full(len(at), NO_PORT)
        return np.stack([nothing, np.zeros_like(nothing), nothing]).astype(np.int32)
    candidate = offsets[at][:, None] + np.arange(int(width.max(initial=0)))
    exists = np.arange(candidate.shape[1]) < width[:, None]
    candidate[~exists] = 0
    word, bit = column >> 6, (column & 63).astype(np.uint64)
    usable = exists & ((plane.hops[candidate, word[:, None]] >> bit[:, None] & _U64(1)) != 0)
    count = usable.sum(axis=1)
    parts = usable if plane.weights is None else np.where(usable, plane.weights[candidate, column[:, None]], 0)
    upto = np.cumsum(parts, axis=1, dtype=np.int64)
    picked = (hashed % np.maximum(upto[:, -1], 1).astype(np.uint64)).astype(np.int64)
    row, first = np.arange(len(at)), np.argmax(usable, axis=1)
    place = np.argmax(upto > picked[:, None], axis=1)
    link = np.where(count > 0, candidate[row, place], NO_PORT)
    return np.stack([link, count, candidate[row, first]]).astype(np.int32)
