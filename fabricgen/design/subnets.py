"""The subnets of an InfiniBand plane: switches that links join. Subplanes are apart, and rails that nothing joins."""

from collections import Counter
from typing import NamedTuple

from fabricgen.design.model import PlaneDesign, Switch


class SubnetSize(NamedTuple):
    """Endpoints (host ports), each with 2^lmc LIDs, and switches with one."""

    endpoints: int
    switches: int
    lmc: int

    @property
    def lids(self) -> int:
        """Local identifiers that the subnet takes."""
        return (self.endpoints << self.lmc) + self.switches


def subnet_sizes(design: PlaneDesign) -> list[SubnetSize]:
    """The size of each subnet, that with the most LIDs first."""
    above = {switch.key: switch.key for switch in design.switches}

    def root(key: str) -> str:
        while above[key] != key:
            above[key] = key = above[above[key]]
        return key

    endpoints: Counter[str] = Counter()
    for link in design.links:
        if isinstance(link.a, Switch):
            above[root(link.a.key)] = root(link.b.key)
        else:
            endpoints[link.b.key] += 1
    switches = Counter(root(key) for key in above)
    hosts: Counter[str] = Counter()
    for key, count in endpoints.items():
        hosts[root(key)] += count
    lmc = design.plane.infiniband.lmc
    sizes = [SubnetSize(hosts[key], count, lmc) for key, count in switches.items()]
    return sorted(sizes, key=lambda size: size.lids, reverse=True)
