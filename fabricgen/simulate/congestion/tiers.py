"""Counts that do not depend on hashes: oversubscription by tier and rail, and the bytes that each rail carries."""

from collections.abc import Iterator, Mapping

import numpy as np

from fabricgen.results import Oversubscription
from fabricgen.simulate.patterns.traffic import Everyone, Traffic
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Floats, Ints
from fabricgen.vocabulary import Role

_RANK: Mapping[str, int] = {Role.LEAF: 0, Role.SPINE: 1, Role.CORE: 2}
_EVEN = 1 + 1e-6


def oversubscribed(plane: HostNetwork) -> tuple[Oversubscription, ...]:
    """The tiers, and the rails of leaves, whose links downwards are faster than those upwards."""
    network, rates = plane.network, plane.ports.bytes_per_ns[: plane.network.links]
    rank = _ranks(plane)
    up = rank[network.target] > rank[network.source] if len(set(rank.tolist())) > 1 else np.ones(network.links, bool)
    above = np.bincount(network.source[up], weights=rates[up], minlength=network.switches).astype(float)
    below = np.bincount(network.target[up], weights=rates[up], minlength=network.switches).astype(float)
    if len(set(rank.tolist())) == 1:  # a single tier: all links carry the traffic of hosts to other switches
        below[:] = 0.0
    below += np.bincount(plane.leaf, weights=plane.line_rate, minlength=network.switches)
    return tuple(_by_tier(plane, rank, below, above))


def _by_tier(plane: HostNetwork, rank: Ints, below: Floats, above: Floats) -> Iterator[Oversubscription]:
    used = (above > 0) & (below > 0)
    for tier, number in _RANK.items():
        rails = {plane.rail.get(int(switch)) for switch in np.flatnonzero(used & (rank == number))}
        for rail in sorted(rails, key=lambda one: -1 if one is None else one):
            members = [int(one) for one in np.flatnonzero(used & (rank == number)) if plane.rail.get(int(one)) == rail]
            worst = max(members, key=lambda one: (below[one] / above[one], -one))
            ratio = float(below[worst] / above[worst])
            if ratio > _EVEN:
                yield Oversubscription(tier, round(ratio, 3), rail, plane.names[worst])


def _ranks(plane: HostNetwork) -> Ints:
    """The height of every switch; without a known tier, switches with hosts are below those without."""
    hosting = set(plane.leaf.tolist())
    return np.array(
        [_RANK.get(plane.tier.get(index, ""), int(index not in hosting)) for index in range(plane.network.switches)]
    )


def rail_bytes(plane: HostNetwork, traffic: Traffic) -> dict[int, float]:
    """The bytes that the adapters of each rail send over their line rate: the least time in ns of the rail."""
    size = len(plane.adapters)
    sent = np.zeros(size)
    if isinstance(traffic, Everyone):
        for group in traffic.groups:
            sent[group] += (len(group) - 1) * traffic.bytes_each
    else:
        sent += np.bincount(traffic.source, weights=traffic.bytes, minlength=size)
    rails = np.array([-1 if adapter.rail is None else adapter.rail for adapter in plane.adapters])
    used = (rails >= 0) & (sent > 0)
    return {
        int(rail): float(sent[used & (rails == rail)].sum() / plane.line_rate[used & (rails == rail)].sum())
        for rail in np.unique(rails[used])
    }
