"""Destinations and the next hops to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from fabricgen.routing import bits
from fabricgen.routing.bits import Words
from fabricgen.routing.network import Network


@dataclass(frozen=True, slots=True)
class Destination:
    """Prefixes with the same next hops everywhere, because the same switches announce them in the same way."""

    prefixes: tuple[str, ...]
    origins: tuple[int, ...]
    family: int  # 4 | 6
    loopback: bool = False  # a switch under TSA still announces it
    barred: frozenset[int] = frozenset()  # the numbers of the filters that deny it


@dataclass(frozen=True, slots=True)
class Routes:
    """Next-hop sets as bits, one per destination, in words of 64.

    `nexthops[l]` (links x words): link l is a next hop of its source towards these destinations. `reached[u]`
    (switches x words): u has a route. `ambiguous[u]`: the route of u depends on history (which of several equal paths
    came first); `nexthops` is then the union of all possibilities, so an absence of cycles holds for each of them.
    `plain`: no loop check refused a path, so every path is a shortest path of the wiring.
    """

    destinations: tuple[Destination, ...]
    nexthops: Words
    reached: Words
    ambiguous: Words
    plain: bool = False

    @property
    def ambiguous_sets(self) -> int:
        """The number of (switch, destination) pairs with more than one possible next-hop set."""
        return bits.count(self.ambiguous)

    def by_switch(self, network: Network, names: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        """{switch: {prefix: [next-hop switches]}}; without the prefixes that a switch cannot reach or announces."""
        table: dict[str, dict[str, set[str]]] = {name: {} for name in names}
        for link in range(network.links):
            near, far = names[network.source[link]], names[network.target[link]]
            for column in bits.columns_of(self.nexthops[link]):
                for prefix in self.destinations[column].prefixes:
                    table[near].setdefault(prefix, set()).add(far)
        return {name: {prefix: sorted(row[prefix]) for prefix in sorted(row)} for name, row in table.items()}
