"""A slow twin of the bit-parallel solver: real AS paths, one destination at a time, some tie-breaking order."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Sets = dict[int, frozenset[int]]


@dataclass
class SmallFabric:
    """Switches 0..n-1 by ASN; undirected links; allowas-in and TSA per switch; every switch originates one prefix."""

    asn: Sequence[int]
    links: Sequence[tuple[int, int]]
    allowas_in: Sequence[int]
    isolated: frozenset[int] = frozenset()
    relax: Mapping[int, bool] = field(default_factory=dict)

    def settle(self, origin: int, seed: int, loopback: bool = False) -> Sets:
        """Next-hop switches of everyone towards `origin`, when ties fall as `seed` says."""
        random_rank = random.Random(seed)
        peers: dict[int, list[int]] = {switch: [] for switch in range(len(self.asn))}
        for a, b in self.links:
            peers[a].append(b)
            peers[b].append(a)
        rank = {(u, v): random_rank.random() for u in peers for v in peers}
        path: dict[int, tuple[int, ...]] = {origin: ()}
        chosen: dict[int, int] = {}
        for _ in range(6 * len(self.asn) + 8):
            new_path: dict[int, tuple[int, ...]] = {origin: ()}
            new_chosen: dict[int, int] = {}
            sets: Sets = {}
            for u in peers:
                heard = {} if u == origin else self._heard(u, origin, peers[u], path, loopback)
                if not heard:
                    continue
                length = min(map(len, heard.values()))
                equal = {v for v in heard if len(heard[v]) == length}
                best = chosen[u] if chosen.get(u) in equal else min(equal, key=lambda v, u=u: rank[u, v])
                if not self.relax.get(u, True):
                    equal = {v for v in equal if self.asn[v] == self.asn[best]}
                new_path[u], new_chosen[u], sets[u] = heard[best], best, frozenset(equal)
            if new_path == path and new_chosen == chosen:
                return sets
            path, chosen = new_path, new_chosen
        raise AssertionError("no stable state")

    def _heard(
        self, u: int, origin: int, peers: Sequence[int], path: Mapping[int, tuple[int, ...]], loopback: bool
    ) -> dict[int, tuple[int, ...]]:
        offers = {v: (self.asn[v], *path[v]) for v in peers if v in path and self._speaks(v, origin, loopback)}
        return {v: offer for v, offer in offers.items() if offer.count(self.asn[u]) <= self.allowas_in[u]}

    def _speaks(self, switch: int, origin: int, loopback: bool) -> bool:
        return switch not in self.isolated or (loopback and switch == origin)
