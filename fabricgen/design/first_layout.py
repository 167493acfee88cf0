"""The first layout of a design for a number of hosts, as `init` writes it, with room to grow if the design can grow."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil

from fabricgen.errors import FabricgenError

NICS = 8  # of a host, or pairs of ports
SMALL_UNIT_HOSTS = 16
MOST_GROUPS = 64

CLOS_CABLES = {"host-leaf": "5m", "leaf-spine": "{length: 40m, medium: smf}"}
_CORE_CABLE = {"spine-core": "{length: 150m, medium: smf}"}
GLOBAL_CABLE = {"global": "{length: 100m, medium: smf}"}


class NoLayoutError(FabricgenError):
    """The design has no layout for this number of hosts and ports; the message has the reason."""


@dataclass(frozen=True)
class FirstLayout:
    """Keys of a plane as text. `keys` are only of this design; `planned` is None if all units are built at once."""

    tiers: tuple[str, ...]
    cables: Mapping[str, str]
    unit_hosts: int
    units: int = 1
    planned: int | None = None
    keys: Mapping[str, str] = field(default_factory=dict)


def planned_units(units: int, least: int = 4) -> int:
    """Room to grow: the next power of two of units."""
    return max(least, 1 << (units - 1).bit_length())


def unit_of_rails(hosts: int, radix: int) -> int:
    """Hosts of a scalable unit whose leaves each serve one rail."""
    return SMALL_UNIT_HOSTS if hosts <= 4 * SMALL_UNIT_HOSTS else radix // 2


def rails_layout(hosts: int, radix: int) -> FirstLayout:
    """A Clos with one leaf to a rail, and cores where the spines cannot join all leaves."""
    unit = unit_of_rails(hosts, radix)
    units = ceil(hosts / unit)
    planned = planned_units(units)
    return clos_layout(unit, units, planned, core=planned * NICS > radix)


def clos_layout(unit: int, units: int, planned: int, *, core: bool) -> FirstLayout:
    """The keys of a Clos of two or three tiers."""
    tiers = ("leaf", "spine", "core") if core else ("leaf", "spine")
    return FirstLayout(tiers, {**CLOS_CABLES, **(_CORE_CABLE if core else {})}, unit, units, planned)
