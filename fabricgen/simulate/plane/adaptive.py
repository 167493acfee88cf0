"""Adaptive routing of InfiniBand: the path of each message by the load of the next hops when it starts.

Every switch of the path takes the usable link with the least bytes, over its speed, that messages before it use. A real
switch chooses for each packet; a message here keeps its path, so single large messages meet where packets would not.
"""

import numpy as np
from numpy.typing import NDArray

from fabricgen.simulate.plane.host_network import NO_COLUMN, HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT, Flags, Floats, Ints

_MOST_HOPS = 64


def least_loaded(
    plane: HostNetwork, source: Ints, target: Ints, size_bytes: Floats, start_ns: Floats
) -> tuple[NDArray[np.int32], Flags]:
    """[flow, hop]: the links of each flow, in the order of their starts, and whether it reaches its leaf."""
    network, words = plane.network, plane.hops
    load, rate = np.zeros(network.links), plane.ports.bytes_per_ns[: network.links]
    paths: list[list[int]] = [[] for _ in range(len(source))]
    arrived = np.zeros(len(source), bool)
    for flow in np.argsort(start_ns, kind="stable").tolist():
        at, goal, column = int(plane.leaf[source[flow]]), int(plane.leaf[target[flow]]), int(plane.column[target[flow]])
        while at != goal and column != NO_COLUMN and len(paths[flow]) < _MOST_HOPS:
            own = np.arange(network.offsets[at], network.offsets[at + 1])
            usable = own[(words[own, column >> 6] >> np.uint64(column & 63)) & np.uint64(1) != 0]
            if not len(usable):
                break
            link = int(usable[np.argmin(load[usable])])
            load[link] += size_bytes[flow] / rate[link]
            paths[flow].append(link)
            at = int(network.target[link])
        arrived[flow] = at == goal
    table = np.full((len(source), max(map(len, paths), default=0)), NO_PORT, np.int32)
    for row, path in zip(table, paths, strict=True):
        row[: len(path)] = path
    return table, arrived
