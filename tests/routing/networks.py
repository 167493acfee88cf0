"""Small networks with a policy, and next hops as sets."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fabricgen.routing import bits
from fabricgen.routing.bgp import BgpPolicy
from fabricgen.routing.bits import Words
from fabricgen.routing.network import Network, build_network
from fabricgen.routing.routes import Destination

Links = Sequence[tuple[int, int]]


def network_of(switches: int, links: Links) -> Network:
    return build_network(switches, [a for a, _ in links], [b for _, b in links])


def policy_of(network: Network, asn: Sequence[int], **fields: Any) -> BgpPolicy:
    """eBGP for IPv4 and IPv6 over every link, as SONiC's image configures it."""
    switches, links = network.switches, network.links
    plain = BgpPolicy(
        asn=np.array(asn, np.int64),
        isolated=np.zeros(switches, bool),
        multipath_relax=np.ones(switches, bool),
        maximum_paths=np.full(switches, 514),
        hears=np.full(links, 3, np.uint8),
        allowas_in=np.zeros(links, np.int64),
    )
    return replace(plain, **fields)


def per_switch(*origins: int, family: int = 4, loopback: bool = False) -> tuple[Destination, ...]:
    """One destination for each of the switches."""
    prefix = "10.0.{}.0/24" if family == 4 else "fd00:{}::/64"
    return tuple(Destination((prefix.format(one),), (one,), family, loopback) for one in origins)


def hops_of(network: Network, nexthops: Words, switch: int, column: int) -> set[int]:
    """The next-hop switches of a switch towards a destination."""
    links = range(network.offsets[switch], network.offsets[switch + 1])
    return {int(network.target[link]) for link in links if column in bits.columns_of(nexthops[link])}


def link_between(network: Network, a: int, b: int) -> int:
    """The first link from a to b."""
    return next(link for link in range(network.links) if (network.source[link], network.target[link]) == (a, b))
