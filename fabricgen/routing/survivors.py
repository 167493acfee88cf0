"""The network that is left after links have failed."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bgp import BgpPolicy
from fabricgen.routing.bits import Indices
from fabricgen.routing.network import Network

Flags = NDArray[np.bool_]


def without_links(network: Network, policy: BgpPolicy, dead: Indices) -> tuple[Network, BgpPolicy, Indices]:
    """The network and its policy without the directed links `dead`, and the old number of each remaining link.

    A cable fails in both directions: `dead` contains the reverse of each of its links.
    """
    alive = np.ones(network.links, bool)
    alive[dead] = False
    kept = np.flatnonzero(alive)
    number = np.cumsum(alive) - 1
    incoming = network.incoming[alive[network.incoming]]
    left = Network(
        switches=network.switches,
        source=network.source[kept],
        target=network.target[kept],
        offsets=np.concatenate(([0], np.cumsum(alive)))[network.offsets].astype(np.int64),
        reverse=number[network.reverse[kept]].astype(np.int32),
        incoming=number[incoming].astype(np.int32),
        incoming_offsets=np.concatenate(([0], np.cumsum(alive[network.incoming])))[network.incoming_offsets].astype(
            np.int64
        ),
        order=network.order[kept],
    )
    filters = None if policy.filters is None else policy.filters[kept]
    return left, replace(policy, hears=policy.hears[kept], allowas_in=policy.allowas_in[kept], filters=filters), kept
