"""The first layout of a design: the keys of a plane that `init` writes for a number of hosts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricgen.errors import FabricgenError

NICS = 8  # of a host, or pairs of ports
MOST_GROUPS = 64

CLOS_CABLES = {"host-leaf": "5m", "leaf-spine": "{length: 40m, medium: smf}"}
CORE_CABLE = {"spine-core": "{length: 150m, medium: smf}"}
GLOBAL_CABLE = {"global": "{length: 100m, medium: smf}"}


class NoLayoutError(FabricgenError):
    """The design has no layout for this number of hosts and ports; the message has the reason."""


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What a plane connects, and the ports of its switches. Radixes count fabric ports that links may use."""

    hosts: int
    planned_hosts: int  # that the layout has ports for
    nics: int = NICS  # ports of a host's NICs on the plane
    rails: int = NICS  # that these ports are on; 0: no rails
    host_mbps: int
    uplink_mbps: int
    leaf_host_ports: int  # at the speed of hosts
    leaf_uplink_ports: int  # at the speed of uplinks; the same ports if the speeds are equal
    spine_ports: int
    core_ports: int | None  # None: the plane has no cores
    leaf_oversubscription: float = 1.0
    spine_oversubscription: float = 1.0


@dataclass(frozen=True)
class FirstLayout:
    """Keys of a plane as text. `keys` are only of this design; `planned` is None if all units are built at once.

    `counts` are the switches of a tier that the plane states, such as two spines where one has the ports. `switches`
    are those of the units in use; 0: they are not counted.
    """

    tiers: tuple[str, ...]
    cables: Mapping[str, str]
    unit_hosts: int
    units: int = 1
    planned: int | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    switches: int = 0

    @property
    def room_hosts(self) -> int:
        """The hosts that the layout has ports for."""
        return self.unit_hosts * (self.planned or self.units)


def planned_units(units: int, least: int = 4) -> int:
    """Room to grow: the next power of two of units."""
    return max(least, 1 << (units - 1).bit_length())
