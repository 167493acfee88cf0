"""The least switches that a Clos design allows, by trying every layout: separate arithmetic, after docs/designs.md.

Every leaf has as much bandwidth above as below, all switches have one radix, and hosts and uplinks one speed. Tried are
every unit, `rails_per_leaf` or `leaves_per_unit`, `subplanes`, two and three tiers, every pod, and every `count` of
spines.
"""

from collections.abc import Iterator
from functools import cache

DESIGNS = ("rail-optimized", "rail-only", "fat-tree", "dual-tor")


def least_switches(design: str, hosts: int, radix: int, rails: int = 8) -> int:
    """The fewest switches for hosts with a NIC on each rail; of two ports each in a dual-tor."""
    counts = [
        found * copies
        for columns, width, copies, by_column in _leaves_of_a_unit(design, rails)
        for unit in range(1, radix // width + 1)
        if (found := _subplane(design == "rail-only", columns, width, by_column, unit, -(-hosts // unit), radix))
    ]
    return min(counts)


def _leaves_of_a_unit(design: str, rails: int) -> Iterator[tuple[int, int, int, bool]]:
    """(leaves, ports of a host on each, subplanes, whether a pod is the leaves of one column)."""
    for group in (part for part in range(1, rails + 1) if rails % part == 0):
        if design == "dual-tor":
            yield rails // group, group, 2, True
            yield rails // group * 2, group, 1, False
        else:
            yield rails // group, group, 1, design != "fat-tree"


@cache
def _subplane(separate: bool, columns: int, width: int, by_column: bool, unit: int, units: int, radix: int) -> int:
    """The fewest switches of a subplane; 0 if it cannot be built."""
    down = unit * width
    if separate and units == 1:
        return columns  # no spines
    if 2 * down > radix:
        return 0
    leaves = columns * units
    found = []
    joined = units if separate else leaves
    if joined <= radix:
        found += [leaves + spines * (columns if separate else 1) for spines in _counts(down, joined, radix)[:1]]
    if not separate:
        found += _three_tiers(columns, by_column, down, units, radix)
    return min(found, default=0)


def _three_tiers(columns: int, by_column: bool, uplinks: int, units: int, radix: int) -> Iterator[int]:
    half = radix // 2
    for pod in range(1, units + 1):
        below = pod * (1 if by_column else columns)
        pods = -(-units // pod) * (columns if by_column else 1)
        if below > half or pods > radix:
            continue
        for spines in _counts(uplinks, below, half):
            above = below * uplinks // spines
            for cores in _counts(above, pods, radix)[:1]:
                yield columns * units + pods * spines + spines * cores


@cache
def _counts(uplinks: int, below: int, radix: int) -> tuple[int, ...]:
    """The numbers of switches that `below` switches can spread their uplinks over evenly."""
    return tuple(part for part in _divisors(uplinks) if part * radix >= below * uplinks)


@cache
def _divisors(number: int) -> tuple[int, ...]:
    return tuple(part for part in range(1, number + 1) if number % part == 0)
