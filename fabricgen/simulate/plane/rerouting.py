"""The next hops of a plane after BGP has converged without some of its links."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.routing.bgp import solve
from fabricgen.routing.bits import Words
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.survivors import without_links
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.hosts import host_traffic

Indices = NDArray[np.int64]
Reroute = Callable[[Indices], Words]  # dead directed links -> the next hops (links x words) after the routes converge


def converged(bundle: Bundle, fabric: RoutedFabric, plane: HostNetwork) -> Reroute:
    """The next hops after BGP has converged without some links."""
    traffic = host_traffic(bundle, fabric)
    destinations = tuple(fabric.destinations[column] for column in traffic.columns)

    def reroute(dead: Indices) -> Words:
        network, policy, kept = without_links(fabric.network, fabric.policy, dead)
        hops = np.zeros_like(plane.hops)
        hops[kept] = forwarding(network, solve(network, policy, destinations), fabric.discards)
        return hops

    return reroute
