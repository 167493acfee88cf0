"""Symmetries that keep the traffic of a pattern as well as the routes.

The demand between two leaves is drawn as one more link between them, of a kind with the bytes each way. A symmetry of
that graph maps the demand, the rates of the links and the routes onto themselves, so a failure and its image cost the
same.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabricgen.routing.bits import Indices
from fabricgen.routing.network import build_network
from fabricgen.simulate.deadlock.core.state import Ground
from fabricgen.simulate.deadlock.failures.failure_sets import Failure
from fabricgen.simulate.deadlock.failures.orbits import Orbits
from fabricgen.simulate.deadlock.failures.symmetry import numbered
from fabricgen.simulate.plane.lossless import LosslessLinks
from fabricgen.simulate.plane.ports import Floats

_STEPS = 1 << 20  # equal demands are sums of equal terms in another order
_MOST_PAIRS = 1 << 16


def orbits_under(
    ground: Ground, rates: Floats, demand: Floats, failures: Sequence[Failure], most: int
) -> Orbits | None:
    """The orbits of failures under `demand` (switches x columns, bytes) over links with `rates`; None if the demand is
    between too many pairs of leaves, or if a switch has several prefixes of hosts."""
    network, policy = ground.network, ground.policy
    leaf, column = np.nonzero(demand)
    origin = _origins(ground, np.unique(column))
    if origin is None:
        return None
    bytes_of = np.zeros((network.switches, network.switches), np.int64)
    bytes_of[leaf, origin[column]] = np.rint(demand[leaf, column] / demand.max(initial=1.0) * _STEPS)
    a, b = np.nonzero(np.triu(bytes_of + bytes_of.T, 1))
    if len(a) > _MOST_PAIRS:
        return None
    near = np.flatnonzero(np.arange(network.links) < network.reverse)
    far = network.reverse[near]
    wider = build_network(
        network.switches,
        np.concatenate([network.source[near], a]).astype(np.int32),
        np.concatenate([network.target[near], b]).astype(np.int32),
    )
    place = np.empty(wider.links, np.int64)
    place[wider.order] = np.arange(wider.links)
    own = np.full(network.links, -1)
    own[near], own[far] = place[: 2 * len(near) : 2], place[1 : 2 * len(near) : 2]
    pairs = place[2 * len(near) :]

    def of_links(values: Indices) -> Indices:
        found = np.zeros(wider.links, np.int64)
        found[own] = values
        return found

    carried = np.zeros(wider.links, np.int64)
    carried[pairs] = bytes_of[wider.source[pairs], wider.target[pairs]] + 1  # 0: a link of the network
    speed = of_links(np.rint(rates[: network.links] * 1e3).astype(np.int64))
    filters = None if policy.filters is None else of_links(policy.filters)
    nothing = np.zeros(wider.links, np.int64)
    drawn = replace(
        ground,
        network=wider,
        policy=replace(
            policy,
            hears=of_links(policy.hears.astype(np.int64)).astype(np.uint8),
            allowas_in=of_links(policy.allowas_in),
            filters=filters,
        ),
        lossless=LosslessLinks(nothing.astype(np.uint8), nothing, nothing, np.zeros((1, 1, 8), np.uint8), ()),
        expected=None,
    )
    moved = [replace(one, links=tuple(sorted(own[list(one.links)].tolist()))) for one in failures]
    return Orbits(drawn, moved, most, numbered(carried, speed))


def _origins(ground: Ground, columns: Indices) -> Indices | None:
    """The switch of each of these destinations, -1 for others; None unless each is the only one of its switch."""
    known = ground.destinations[: ground.host_columns]
    wanted = [ground.destinations[column] for column in columns.tolist()]
    families = {one.family for one in wanted}
    same = [origin for one in known if one.family in families for origin in one.origins]
    if len(families) > 1 or len(set(same)) < len(same) or any(len(one.origins) != 1 for one in wanted):
        return None
    found = np.full(len(ground.destinations), -1)
    found[columns] = [one.origins[0] for one in wanted]
    return found
