"""The next hops among which the switches of a plane select, as those of a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

import numpy as np

from fabricgen.simulate.plane.host_network import NO_COLUMN, HostNetwork
from fabricgen.simulate.plane.ports import Flags, Flows, Ints
from fabricgen.simulate.scenario import Hops


@dataclass(frozen=True)
class Candidates:
    """The links that packets may cross, by destination: those to `column` in use."""

    plane: HostNetwork
    links: Mapping[int, Ints]
    ends: Ints  # adapters

    @property
    def ports(self) -> list[int]:
        """All ports that packets may leave by."""
        links = np.concatenate([np.zeros(0, np.int64), *self.links.values()])
        return np.unique(
            np.concatenate([links, self.plane.nic_port(self.ends), self.plane.host_port(self.ends)])
        ).tolist()

    def groups(self, number: Mapping[int, int]) -> dict[tuple[str, str], Hops]:
        """The next hops by switch and goal, with the weights of weighted ECMP in lowest terms; `number` is that of a
        port in the scenario."""
        found: dict[tuple[str, str], dict[int, int]] = {}
        weights = self.plane.weights
        for column, links in self.links.items():
            own = [1] * len(links) if weights is None else weights[links, column].tolist()
            sources = self.plane.network.source[links].tolist()
            for link, switch, weight in zip(links.tolist(), sources, own, strict=True):
                found.setdefault((self.plane.names[switch], str(column)), {})[number[link]] = weight
        return {at: _in_lowest_terms(hops) for at, hops in found.items()}

    def goals(self) -> dict[str, str]:
        """The goal of each adapter in use."""
        return {self.plane.adapters[end].name: str(self.plane.column[end]) for end in self.ends.tolist()}


def _in_lowest_terms(weights: Mapping[int, int]) -> Hops:
    common = gcd(*weights.values())
    return tuple((port, weight // common) for port, weight in weights.items())


def can_answer(plane: HostNetwork, source: Ints, target: Ints) -> Flags:
    """Whether packets of flows can be routed back to their sources."""
    return (plane.column[source] != NO_COLUMN) | (plane.leaf[source] == plane.leaf[target])


def candidates(plane: HostNetwork, flows: Flows) -> Candidates:
    """The next hops of some flows, in both directions."""
    begins = np.concatenate([plane.leaf[flows.source], plane.leaf[flows.target]])
    goals = np.concatenate([flows.target, flows.source])
    column, leaf = plane.column[goals], plane.leaf[goals]
    apart = begins != leaf
    pairs = np.unique(np.stack([column[apart], begins[apart]], axis=1), axis=0)
    links = {
        int(one): _links_to(plane, int(one), pairs[pairs[:, 0] == one, 1]) for one in np.unique(pairs[:, 0]).tolist()
    }
    return Candidates(plane, links, np.unique(goals))


def _links_to(plane: HostNetwork, column: int, begins: Ints) -> Ints:
    """The links that packets from some switches to a destination may cross."""
    network = plane.network
    usable = (plane.hops[:, column >> 6] >> np.uint64(column & 63)) & np.uint64(1) != 0
    reached = np.zeros(network.switches, bool)
    reached[begins] = True
    while True:
        chosen = usable & reached[network.source]
        before = int(reached.sum())
        reached[network.target[chosen]] = True
        if int(reached.sum()) == before:
            return np.flatnonzero(chosen)
