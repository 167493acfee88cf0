"""Fabrics in which no failure and no order of events makes traffic go down and then up again (a valley).

Levels count the links to the nearest switch with hosts. Suppose that every link connects adjacent levels, that the
switches of each level above a prefix's origins share one ASN, and that they refuse paths with it (RFC 7938, section
5.2). Then a path that was advertised downwards is refused on every uplink, so a path that a switch learns from below
leads down to the origin. Its length is the number of levels. A path that goes up first is longer and is never used
together with it. This holds after any failures of links and switches. It also holds before neighbors know of a failure:
a switch that loses its path down gets no other, because each other path leads through a switch with its ASN.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.fallback import covering
from fabricgen.routing.routes import Destination
from fabricgen.simulate.deadlock.core.tiers import tiers
from fabricgen.simulate.plane.hosts import HostTraffic

Ints = NDArray[np.int64]


def levels_without_valleys(fabric: RoutedFabric, traffic: HostTraffic) -> Ints | None:
    """The level of each switch, if ASNs exclude valleys after any failures; None if this is not certain."""
    network, policy = fabric.network, fabric.policy
    level = tiers(network, traffic.sources)
    climb = level[network.target] - level[network.source]
    if (abs(climb) != 1).any() or (level >= network.switches).any():
        return None
    if policy.allowas_in[level[network.source] > 0].any():
        return None
    destinations = [fabric.destinations[column] for column in traffic.columns]
    if any(covering(destinations)):  # switches can then use different prefixes for a packet
        return None
    return level if _one_asn_above(fabric, level, climb > 0, destinations) else None


def _one_asn_above(
    fabric: RoutedFabric, level: Ints, up: NDArray[np.bool_], destinations: Sequence[Destination]
) -> bool:
    """Whether the switches of each level above any switch, and above all origins of any prefix, share an ASN. All
    origins of a prefix must be on one level."""
    network = fabric.network
    _, asn = np.unique(fabric.policy.asn, return_inverse=True)
    height = int(level.max(initial=0)) + 1
    least = np.full((network.switches, height), len(asn), np.int64)  # lowest number of an ASN above, by level
    most = np.full((network.switches, height), -1, np.int64)
    for floor in range(height - 2, -1, -1):
        links = np.flatnonzero(up & (level[network.source] == floor))
        near, far = network.source[links], network.target[links]
        np.minimum.at(least, near, least[far])
        np.maximum.at(most, near, most[far])
        np.minimum.at(least[:, floor + 1], near, asn[far])
        np.maximum.at(most[:, floor + 1], near, asn[far])
    if (least < most).any():
        return False
    shared = [list(one.origins) for one in destinations if len(one.origins) > 1]
    return all(
        len(set(level[origins].tolist())) == 1 and bool((least[origins].min(axis=0) >= most[origins].max(axis=0)).all())
        for origins in shared
    )
