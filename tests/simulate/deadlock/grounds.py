"""Fabrics as arrays, for sizes at which files would take most of the time."""

import numpy as np

from fabricgen.routing.bgp import BgpPolicy
from fabricgen.routing.network import Network, build_network
from fabricgen.routing.routes import Destination
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.failure_sets import Failure
from fabricgen.simulate.plane.lossless import LosslessLinks


def ground(links: list[tuple[int, int]], asn: list[int], leaves: int) -> Ground:
    """Switches numbered from the leaves up, hosts behind each leaf, priority 3 lossless everywhere."""
    switches = len(asn)
    network = build_network(switches, [a for a, _ in links], [b for _, b in links])
    size = network.links
    policy = BgpPolicy(
        asn=np.array(asn),
        isolated=np.zeros(switches, bool),
        multipath_relax=np.ones(switches, bool),
        maximum_paths=np.full(switches, 514),
        hears=np.full(size, 3, np.uint8),
        allowas_in=np.zeros(size, np.int64),
    )
    onward = np.zeros((1, 1, 8), np.uint8)
    onward[0, 0, 3] = 1 << 3
    none = np.zeros(size, np.int64)
    destinations = tuple(Destination((f"10.{leaf // 256}.{leaf % 256}.0/24",), (leaf,), 4) for leaf in range(leaves))
    return Ground(
        network=network,
        policy=policy,
        destinations=destinations,
        host_columns=leaves,
        discards=((),) * switches,
        sources=np.arange(switches) < leaves,
        complete=True,
        witness=tuple(one.prefixes[0] for one in destinations),
        lossless=LosslessLinks(np.full(size, 1 << 3, np.uint8), none, none, onward, (3,)),
    )


def leaf_spine(leaves: int, spines: int) -> Ground:
    links = [(leaf, leaves + spine) for leaf in range(leaves) for spine in range(spines)]
    return ground(links, [65100 + leaf for leaf in range(leaves)] + [65000] * spines, leaves)


def fat_tree(k: int) -> Ground:
    half = k // 2
    edges = k * half
    links = [(p * half + i, edges + p * half + j) for p in range(k) for i in range(half) for j in range(half)]
    links += [
        (edges + p * half + j, 2 * edges + j * half + c) for p in range(k) for j in range(half) for c in range(half)
    ]
    asn = [70000 + leaf for leaf in range(edges)] + [65000 + agg // half for agg in range(edges)]
    return ground(links, asn + [64999] * (half * half), edges)


def every_link(network: Network) -> list[Failure]:
    return [
        Failure(f"{network.source[link]}-{network.target[link]}", tuple(sorted((link, int(network.reverse[link])))))
        for link in range(network.links)
        if network.source[link] < network.target[link]
    ]
