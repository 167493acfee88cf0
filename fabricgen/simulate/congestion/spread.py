"""How evenly a draw of hashes spreads flows: the fullest link of the most loaded switch, and polarised tiers."""

from dataclasses import dataclass

import numpy as np

from fabricgen.results import Collisions
from fabricgen.simulate.congestion.collisions import expected_fullest, expected_used
from fabricgen.simulate.plane.hashing import Hashed
from fabricgen.simulate.plane.ports import Ints
from fabricgen.simulate.plane.host_network import HostNetwork

_MOST_FLOWS = 4096  # above, links fill evenly and the polynomial gets long
_MOST_LINKS = 1 << 16  # of one switch
_FEW_LINKS = 8  # below, a draw says nothing about polarisation


@dataclass(frozen=True)
class Spread:
    """Per group of next hops that some switch chooses among: `flows` over `links`, of which `used` have any, and the
    flows of the `fullest`."""

    switch: Ints
    flows: Ints
    links: Ints
    used: Ints
    fullest: Ints


def spread(plane: HostNetwork, drawn: Hashed) -> Spread:
    """What every switch made of its choices."""
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
    return Spread(switch, flows, number[example], used, fullest)


def worst_collisions(found: Spread) -> Collisions | None:
    """The switches with most flows per link, and what chance alone gives them."""
    if not len(found.switch):
        return None
    per_link = found.flows / found.links
    alike = (per_link == per_link.max()) & (found.flows == found.flows[np.argmax(per_link)])
    flows, links = int(found.flows[alike][0]), int(found.links[alike][0])
    groups = int(alike.sum())
    expected = expected_fullest(flows, links, groups) if flows <= _MOST_FLOWS else flows / links
    return Collisions(flows, links, groups, round(expected, 3), int(found.fullest[alike].max()))


def polarised(plane: HostNetwork, found: Spread) -> dict[str, tuple[int, float]]:
    """Tier -> (links used, links that independent hashes would use on average), for tiers with enough links."""
    tiers = np.array([plane.tier.get(int(switch), "switch") for switch in found.switch])
    answer = {}
    for tier in sorted(set(tiers.tolist())):
        here = tiers == tier
        if found.links[here].sum() >= _FEW_LINKS:
            expected = sum(map(expected_used, found.flows[here].tolist(), found.links[here].tolist()))
            answer[tier] = (int(found.used[here].sum()), round(expected, 1))
    return answer
