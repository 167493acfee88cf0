"""The loads of ports: each port, the ports of each switch, and those of each tier, by the tier that they lead to."""

from collections.abc import Iterator

import numpy as np

from fabricgen.results import SwitchLoad, TierLoad
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Floats, Ints
from fabricgen.vocabulary import Role

_DIGITS = 4
_TIERS = (Role.LEAF, Role.SPINE, Role.CORE, Role.HOST, "")
_NUMBER = {tier: index for index, tier in enumerate(_TIERS)}


Row = tuple[int, int, int, float, float]  # switch or tier, tier that the ports lead to, ports, mean and highest load


def loads_of(
    plane: HostNetwork, load: Floats, *, each: bool
) -> tuple[tuple[SwitchLoad, ...], tuple[TierLoad, ...], tuple[tuple[str, str, float], ...]]:
    """The rows of the switches and of the tiers, in their order; with `each` also (node, port, load) of every port with
    load, those by which hosts send included. `load` is that of every port of the plane over its capacity; it may end
    with the links between switches."""
    network = plane.network
    tier = np.array(
        [_NUMBER.get(plane.tier.get(index, ""), len(_TIERS) - 1) for index in range(network.switches)], dtype=np.int64
    )
    switch, toward = network.source.astype(np.int64), tier[network.target]
    of_ports = load[: network.links]
    if len(load) > network.links:  # the ports of leaves towards hosts follow those by which hosts send
        first = network.links + len(plane.adapters)
        switch = np.concatenate([switch, plane.leaf])
        toward = np.concatenate([toward, np.full(len(plane.leaf), _NUMBER[Role.HOST])])
        of_ports = np.concatenate([of_ports, load[first : first + len(plane.adapters)]])
    switches = tuple(
        SwitchLoad(plane.names[near], str(_TIERS[far]), ports, mean, most)
        for near, far, ports, mean, most in _rows(switch, toward, of_ports)
    )
    tiers = tuple(
        TierLoad(str(_TIERS[near]), str(_TIERS[far]), ports, mean, most)
        for near, far, ports, mean, most in _rows(tier[switch], toward, of_ports)
    )
    return switches, tiers, tuple(_each(plane, load)) if each else ()


def _rows(near: Ints, toward: Ints, load: Floats) -> Iterator[Row]:
    group = near * len(_TIERS) + toward
    count, total = np.bincount(group), np.bincount(group, weights=load)
    most = np.zeros(len(count))
    np.maximum.at(most, group, load)
    for one in np.flatnonzero(count).tolist():
        ports = int(count[one])
        mean, highest = round(float(total[one]) / ports, _DIGITS), round(float(most[one]), _DIGITS)
        yield *divmod(one, len(_TIERS)), ports, mean, highest


def _each(plane: HostNetwork, load: Floats) -> Iterator[tuple[str, str, float]]:
    for port in np.flatnonzero(load > 0).tolist():
        yield *plane.ports.name_of(port), round(float(load[port]), _DIGITS)
