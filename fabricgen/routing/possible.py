"""All next hops that any set of failures can cause: only those that the ASN plan excludes are left out.

A switch refuses a path with its own ASN too often. So link u to v can be a next hop only if some path from v avoids
the ASN of u. Failures remove paths and add none. From the origins, the search extends which paths can exist: per switch
and destination, whether there is a path, and for each tracked ASN whether there is a path with at most k of it. Each of
these can be a different path, and lengths do not count, so the result is a superset for any failures.

Switches of one ASN that announce nothing behave equally and form one group. In a fabric with many ASNs, only those that
several switches share are tracked: a switch with a unique ASN refuses only paths through itself.
"""

from dataclasses import dataclass

import numpy as np

from fabricgen.routing import bits
from fabricgen.routing.bgp import BgpPolicy
from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.network import Network
from fabricgen.routing.routes import Destination, Routes

_FEW_ASNS = 256
_WORDS_AT_ONCE = 1 << 25  # 256 MiB of planes


def possible_routes(network: Network, policy: BgpPolicy, destinations: tuple[Destination, ...]) -> Routes:
    """The union of the next hops of all states after failures of links and switches."""
    pairs = [(switch, column) for column, one in enumerate(destinations) for switch in one.origins]
    row, column = np.array(pairs, np.int64).reshape(-1, 2).T
    origins = bits.set_bits(network.switches, len(destinations), row, column)
    groups = _Groups.of(network, policy, np.any(origins, axis=1))
    words = origins.shape[1]
    nexthops = np.zeros((network.links, words), np.uint64)
    reached = np.zeros((network.switches, words), np.uint64)
    step = max(1, _WORDS_AT_ONCE // (len(groups.tail) + groups.count * (1 + int(groups.planes.sum()))))
    for first in range(0, words, step):
        part = np.s_[:, first : first + step]
        origin = np.zeros((groups.count, origins[part].shape[1]), np.uint64)
        origin[groups.number] |= origins[part]  # each switch that announces has its own group
        usable, held = groups.search(origin)
        nexthops[part] = usable[groups.edge] & ~origins[part][network.source]
        reached[part] = held[groups.number]
    loopbacks = bits.row_of(np.flatnonzero([one.loopback for one in destinations]), len(destinations))
    silent = policy.isolated[network.target].nonzero()[0]  # under TSA a switch announces only its own loopbacks
    nexthops[silent] &= origins[network.target[silent]] & loopbacks
    for bit, family in ((1, 4), (2, 6)):
        other = np.flatnonzero([one.family == family for one in destinations])
        deaf = (policy.hears & bit == 0).nonzero()[0]
        nexthops[deaf] &= ~bits.row_of(other, len(destinations))
    permitted = policy.filter_words(destinations)
    if permitted is not None and policy.filters is not None:
        nexthops &= permitted[policy.filters]
    return Routes(destinations, nexthops, reached, ambiguous=reached & ~origins)


@dataclass(frozen=True, slots=True)
class _Groups:
    """`number[u]` is the group of switch u, `edge[l]` the edge of link l. An edge goes from group `tail` to `head`;
    edges are sorted by tail. A group accepts paths with at most `allowed` times its ASN over an edge. `tracked` is the
    number of a group's tracked ASN (-1: not tracked); the planes of number i count up to `planes[i]` - 1
    occurrences."""

    count: int
    number: Indices
    edge: Indices
    tail: Indices
    head: Indices
    allowed: Indices
    tracked: Indices
    planes: Indices

    @classmethod
    def of(
        cls, network: Network, policy: BgpPolicy, announcing: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> "_Groups":
        _, asn, members = np.unique(policy.asn, return_inverse=True, return_counts=True)
        own = np.where(announcing, np.arange(network.switches), -1)
        keys, number = np.unique(np.stack([asn, own]), axis=1, return_inverse=True)
        number = number.ravel()
        pair = number[network.source].astype(np.int64) * len(keys[0]) + number[network.target]
        distinct, edge = np.unique(pair, return_inverse=True)
        allowed = np.zeros(len(distinct), np.int64)
        np.maximum.at(allowed, edge, policy.allowas_in)
        tail, head = np.divmod(distinct, len(keys[0]))
        shared = np.flatnonzero((members > 1) | (len(members) <= _FEW_ASNS))
        place = np.full(len(members), -1)
        place[shared] = np.arange(len(shared))
        tracked = place[keys[0]]
        planes = np.ones(len(shared), np.int64)
        checking = tracked[tail] >= 0
        np.maximum.at(planes, tracked[tail][checking], allowed[checking] + 1)
        return cls(len(keys[0]), number, edge, tail, head, allowed, tracked, planes)

    def search(self, origin: Words) -> tuple[Words, Words]:
        """(edges x words: possible next hops; groups x words: destinations to which a path is possible)."""
        starts = bits.segment_starts(self.tail.astype(np.int32))
        rows = self.tail[starts]
        first = np.concatenate(([0], np.cumsum(self.planes)))
        any_path = origin.copy()
        few = np.repeat(
            origin[None], int(first[-1]), axis=0
        )  # paths with at most k of an ASN, one plane after the other
        own = np.flatnonzero(self.tracked >= 0)
        base = first[self.tracked[own]]
        few[base, own] = 0  # every path that a switch advertises has its own ASN
        mine = np.flatnonzero(self.tracked[self.tail] >= 0)
        layer = first[self.tracked[self.tail[mine]]] + self.allowed[mine]
        while True:
            usable = any_path[self.head]
            usable[mine] &= few[layer, self.head[mine]]
            changed = self._grow(any_path, usable, rows, starts)
            for index, planes in enumerate(self.planes.tolist()):
                inside = (self.tracked[self.tail] == index)[:, None]
                below = np.zeros_like(usable)
                for plane in range(int(first[index]), int(first[index]) + planes):
                    here = few[plane]
                    passed = usable & here[self.head]
                    changed |= self._grow(here, np.where(inside, usable & below, passed), rows, starts)
                    below = here[self.head]
            if not changed:
                return usable, any_path

    @staticmethod
    def _grow(into: Words, passing: Words, rows: Indices, starts: Indices) -> bool:
        if not len(starts):
            return False
        before = into[rows]
        after = before | np.bitwise_or.reduceat(passing, starts)
        into[rows] = after
        return bool((after != before).any())
