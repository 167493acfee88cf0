"""The loads of the ports of each switch, by the tier that they lead to."""

from collections.abc import Iterator

import numpy as np

from fabricgen.results import SwitchLoad
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Floats
from fabricgen.vocabulary import Role

_DIGITS = 4


def switch_loads(plane: HostNetwork, load: Floats) -> tuple[SwitchLoad, ...]:
    """One row for each switch and tier, in the order of the switches. `load` is that of every port of the plane over
    its capacity; it may end with the links between switches."""
    return tuple(_rows(plane, load))


def _rows(plane: HostNetwork, load: Floats) -> Iterator[SwitchLoad]:
    network = plane.network
    tiers = [Role.LEAF, Role.SPINE, Role.CORE, Role.HOST, ""]
    number = {tier: index for index, tier in enumerate(tiers)}
    tier_of = np.array([number.get(plane.tier.get(index, ""), len(tiers) - 1) for index in range(network.switches)])
    switch, toward, of_ports = network.source, tier_of[network.target], load[: network.links]
    if len(load) > network.links:  # the ports of leaves towards hosts follow those by which hosts send
        first = network.links + len(plane.adapters)
        switch = np.concatenate([switch, plane.leaf])
        toward = np.concatenate([toward, np.full(len(plane.leaf), number[Role.HOST])])
        of_ports = np.concatenate([of_ports, load[first : first + len(plane.adapters)]])
    group = switch * len(tiers) + toward
    size = network.switches * len(tiers)
    count, total = np.bincount(group, minlength=size), np.bincount(group, weights=of_ports, minlength=size)
    most = np.zeros(size)
    np.maximum.at(most, group, of_ports)
    for one in np.flatnonzero(count).tolist():
        mean, ports = float(total[one] / count[one]), int(count[one])
        name, tier = plane.names[one // len(tiers)], str(tiers[one % len(tiers)])
        yield SwitchLoad(name, tier, ports, round(mean, _DIGITS), round(float(most[one]), _DIGITS))
