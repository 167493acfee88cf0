"""The loads of ports: each port, the ports of each switch, and those of each tier, by the tier that they lead to."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabricgen.results import SwitchLoad, TierLoad
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import Floats, Ints
from fabricgen.vocabulary import Role

_DIGITS = 4
_TIERS = (Role.LEAF, Role.SPINE, Role.CORE, Role.HOST, "")
_NUMBER = {tier: index for index, tier in enumerate(_TIERS)}


@dataclass(frozen=True)
class _Sums:
    """Of each group of ports: its number (switch or tier, times the tiers, plus the tier that the ports lead to), the
    ports, their mean and highest load."""

    group: list[int]
    ports: list[int]
    mean: list[float]
    most: list[float]


def loads_of(
    plane: HostNetwork, load: Floats, *, each: bool
) -> tuple[tuple[SwitchLoad, ...], tuple[TierLoad, ...], tuple[tuple[str, str, float], ...]]:
    """The rows of the switches and of the tiers, in their order; with `each` also (node, port, load) of every port with
    load, those by which hosts send included. `load` is that of every port of the plane over its capacity; it may end
    with the links between switches."""
    network = plane.network
    tier = np.array([_NUMBER.get(plane.tier.get(index, ""), len(_TIERS) - 1) for index in range(network.switches)])
    switch, toward, of_ports = network.source, tier[network.target], load[: network.links]
    if len(load) > network.links:  # the ports of leaves towards hosts follow those by which hosts send
        first = network.links + len(plane.adapters)
        switch = np.concatenate([switch, plane.leaf])
        toward = np.concatenate([toward, np.full(len(plane.leaf), _NUMBER[Role.HOST])])
        of_ports = np.concatenate([of_ports, load[first : first + len(plane.adapters)]])
    switches = tuple(
        SwitchLoad(plane.names[one], str(_TIERS[far]), *rest)
        for one, far, *rest in _rows(_sums(switch, toward, of_ports))
    )
    tiers = tuple(
        TierLoad(str(_TIERS[one]), str(_TIERS[far]), *rest)
        for one, far, *rest in _rows(_sums(tier[switch], toward, of_ports))
    )
    return switches, tiers, tuple(_each(plane, load)) if each else ()


def _sums(near: Ints, toward: Ints, load: Floats) -> _Sums:
    group = near * len(_TIERS) + toward
    count, total = np.bincount(group), np.bincount(group, weights=load)
    most = np.zeros(len(count))
    np.maximum.at(most, group, load)
    used = np.flatnonzero(count)
    return _Sums(used.tolist(), count[used].tolist(), (total[used] / count[used]).tolist(), most[used].tolist())


def _rows(sums: _Sums) -> Iterator[tuple[int, int, int, float, float]]:
    for group, ports, mean, most in zip(sums.group, sums.ports, sums.mean, sums.most, strict=True):
        yield *divmod(group, len(_TIERS)), ports, round(mean, _DIGITS), round(most, _DIGITS)


def _each(plane: HostNetwork, load: Floats) -> Iterator[tuple[str, str, float]]:
    for port in np.flatnonzero(load > 0).tolist():
        yield *plane.ports.name_of(port), round(float(load[port]), _DIGITS)
