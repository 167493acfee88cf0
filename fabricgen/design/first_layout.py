"""A first layout of a design for so many hosts: what `init` writes. Room to grow where the design can grow."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import ceil, prod

NICS = 8  # of a host, or pairs of ports
SMALL_UNIT_HOSTS = 16
MOST_GROUPS = 64
MOST_TORUS_SIZE = 16

_CLOS_CABLES = {"host-leaf": "5m", "leaf-spine": "{length: 40m, medium: smf}"}
_CORE_CABLE = {"spine-core": "{length: 150m, medium: smf}"}
_GROUP_CABLES = {"host-leaf": "5m", "peer": "10m", "global": "{length: 100m, medium: smf}"}


class NoLayoutError(Exception):
    """The design has no layout for so many hosts on such a switch; the message says why."""


@dataclass(frozen=True)
class FirstLayout:
    """Keys of a plane as text. `keys` are those of the design alone; `planned` is None where all is built at once."""

    tiers: tuple[str, ...]
    cables: Mapping[str, str]
    unit_hosts: int
    units: int = 1
    planned: int | None = None
    keys: Mapping[str, str] = field(default_factory=dict)


def first_layout(design: str, hosts: int, radix: int) -> FirstLayout:
    """The layout of a design for hosts with eight NICs (in a dual-ToR: of two ports). Raises NoLayoutError."""
    return _LAYOUTS[design](hosts, radix)


def _planned(units: int, least: int = 4) -> int:
    """Room to grow: the next power of two of units."""
    return max(least, 1 << (units - 1).bit_length())


def _by_rail(hosts: int, radix: int) -> FirstLayout:
    unit = SMALL_UNIT_HOSTS if hosts <= 4 * SMALL_UNIT_HOSTS else radix // 2
    units = ceil(hosts / unit)
    planned = _planned(units)
    return _clos(unit, units, planned, core=planned * NICS > radix)


def _rail_only(hosts: int, radix: int) -> FirstLayout:
    unit = SMALL_UNIT_HOSTS if hosts <= 4 * SMALL_UNIT_HOSTS else radix // 2
    units = ceil(hosts / unit)
    if units > radix:
        raise NoLayoutError(f"{units} units of {unit} hosts are more than the {radix} ports of a rail's spine")
    return _clos(unit, units, min(radix, _planned(units)), core=False)


def _fat_tree(hosts: int, radix: int) -> FirstLayout:
    unit = radix // 2 // NICS
    if not unit:
        raise NoLayoutError(f"half of {radix} ports are too few for the {NICS} NICs of a host")
    units = ceil(hosts / unit)
    planned = _planned(units)
    return _clos(unit, units, planned, core=planned > radix)


def _clos(unit: int, units: int, planned: int, *, core: bool) -> FirstLayout:
    tiers = ("leaf", "spine", "core") if core else ("leaf", "spine")
    return FirstLayout(tiers, {**_CLOS_CABLES, **(_CORE_CABLE if core else {})}, unit, units, planned)


def _dragonfly(hosts: int, radix: int) -> FirstLayout:
    """A host on each switch; the smallest group of which there are not too many."""
    for switches in (4, 8, 16, 32):
        planned = _planned(ceil(hosts / switches))
        links = ceil((planned - 1) / switches)
        if planned <= MOST_GROUPS and NICS + switches - 1 + links <= radix:
            keys = {"dragonfly": f"{{switches: {switches}, global_links: {links}}}"}
            return FirstLayout(("leaf",), _GROUP_CABLES, switches, ceil(hosts / switches), planned, keys)
    raise NoLayoutError(f"no dragonfly of up to {MOST_GROUPS} groups holds {hosts} hosts on switches of {radix} ports")


def _dragonfly_plus(hosts: int, radix: int) -> FirstLayout:
    """A host on each leaf, as many spines as leaves, and from every spine a link to every group: where spines differ in
    the groups they reach, so do the paths of BGP by the order of events."""
    for leaves in (4, 8, 16, 32):
        units = ceil(hosts / leaves)
        planned = _planned(units)
        links = planned - 1
        if planned <= MOST_GROUPS and NICS + leaves <= radix and leaves + links <= radix:
            keys = {"dragonfly": f"{{leaves: {leaves}, spines: {leaves}, global_links: {links}}}"}
            cables = {**_CLOS_CABLES, "global": "{length: 100m, medium: smf}"}
            return FirstLayout(("leaf", "spine"), cables, leaves, units, planned, keys)
    raise NoLayoutError(f"no dragonfly+ of up to {MOST_GROUPS} groups holds {hosts} hosts on switches of {radix} ports")


def _torus(hosts: int, radix: int) -> FirstLayout:
    return _grid(hosts, radix, 3)


def _mesh(hosts: int, radix: int) -> FirstLayout:
    return _grid(hosts, radix, 2)


def _grid(hosts: int, radix: int, dimensions: int) -> FirstLayout:
    """Two hosts on a switch, the grid as near to a cube as holds them all, sides of three at least."""
    unit = 2
    links = (radix - unit * NICS) // (2 * dimensions)
    if links < 1:
        raise NoLayoutError(f"{radix} ports are too few for {unit} hosts and {2 * dimensions} neighbours")
    size = [3] * dimensions
    for axis in count():
        if unit * prod(size) >= hosts:
            break
        size[axis % dimensions] += 1
    if max(size) > MOST_TORUS_SIZE:
        raise NoLayoutError(f"{hosts} hosts need {' x '.join(map(str, size))} switches; try a Clos or a dragonfly")
    keys = {"torus": f"{{size: {size}, links: {min(links, 4)}}}"}
    return FirstLayout(("leaf",), {"host-leaf": "5m", "peer": "10m"}, unit, keys=keys)


_LAYOUTS: Mapping[str, Callable[[int, int], FirstLayout]] = {
    "rail-optimized": _by_rail,
    "rail-only": _rail_only,
    "fat-tree": _fat_tree,
    "dual-tor": _by_rail,
    "dragonfly": _dragonfly,
    "dragonfly-plus": _dragonfly_plus,
    "torus": _torus,
    "mesh": _mesh,
}
FIRST_DESIGNS = tuple(_LAYOUTS)
