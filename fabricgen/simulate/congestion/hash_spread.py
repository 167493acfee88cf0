"""How evenly a draw of hashes spreads flows: the fullest link of the busiest switch, and polarised tiers."""

from dataclasses import dataclass

import numpy as np

from fabricgen.results import Collisions
from fabricgen.simulate.congestion.collisions import expected_fullest, expected_used
from fabricgen.simulate.plane.hashing import Hashed
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Ints

_MOST_FLOWS = 4096  # above this, links fill evenly and the polynomial is long
_MOST_LINKS = 1 << 16  # of one switch
_FEW_LINKS = 8  # with fewer links a draw does not show polarisation


@dataclass(frozen=True)
class HashSpread:
    """Per group of next hops that a switch selects from: `flows` over `links`, of which `used` have a flow, and the
    number of flows on the `fullest`."""

    switch: Ints
    flows: Ints
    links: Ints
    used: Ints
    fullest: Ints


def hash_spread(plane: HostNetwork, drawn: Hashed) -> HashSpread:
    """The spread at every switch."""
    taken = drawn.choices > 1
    link, number, first = (
        table[taken].astype(np.int64) for table in (drawn.flows.path[:, 1:], drawn.choices, drawn.group)
    )
    group, example, where = np.unique(first * _MOST_LINKS + number, return_index=True, return_inverse=True)
    pair, load = np.unique(where * plane.network.links + link, return_counts=True)
    owner = pair // max(plane.network.links, 1)
    fullest = np.zeros(len(group), np.int64)
    np.maximum.at(fullest, owner, load)
    switch = plane.network.source[link[example]].astype(np.int64)
    flows, used = np.bincount(where, minlength=len(group)), np.bincount(owner, minlength=len(group))
    return HashSpread(switch, flows, number[example], used, fullest)


def worst_collisions(found: HashSpread) -> Collisions | None:
    """The switches with the most flows per link, with the collisions that chance gives them."""
    if not len(found.switch):
        return None
    per_link = found.flows / found.links
    equal = (per_link == per_link.max()) & (found.flows == found.flows[np.argmax(per_link)])
    flows, links = int(found.flows[equal][0]), int(found.links[equal][0])
    groups = int(equal.sum())
    expected = expected_fullest(flows, links, groups) if flows <= _MOST_FLOWS else flows / links
    return Collisions(flows, links, groups, round(expected, 3), int(found.fullest[equal].max()))


def polarised(plane: HostNetwork, found: HashSpread) -> dict[str, tuple[int, float]]:
    """Tier -> (links used, links that independent hashes would use on average), for tiers with enough links."""
    tiers = np.array([plane.tier.get(int(switch), "switch") for switch in found.switch])
    answer = {}
    for tier in sorted(set(tiers.tolist())):
        here = tiers == tier
        if found.links[here].sum() >= _FEW_LINKS:
            expected = sum(map(expected_used, found.flows[here].tolist(), found.links[here].tolist()))
            answer[tier] = (int(found.used[here].sum()), round(expected, 1))
    return answer
