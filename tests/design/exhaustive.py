"""The least switches that a Clos design allows, by trying every layout: separate arithmetic, after docs/designs.md.

All switches have one radix, and hosts and uplinks one speed. Tried are every unit, `rails_per_leaf` or
`leaves_per_unit`, `subplanes`, two and three tiers, every pod, and every `count` of spines.
"""

from collections.abc import Iterator
from functools import cache

DESIGNS = ("rail-optimized", "rail-only", "fat-tree", "dual-tor")


def least_switches(
    design: str, hosts: int, radix: int, rails: int = 8, *, oversubscription: int = 1, two_ports: bool = False
) -> int:
    """The fewest switches for hosts with a NIC on each rail; of two ports each in a dual-tor, and with `two_ports`."""
    leaves = [*_leaves_of_a_unit(design, 2 * rails if two_ports and design == "fat-tree" else rails)]
    if two_ports and design in ("rail-optimized", "rail-only"):  # both ports on a leaf, or each on its own subplane
        leaves = [
            (columns, width * ports, copies, by_column)
            for columns, width, _, by_column in leaves
            for ports, copies in ((2, 1), (1, 2))
        ]
    counts = [
        found * copies
        for columns, width, copies, by_column in leaves
        for unit in range(1, radix // width + 1)
        if (
            found := _subplane(
                design == "rail-only", columns, by_column, unit * width, -(-unit * width // oversubscription),
                -(-hosts // unit), radix,
            )
        )
    ]  # fmt: skip
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
def _subplane(separate: bool, columns: int, by_column: bool, down: int, uplinks: int, units: int, radix: int) -> int:
    """The fewest switches of a subplane whose leaves have `down` host ports; 0 if it cannot be built."""
    if separate and units == 1:
        return columns  # no spines
    if down + uplinks > radix:
        return 0
    leaves = columns * units
    found = []
    joined = units if separate else leaves
    if joined <= radix:
        found += [leaves + spines * (columns if separate else 1) for spines in _spines(uplinks, joined, radix)[:1]]
    if not separate:
        found += _three_tiers(columns, by_column, uplinks, units, radix)
    return min(found, default=0)


def _three_tiers(columns: int, by_column: bool, uplinks: int, units: int, radix: int) -> Iterator[int]:
    half = radix // 2
    for pod in range(1, units + 1):
        below = pod * (1 if by_column else columns)
        pods = -(-units // pod) * (columns if by_column else 1)
        if below > half or pods > radix:
            continue
        for spines in _spines(uplinks, below, half):
            above = below * uplinks // spines
            for cores in _counts(above, pods, radix)[:1]:
                yield columns * units + pods * spines + spines * cores


def _spines(uplinks: int, below: int, radix: int) -> tuple[int, ...]:
    """As `_counts`, but two or more where leaves have two or more uplinks."""
    return tuple(count for count in _counts(uplinks, below, radix) if count > 1 or uplinks == 1)


@cache
def _counts(uplinks: int, below: int, radix: int) -> tuple[int, ...]:
    """The numbers of switches that `below` switches can spread their uplinks over evenly."""
    return tuple(part for part in _divisors(uplinks) if part * radix >= below * uplinks)


@cache
def _divisors(number: int) -> tuple[int, ...]:
    return tuple(part for part in range(1, number + 1) if number % part == 0)
